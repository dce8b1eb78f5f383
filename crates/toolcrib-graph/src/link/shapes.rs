//! What loops, indexes, patterns and library calls give.

use super::eval::{Cx, Eval};
use super::index::GSym;
use super::library::{Library, Seen, Shapes};
use super::value::Ty;
use crate::facts::{Term, TermId};
use crate::lang::RULES;
use crate::model::{NodeId, NodeKind};

impl<'l> Eval<'l> {
    pub(crate) fn library(&self, file: u32) -> Option<&'static dyn Library> {
        self.index().language[file as usize].map(|language| RULES[language].library())
    }

    pub(crate) fn shapes(&self, file: u32) -> Shapes<'l> {
        let language = self.index().language[file as usize].unwrap_or(0);
        Shapes {
            names: &self.index().names,
            module: self.index().words.prelude[language],
        }
    }

    /// Asks the library about each library value; others are unknown.
    pub(super) fn through(
        &mut self,
        file: u32,
        ty: &Ty,
        ask: impl Fn(&'static dyn Library, Seen<'_>) -> Ty,
    ) -> Ty {
        let Some(library) = self.library(file) else {
            return Ty::Unknown;
        };
        let index = self.index();
        let language = index.language[file as usize].unwrap_or(0);
        ty.map(|ty| match ty {
            Ty::Ext {
                module,
                name,
                args,
                inst: true,
            } => ask(
                library,
                Seen {
                    head: index.names.text(*name),
                    args,
                    whole: ty,
                    is_standard: *module == index.words.prelude[language],
                },
            ),
            _ => Ty::Unknown,
        })
    }

    /// The same, looking into wrappers when the wrapper itself has no answer.
    pub(super) fn through_wrappers(
        &mut self,
        file: u32,
        ty: &Ty,
        ask: impl Fn(&'static dyn Library, Seen<'_>) -> Ty,
    ) -> Ty {
        let mut ty = ty.clone();
        for _ in 0..4 {
            let answer = self.through(file, &ty, &ask);
            if answer.is_known() {
                return answer;
            }
            let inner = self.through(file, &ty, |library, seen| {
                library.target(seen).unwrap_or(Ty::Unknown)
            });
            if !inner.is_known() {
                return Ty::Unknown;
            }
            ty = inner;
        }
        Ty::Unknown
    }

    pub(super) fn library_call(&mut self, cx: Cx, base: &Ty, name: GSym, given: &[Ty]) -> Ty {
        let index = self.index();
        let text = index.names.text(name).clone();
        let shapes = self.shapes(cx.file);
        match base {
            Ty::Ext { inst: true, .. } => self.through_wrappers(cx.file, base, |library, seen| {
                let own = Shapes {
                    names: shapes.names,
                    module: match seen.whole {
                        Ty::Ext { module, .. } if !seen.is_standard => *module,
                        _ => shapes.module,
                    },
                };
                library.method(&own, seen, &text, given)
            }),
            Ty::Ext {
                module,
                name: owner,
                inst: false,
                ..
            } => self.library_function(cx, base, *module, *owner, name, given),
            // Methods that the library gives to every value.
            own => match &*text {
                // What every enum has without declaring it.
                "valueOf" | "values" => match own {
                    Ty::Def(node, args) | Ty::Inst(node, args)
                        if index.def(*node).kind == NodeKind::Enum =>
                    {
                        let value = Ty::Inst(*node, args.clone());
                        match &*text {
                            "values" => shapes.value("[]", vec![value]),
                            _ => value,
                        }
                    }
                    _ => Ty::Unknown,
                },
                "clone" | "to_owned" | "borrow" | "borrow_mut" | "as_ref" | "as_mut" | "max"
                | "min" | "clamp" => own.clone(),
                "default" | "from" => own.clone(),
                "to_string" => shapes.value("String", Vec::new()),
                _ => Ty::Unknown,
            },
        }
    }

    pub(super) fn library_function(
        &mut self,
        cx: Cx,
        callee: &Ty,
        module: GSym,
        owner: GSym,
        name: GSym,
        given: &[Ty],
    ) -> Ty {
        let Some(library) = self.library(cx.file) else {
            return Ty::Unknown;
        };
        let Ty::Ext { args, .. } = callee else {
            return Ty::Unknown;
        };
        let index = self.index();
        let language = index.language[cx.file as usize].unwrap_or(0);
        let shapes = Shapes {
            names: &index.names,
            module,
        };
        let seen = Seen {
            head: index.names.text(if owner == index.words.empty {
                name
            } else {
                owner
            }),
            args,
            whole: callee,
            is_standard: self.is_standard(language, module),
        };
        library.call(
            &shapes,
            seen,
            index.names.text(owner),
            index.names.text(name),
            given,
        )
    }

    pub(super) fn is_standard(&self, language: usize, module: GSym) -> bool {
        let index = self.index();
        module == index.words.prelude[language]
            || matches!(&**index.names.text(module), "core" | "alloc")
    }

    /// What a defined type is underneath; unknown for others.
    pub(super) fn underlying(&mut self, ty: &Ty) -> Ty {
        let Ty::Inst(node, args) = ty else {
            return Ty::Unknown;
        };
        let (file, ix) = self.index().place_of(*node);
        let def = self.facts(file).def(ix);
        if def.kind != NodeKind::Class || !def.ty.is_known() {
            return Ty::Unknown;
        }
        let cx = Cx { file, scope: ix };
        let under = self.eval(cx, def.ty);
        let under = self.instance(cx, &under);
        self.substitute_params(&under, file, def.params, args)
    }

    /// What a loop takes.
    pub(crate) fn element(&mut self, cx: Cx, ty: &Ty) -> Ty {
        self.guarded(Ty::Unknown, |eval| eval.element_inner(cx, ty))
    }

    pub(super) fn element_inner(&mut self, cx: Cx, ty: &Ty) -> Ty {
        let value = self.value(ty);
        let parts: Vec<Ty> = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            let element = match &part {
                Ty::Tuple(elements) => Ty::any(elements.to_vec()),
                Ty::Ext { .. } => {
                    let shapes = self.shapes(cx.file);
                    self.through_wrappers(cx.file, &part, |library, seen| {
                        library.element(&shapes, seen)
                    })
                }
                Ty::Inst(..) => match self.underlying(&part) {
                    Ty::Unknown => self.own_element(cx, &part),
                    under => self.element(cx, &under),
                },
                _ => Ty::Unknown,
            };
            all.push(element);
        }
        Ty::any(all)
    }

    pub(super) fn own_element(&mut self, cx: Cx, ty: &Ty) -> Ty {
        let words = &self.index().words;
        for name in [words.iter, words.iter_async] {
            if let Ty::Bound(node, receiver) = self.member(cx, ty, name) {
                let iterator = self.result_of(node, &receiver);
                if iterator == *ty || matches!(iterator, Ty::Inst(..)) {
                    let next = self.index().words.next;
                    if let Ty::Bound(node, receiver) = self.member(cx, &iterator, next) {
                        return self.result_of(node, &receiver);
                    }
                    return Ty::Unknown;
                }
                return self.element(cx, &iterator);
            }
        }
        // An iterator of the project names what it yields.
        let item = self.index().words.item;
        let found = self.member(cx, ty, item);
        match found {
            Ty::Def(..) => self.instance(cx, &found),
            _ => Ty::Unknown,
        }
    }

    pub(super) fn indexed(&mut self, cx: Cx, ty: &Ty) -> Ty {
        let value = self.value(ty);
        let parts: Vec<Ty> = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            let element = match &part {
                Ty::Tuple(elements) => Ty::any(elements.to_vec()),
                Ty::Ext { .. } => {
                    let shapes = self.shapes(cx.file);
                    self.through_wrappers(cx.file, &part, |library, seen| {
                        library.indexed(&shapes, seen)
                    })
                }
                Ty::Inst(..) => {
                    let under = self.underlying(&part);
                    if under.is_known() {
                        all.push(self.guarded(Ty::Unknown, |eval| eval.indexed(cx, &under)));
                        continue;
                    }
                    let name = self.index().words.get_item;
                    match self.member(cx, &part, name) {
                        Ty::Bound(node, receiver) => self.result_of(node, &receiver),
                        _ => Ty::Unknown,
                    }
                }
                _ => Ty::Unknown,
            };
            all.push(element);
        }
        Ty::any(all)
    }

    pub(super) fn entered(&mut self, cx: Cx, ty: &Ty) -> Ty {
        let value = self.value(ty);
        let parts: Vec<Ty> = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            let entered = match &part {
                Ty::Ext { name, args, .. } if *name == self.index().words.context => {
                    args.first().cloned().unwrap_or(Ty::Unknown)
                }
                Ty::Ext { .. } => part.clone(),
                Ty::Inst(..) => {
                    let words = &self.index().words;
                    let mut result = Ty::Unknown;
                    for name in [words.enter, words.enter_async] {
                        if let Ty::Bound(node, receiver) = self.member(cx, &part, name) {
                            result = self.result_of(node, &receiver);
                            break;
                        }
                    }
                    result
                }
                _ => Ty::Unknown,
            };
            all.push(entered);
        }
        Ty::any(all)
    }

    pub(super) fn part(&mut self, cx: Cx, ty: &Ty, place: u8) -> Ty {
        let value = self.value(ty);
        let parts: Vec<Ty> = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            let taken = match &part {
                Ty::Tuple(elements) => elements.get(place as usize).cloned().unwrap_or(Ty::Unknown),
                Ty::Ext { args, .. } => {
                    let is_tuple = args.len() > usize::from(place) && args.len() > 1;
                    let name = match &part {
                        Ty::Ext { name, .. } => self.index().names.text(*name).clone(),
                        _ => continue,
                    };
                    if is_tuple && matches!(&*name, "tuple" | "Tuple") {
                        args[usize::from(place)].clone()
                    } else {
                        let shapes = self.shapes(cx.file);
                        self.through(cx.file, &part, |library, seen| {
                            library.indexed(&shapes, seen)
                        })
                    }
                }
                Ty::Inst(node, _) => self.tuple_place(*node, &part, place),
                _ => Ty::Unknown,
            };
            all.push(taken);
        }
        Ty::any(all)
    }

    /// A positional field of a struct or variant.
    pub(super) fn tuple_place(&mut self, node: NodeId, receiver: &Ty, place: u8) -> Ty {
        let (file, ix) = self.index().place_of(node);
        let facts = self.facts(file);
        let def = facts.def(ix);
        let Term::Tuple(list) = facts.terms[def.ty.0 as usize] else {
            return Ty::Unknown;
        };
        let Some(term) = facts.list(list).get(usize::from(place)).copied() else {
            return Ty::Unknown;
        };
        let cx = Cx { file, scope: ix };
        let ty = self.eval(cx, term);
        let ty = self.instance(cx, &ty);
        let owner = if def.kind == NodeKind::EnumMember {
            facts.def(def.parent).params
        } else {
            def.params
        };
        match receiver {
            Ty::Inst(_, args) => self.substitute_params(&ty, file, owner, args),
            _ => ty,
        }
    }

    pub(super) fn unpacked(&mut self, cx: Cx, constructor: TermId, value: TermId, place: u8) -> Ty {
        let constructor = self.eval(cx, constructor);
        match &constructor {
            Ty::Def(node, _) => {
                let via = self.via;
                let value = self.eval(cx, value);
                let value = self.value(&value);
                self.via = via;
                let receiver = value
                    .each()
                    .iter()
                    .find(|ty| matches!(ty, Ty::Inst(..)))
                    .cloned()
                    .unwrap_or(Ty::Unknown);
                self.tuple_place(*node, &receiver, place)
            }
            Ty::Ext { name, .. } => {
                let name = self.index().names.text(*name).clone();
                let value = self.eval(cx, value);
                let value = self.value(&value);
                self.through_wrappers(cx.file, &value, |library, seen| {
                    library.unpacked(&name, seen)
                })
            }
            _ => Ty::Unknown,
        }
    }
}
