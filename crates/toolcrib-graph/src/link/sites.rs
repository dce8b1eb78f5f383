//! The one state of each call site.

use super::eval::{Cx, Eval, is_type};
use super::index::GSym;
use super::lookup::Via;
use super::value::Ty;
use crate::facts::{Call, Flags, Term};
use crate::model::{NodeId, NodeKind, Origin, SiteState};

/// What a callee may be.
#[derive(Default)]
pub(super) struct Targets {
    pub(super) nodes: Vec<(NodeId, bool)>,
    pub(super) outside: Vec<GSym>,
    /// Variables and constants that hold nothing known to be a function.
    held: Vec<NodeId>,
}

impl Eval<'_> {
    /// Decides a call site; sources that declare nothing leave it unresolved. `None`
    /// where an implied call turns out to be none.
    pub(crate) fn site_state(&mut self, file: u32, call: &Call) -> Option<SiteState> {
        self.begin();
        let cx = Cx {
            file,
            scope: call.scope,
        };
        if call.is_implied {
            return self.implied_state(cx, call);
        }
        Some(self.written_state(cx, call))
    }

    fn written_state(&mut self, cx: Cx, call: &Call) -> SiteState {
        let file = cx.file;
        if call.is_macro {
            return self.macro_state(cx, call);
        }
        if self.index().textual(file) {
            return self.included_state(cx, call);
        }
        let ty = self.eval(cx, call.callee);
        let mut targets = Targets::default();
        self.collect(cx, &ty, &mut targets, 0);
        if targets.nodes.is_empty() && targets.outside.is_empty() {
            self.variables(&mut targets);
            return self.decide(targets);
        }
        if let Some(given) = call.given {
            // What takes another number of arguments is no target, and a
            // constructor stands before its type.
            targets
                .nodes
                .retain(|(node, _)| self.fits(*node, usize::from(given)));
            let index = self.index();
            let owners: Vec<NodeId> = targets
                .nodes
                .iter()
                .filter(|(node, _)| super::relations::is_function(index.def(*node).kind))
                .map(|(node, _)| {
                    let (file, ix) = index.place_of(*node);
                    index.node(file, self.facts(file).def(ix).parent)
                })
                .collect();
            targets.nodes.retain(|(node, _)| !owners.contains(node));
        }
        self.decide(targets)
    }

    /// A variable is what the source calls where nothing says what it holds. Of
    /// several of one name in a file, as compilers write exports, the one that says
    /// most is meant.
    fn variables(&self, targets: &mut Targets) {
        let index = self.index();
        let place = |node: NodeId| {
            let (file, ix) = index.place_of(node);
            let def = index.facts[file as usize].def(ix);
            (file, def.parent, def.name)
        };
        let says = |node: NodeId| {
            let (file, ix) = index.place_of(node);
            let facts = &index.facts[file as usize];
            let span = facts.def(ix).span;
            let has_value = facts.def(ix).ty.is_known() || !facts.values_of(ix).is_empty();
            (has_value, span.end_byte - span.start_byte)
        };
        targets.held.sort_unstable();
        for node in targets.held.drain(..) {
            let same = targets
                .nodes
                .iter_mut()
                .find(|(other, _)| place(*other) == place(node));
            match same {
                Some(other) if says(node) > says(other.0) => other.0 = node,
                Some(_) => {}
                None => targets.nodes.push((node, false)),
            }
        }
    }

    fn decide(&mut self, mut targets: Targets) -> SiteState {
        targets.nodes.sort_unstable();
        targets.nodes.dedup();
        match targets.nodes.as_slice() {
            [] => match targets.outside.first() {
                Some(module) => SiteState::External {
                    module: self.index().names.text(*module).clone(),
                },
                None => SiteState::Unresolved,
            },
            [(node, true)] => {
                let index = self.index();
                let (file, ix) = index.place_of(*node);
                let name = index.global_name(file, self.facts(file).def(ix).name);
                let parent = index.node(file, self.facts(file).def(ix).parent);
                let implementations = self.relations.implementations(self.lookup, parent, name);
                SiteState::Dynamic {
                    declared: *node,
                    implementations,
                }
            }
            // It is one of what this may be, and the others are not known.
            [(node, false)] if self.via == Via::Open => SiteState::Ambiguous {
                candidates: vec![*node],
            },
            [(node, false)] => SiteState::Resolved {
                target: *node,
                origin: origin(self.via),
            },
            several => {
                let mut candidates: Vec<NodeId> = several.iter().map(|(node, _)| *node).collect();
                candidates.dedup();
                match candidates.as_slice() {
                    [one] if self.via != Via::Open => SiteState::Resolved {
                        target: *one,
                        origin: origin(self.via),
                    },
                    _ => SiteState::Ambiguous { candidates },
                }
            }
        }
    }

    pub(super) fn collect(&mut self, cx: Cx, ty: &Ty, targets: &mut Targets, depth: u32) {
        if depth > 8 {
            return;
        }
        match ty {
            Ty::Any(all) => {
                let all = self.apart(cx, all, false);
                for ty in all.iter() {
                    self.collect(cx, ty, targets, depth + 1);
                }
            }
            Ty::Def(node, _) => {
                let kind = self.index().def(*node).kind;
                if kind.is_callable() || is_type(kind) {
                    targets.nodes.push((*node, false));
                } else if kind == NodeKind::TypeAlias {
                    let value = self.instance(cx, ty);
                    for ty in value.each() {
                        match ty {
                            Ty::Inst(node, _) => targets.nodes.push((*node, false)),
                            Ty::Ext { module, .. } => targets.outside.push(*module),
                            _ => {}
                        }
                    }
                } else {
                    let via = self.via;
                    let Some(value) = self.value_of(*node) else {
                        return;
                    };
                    let before = (targets.nodes.len(), targets.outside.len());
                    self.collect(cx, &value, targets, depth + 1);
                    if before == (targets.nodes.len(), targets.outside.len())
                        && matches!(kind, NodeKind::Variable | NodeKind::Constant)
                    {
                        self.via = via;
                        targets.held.push(*node);
                    }
                }
            }
            Ty::Bound(node, receiver) => {
                let dynamic = self.is_dynamic(*node, receiver);
                targets.nodes.push((*node, dynamic));
            }
            Ty::Ext {
                module,
                inst: false,
                ..
            } => targets.outside.push(*module),
            Ty::Ext { module, .. } => {
                // A library's value that is called.
                targets.outside.push(*module);
            }
            Ty::Method(base, _) => targets.outside.extend(self.module_of(cx, base)),
            Ty::Inst(..) => {
                if let Some(member) = self.call_member(cx, ty) {
                    self.collect(cx, &member, targets, depth + 1);
                }
            }
            Ty::This => {
                let ty = self.self_type(cx);
                if !matches!(ty, Ty::This) {
                    self.collect(cx, &ty, targets, depth + 1);
                }
            }
            _ => {}
        }
        targets.outside.retain(|m| *m != self.index().words.opaque);
    }

    /// An interface's member is decided at run time, unless the receiver's type
    /// is known and only borrows the interface's own definition.
    fn is_dynamic(&self, node: NodeId, receiver: &Ty) -> bool {
        let index = self.index();
        let (file, ix) = index.place_of(node);
        let def = self.facts(file).def(ix);
        if def.ext.is_some() {
            return false;
        }
        let parent = index.node(file, def.parent);
        let is_open = |node: NodeId| {
            matches!(
                index.def(node).kind,
                NodeKind::Interface | NodeKind::TypeAlias
            )
        };
        if !is_open(parent) {
            return false;
        }
        match receiver {
            // What embeds or inherits a method without a body borrows no definition.
            Ty::Inst(..)
                if def.flags.has(Flags::ABSTRACT)
                    && index.semantics(file).is_some_and(|s| !s.closed_modules) =>
            {
                true
            }
            Ty::Inst(node, _) => is_open(*node),
            Ty::Ext { .. } | Ty::Tuple(_) | Ty::Closure(_) => false,
            _ => true,
        }
    }

    fn module_of(&self, cx: Cx, ty: &Ty) -> Option<GSym> {
        match ty {
            Ty::Ext { module, .. } => Some(*module),
            Ty::Method(base, _) => self.module_of(cx, base),
            Ty::Inst(..) | Ty::Param { .. } | Ty::Tuple(_) | Ty::Closure(_) => {
                let language = self.index().language[cx.file as usize]?;
                Some(self.index().words.prelude[language])
            }
            _ => None,
        }
    }

    fn macro_state(&mut self, cx: Cx, call: &Call) -> SiteState {
        let index = self.index();
        let facts = self.facts(cx.file);
        let name = index.global_name(cx.file, call.name);
        let is_path = matches!(facts.terms[call.callee.0 as usize], Term::Member(..));
        let ty = self.eval(cx, call.callee);
        let mut outside = None;
        for ty in ty.each() {
            match ty {
                Ty::Def(node, _) if index.def(*node).kind == NodeKind::Macro => {
                    return SiteState::Resolved {
                        target: *node,
                        origin: origin(self.via),
                    };
                }
                Ty::Ext { module, .. } => outside = Some(*module),
                Ty::Method(base, _) => outside = outside.or(self.module_of(cx, base)),
                _ => {}
            }
        }
        if is_path {
            if let Some(node) = self.exported_macro(cx, call, name) {
                return SiteState::Resolved {
                    target: node,
                    origin: Origin::Import,
                };
            }
        } else if let Some(node) = self.lookup.find_macro(cx.file, cx.scope, name) {
            return SiteState::Resolved {
                target: node,
                origin: Origin::Scope,
            };
        } else if let Some(node) = self.imported_macro(cx, name) {
            return SiteState::Resolved {
                target: node,
                origin: Origin::Import,
            };
        }
        match outside {
            Some(module) => SiteState::External {
                module: index.names.text(module).clone(),
            },
            None => SiteState::Unresolved,
        }
    }

    /// A macro named through its crate.
    fn exported_macro(&mut self, cx: Cx, call: &Call, name: GSym) -> Option<NodeId> {
        let facts = self.facts(cx.file);
        let Term::Member(base, _) = facts.terms[call.callee.0 as usize] else {
            return None;
        };
        let Ty::Space(space) = self.eval(cx, base) else {
            return None;
        };
        let krate = self.index().spaces.get(space).krate;
        self.macro_of_crate(krate, name)
    }

    fn macro_of_crate(&self, krate: super::SpaceIx, name: GSym) -> Option<NodeId> {
        let index = self.index();
        let candidates = self.lookup.macros.get(&name)?;
        let mut inside = candidates.iter().copied().filter(|node| {
            let (file, ix) = index.place_of(*node);
            index
                .space_around(file, ix)
                .is_some_and(|s| index.spaces.get(s).krate == krate)
        });
        match (inside.next(), inside.next()) {
            (Some(one), None) => Some(one),
            _ => None,
        }
    }

    /// `use other_crate::a_macro;` names a macro at the root of its crate.
    fn imported_macro(&self, cx: Cx, name: GSym) -> Option<NodeId> {
        let index = self.index();
        let facts = self.facts(cx.file);
        let import = facts.imports.iter().find(|import| {
            import.path.len() == 2 && index.global_name(cx.file, facts.def(import.def).name) == name
        })?;
        let first = index.global_name(cx.file, import.path[0]);
        let last = index.global_name(cx.file, import.path[1]);
        let found = self.lookup.root_of(cx.file, cx.scope, first);
        let super::lookup::Found::Space(space) = *found.first()? else {
            return None;
        };
        self.macro_of_crate(index.spaces.get(space).krate, last)
    }
}

pub(crate) fn origin(via: Via) -> Origin {
    match via {
        Via::Scope => Origin::Scope,
        Via::Import => Origin::Import,
        Via::Receiver => Origin::Receiver,
        Via::DeclaredReturn => Origin::DeclaredReturn,
        Via::Open => Origin::Guess,
    }
}
