//! Members of what a term turned out to be.

use std::rc::Rc;

use super::eval::{Cx, Eval, Wanted, is_type};
use super::index::{Container, GSym};
use super::lookup::{Found, Via};
use super::relations::is_function;
use super::value::{Ty, no_args};
use crate::facts::Flags;
use crate::model::{NodeId, NodeKind};

/// What a type has under a name.
pub(super) enum TypeMember {
    Nodes(Vec<NodeId>),
    /// Lent by another type.
    Lent(Ty),
    /// Of a base or interface of another module.
    Outside(GSym),
    Nothing,
}

impl Eval<'_> {
    /// What `base.name` stands for.
    pub(crate) fn member(&mut self, cx: Cx, base: &Ty, name: GSym) -> Ty {
        self.guarded(Ty::Unknown, |eval| eval.member_inner(cx, base, name))
    }

    fn member_inner(&mut self, cx: Cx, base: &Ty, name: GSym) -> Ty {
        match base {
            Ty::Any(all) => {
                let all = self.apart(cx, all, false);
                Ty::any(all.iter().map(|ty| self.member(cx, ty, name)).collect())
            }
            Ty::Unknown => Ty::Unknown,
            Ty::Space(space) => {
                if let Some(found) = self.lookup.relative_root(*space, name).first()
                    && self
                        .index()
                        .semantics(cx.file)
                        .is_some_and(|s| s.closed_modules)
                    && name == self.index().words.above
                {
                    return self.found(&[*found]);
                }
                if self.index().textual(cx.file) {
                    let found = self.lookup.textual_in_space(cx.file, *space, name);
                    let found = self.completed(found);
                    return self.found(&found);
                }
                let mut found = self.lookup.in_space(*space, name);
                self.lookup.keep_own_copies(cx.file, &mut found);
                self.found(&found)
            }
            Ty::Def(node, args) => {
                let kind = self.index().def(*node).kind;
                if is_type(kind) {
                    let receiver = Ty::Inst(*node, args.clone());
                    return self.type_member(cx, *node, &receiver, name, true);
                }
                if kind == NodeKind::TypeAlias {
                    let instance = self.instance(cx, base);
                    return self.static_of(cx, &instance, name);
                }
                match self.value_of(*node) {
                    Some(value) => self.member(cx, &value, name),
                    None => Ty::Unknown,
                }
            }
            Ty::Inst(node, _) => {
                self.saw(Via::Receiver);
                self.type_member(cx, *node, base, name, false)
            }
            Ty::Super(file, class) => {
                self.saw(Via::Receiver);
                let node = self.index().node(*file, *class);
                let (line, outside) = self.relations.line(node);
                let receiver = Ty::Inst(node, no_args());
                for above in line.into_iter().skip(1) {
                    let found = self
                        .lookup
                        .in_container(Container::Node(above), name, None, 0);
                    if !found.is_empty() {
                        return self.members_of(&found, &receiver, false);
                    }
                }
                match outside.first() {
                    Some(Found::Ext { module, .. }) => self.outside(*module, name),
                    _ => {
                        // `object` is everyone's base.
                        let language = self.index().language[cx.file as usize].unwrap_or(0);
                        self.outside(self.index().words.prelude[language], name)
                    }
                }
            }
            Ty::Ext {
                module,
                name: owner,
                inst,
                ..
            } => {
                if *inst {
                    self.library_member(cx, base, name)
                } else {
                    let text = self.index().names.text(name);
                    let owner_text = self.index().names.text(*owner);
                    let names_type = text.starts_with(char::is_uppercase)
                        && !owner_text.starts_with(char::is_uppercase);
                    if names_type {
                        return Ty::Ext {
                            module: *module,
                            name,
                            args: no_args(),
                            inst: false,
                        };
                    }
                    if let Some(found) = self.added_from_afar(cx, *owner, name, base) {
                        return found;
                    }
                    Ty::Method(Rc::new(base.clone()), name)
                }
            }
            Ty::Method(..) => match path_of(base) {
                Some(path) => self.member(cx, &path, name),
                None => match base {
                    Ty::Method(inner, _) => match &**inner {
                        Ty::Ext { module, args, .. } if args.is_empty() => {
                            self.outside(*module, name)
                        }
                        _ => Ty::Unknown,
                    },
                    _ => Ty::Unknown,
                },
            },
            Ty::Param {
                file, scope, place, ..
            } => {
                self.saw(Via::Receiver);
                let inner = Cx {
                    file: *file,
                    scope: *scope,
                };
                let facts = self.facts(*file);
                let bounds = facts
                    .list(facts.type_params[*place as usize].bounds)
                    .to_vec();
                let mut outside = None;
                for bound in bounds {
                    let ty = self.eval(inner, bound);
                    let ty = self.instance(inner, &ty);
                    match self.member(inner, &ty, name) {
                        Ty::Unknown => {}
                        found @ (Ty::Method(..) | Ty::Ext { .. }) => {
                            outside = outside.or(Some(found));
                        }
                        found => return found,
                    }
                }
                if let Some(found) = self.blanket(cx, name, base) {
                    return found;
                }
                if let Some(universal) = self.universal(cx, base, name) {
                    return universal;
                }
                outside.unwrap_or(Ty::Unknown)
            }
            Ty::This => {
                let ty = self.self_type(cx);
                let ty = self.instance(cx, &ty);
                if matches!(ty, Ty::This) {
                    return Ty::Unknown;
                }
                self.member(cx, &ty, name)
            }
            Ty::Tuple(_) | Ty::Closure(_) => self.universal(cx, base, name).unwrap_or(Ty::Unknown),
            Ty::Bound(..) => Ty::Unknown,
        }
    }

    /// A member named through an alias of a type.
    fn static_of(&mut self, cx: Cx, ty: &Ty, name: GSym) -> Ty {
        match ty {
            Ty::Any(all) => Ty::any(all.iter().map(|ty| self.static_of(cx, ty, name)).collect()),
            Ty::Inst(node, args) => {
                let ty = Ty::Def(*node, args.clone());
                self.member(cx, &ty, name)
            }
            Ty::Ext {
                module,
                name: owner,
                args,
                ..
            } => {
                let ty = Ty::Ext {
                    module: *module,
                    name: *owner,
                    args: args.clone(),
                    inst: false,
                };
                self.member(cx, &ty, name)
            }
            _ => Ty::Unknown,
        }
    }

    fn type_member(
        &mut self,
        cx: Cx,
        node: NodeId,
        receiver: &Ty,
        name: GSym,
        is_static: bool,
    ) -> Ty {
        match self.find_in_type(cx, node, receiver, name) {
            TypeMember::Nodes(nodes) => {
                let found: Vec<Found> = nodes.into_iter().map(Found::Node).collect();
                self.members_of(&found, receiver, is_static)
            }
            TypeMember::Lent(ty) => ty,
            TypeMember::Outside(module) => self.outside(module, name),
            TypeMember::Nothing => {
                if let Some(found) = self.blanket(cx, name, receiver) {
                    return found;
                }
                self.universal(cx, receiver, name).unwrap_or(Ty::Unknown)
            }
        }
    }

    /// Methods become bound, properties and fields their values.
    pub(super) fn members_of(&mut self, found: &[Found], receiver: &Ty, is_static: bool) -> Ty {
        let mut all = Vec::new();
        for item in found {
            let Found::Node(node) = item else {
                all.push(self.found(std::slice::from_ref(item)));
                continue;
            };
            let def = self.index().def(*node);
            let ty = match def.kind {
                kind if is_function(kind) => {
                    if def.flags.has(Flags::PROPERTY) && !is_static {
                        let ty = self.result_of(*node, receiver);
                        if ty.is_known() {
                            ty
                        } else {
                            // Untyped, but still what the name leads to.
                            Ty::Unknown
                        }
                    } else {
                        Ty::Bound(*node, Rc::new(receiver.clone()))
                    }
                }
                NodeKind::Field | NodeKind::Variable | NodeKind::Constant if !is_static => {
                    self.field_type(*node, receiver)
                }
                NodeKind::TypeAlias => {
                    let (file, ix) = self.index().place_of(*node);
                    if self.facts(file).def(ix).ty.is_known() {
                        Ty::Def(*node, no_args())
                    } else {
                        // An associated type that implementations choose.
                        self.chosen(*node, receiver)
                    }
                }
                _ => Ty::Def(*node, no_args()),
            };
            all.push(ty);
        }
        Ty::any(all)
    }

    /// The bound of an associated type, as far as it says anything.
    fn chosen(&mut self, node: NodeId, _receiver: &Ty) -> Ty {
        let (file, ix) = self.index().place_of(node);
        let facts = self.facts(file);
        let bounds = facts.list(facts.def(ix).bases).to_vec();
        let cx = Cx { file, scope: ix };
        let mut all = Vec::new();
        for bound in bounds {
            let ty = self.eval(cx, bound);
            if matches!(ty, Ty::Def(..)) {
                all.push(ty);
            }
        }
        Ty::any(all)
    }

    /// A member that an extension here gives to a type of another module.
    fn added_from_afar(&self, cx: Cx, head: GSym, name: GSym, base: &Ty) -> Option<Ty> {
        let nodes = self.relations.foreign.get(&(head, name))?;
        self.bound_in_reach(cx, nodes, base)
    }

    /// A member of an interface that every type implements.
    fn blanket(&self, cx: Cx, name: GSym, base: &Ty) -> Option<Ty> {
        let nodes = self.relations.blanket.get(&name)?;
        self.bound_in_reach(cx, nodes, base)
    }

    fn bound_in_reach(&self, cx: Cx, nodes: &[NodeId], base: &Ty) -> Option<Ty> {
        let near: Vec<NodeId> = nodes
            .iter()
            .copied()
            .filter(|node| self.is_in_reach(cx, *node))
            .collect();
        (!near.is_empty()).then(|| self.bound_all(&near, base))
    }

    /// An extension counts where its interface is: in its own crate, and where
    /// the interface was imported.
    fn is_in_reach(&self, cx: Cx, node: NodeId) -> bool {
        let index = self.index();
        let krate = |file, ix| {
            index
                .space_around(file, ix)
                .map(|space| index.spaces.get(space).krate)
        };
        let (file, ix) = index.place_of(node);
        if krate(file, ix) == krate(cx.file, cx.scope) {
            return true;
        }
        let facts = self.facts(file);
        let def = facts.def(ix);
        let interface = match def.ext {
            Some(ext) => {
                let ext = &facts.extensions[ext.0 as usize];
                let Some(term) = ext.interface else {
                    return false;
                };
                self.lookup.static_path(file, ext.parent, term)
            }
            None => vec![Found::Node(index.node(file, def.parent))],
        };
        interface.iter().any(|found| {
            let Found::Node(interface) = found else {
                return false;
            };
            let (file, ix) = index.place_of(*interface);
            let name = index.global_name(file, self.facts(file).def(ix).name);
            self.lookup
                .scoped(cx.file, cx.scope, name)
                .is_some_and(|(seen, _)| seen.contains(found))
        })
    }

    pub(super) fn bound_all(&self, nodes: &[NodeId], receiver: &Ty) -> Ty {
        Ty::any(
            nodes
                .iter()
                .map(|node| Ty::Bound(*node, Rc::new(receiver.clone())))
                .collect(),
        )
    }

    pub(super) fn find_in_type(
        &mut self,
        cx: Cx,
        node: NodeId,
        receiver: &Ty,
        name: GSym,
    ) -> TypeMember {
        let index = self.index();
        if index.textual(cx.file) {
            return self.included_member(cx, node, name);
        }
        let container = Container::Node(node);
        let own = self.lookup.in_container(container, name, None, 0);
        let added = self.relations.added.named(container, name);
        let mut nodes: Vec<NodeId> = own
            .iter()
            .filter_map(|item| match item {
                Found::Node(node) => Some(*node),
                _ => None,
            })
            .collect();
        nodes.extend(
            added
                .iter()
                .filter(|node| !index.def(**node).flags.has(Flags::IMPLEMENTS)),
        );
        if nodes.is_empty() {
            nodes.extend(added);
        }
        // What only completes another definition is not the one meant.
        let completes = |n: &NodeId| index.def(*n).flags.has(Flags::OVERLOAD);
        if nodes.iter().any(completes) && !nodes.iter().all(completes) {
            nodes.retain(|n| !completes(n));
        }
        // A field and a method may share a name.
        let is_field =
            |n: &NodeId| matches!(index.def(*n).kind, NodeKind::Field | NodeKind::Constant);
        let apart = index.semantics(cx.file).is_some_and(|s| s.fields_apart);
        let want_field = apart && self.wanted == Wanted::Value;
        if nodes.len() > 1 && nodes.iter().any(is_field) && !nodes.iter().all(is_field) {
            nodes.retain(|n| is_field(n) == want_field);
        }
        if !nodes.is_empty() {
            self.add_inherited_overloads(node, name, &mut nodes);
            return TypeMember::Nodes(nodes);
        }
        let (interfaces, mut outside) = self.relations.interfaces(node);
        let mut from_interfaces = Vec::new();
        for interface in interfaces {
            let members = index.members.named(Container::Node(interface), name);
            from_interfaces.extend(members.iter().copied());
        }
        if !from_interfaces.is_empty() {
            return TypeMember::Nodes(from_interfaces);
        }
        let (line, beyond) = self.relations.line(node);
        for base in line.into_iter().skip(1) {
            let found = self
                .lookup
                .in_container(Container::Node(base), name, None, 0);
            let mut nodes: Vec<NodeId> = found
                .iter()
                .filter_map(|item| match item {
                    Found::Node(node) => Some(*node),
                    _ => None,
                })
                .collect();
            if nodes.is_empty() {
                nodes.extend(self.relations.added.named(Container::Node(base), name));
            }
            if apart && nodes.iter().any(|n| is_field(n) != want_field) {
                let own: Vec<NodeId> = nodes
                    .iter()
                    .copied()
                    .filter(|n| is_field(n) == want_field)
                    .collect();
                if !own.is_empty() {
                    nodes = own;
                }
            }
            if !nodes.is_empty() {
                self.add_inherited_overloads(base, name, &mut nodes);
                return TypeMember::Nodes(nodes);
            }
        }
        // What a defined type is underneath.
        let under = self.underlying(receiver);
        if under.is_known() && under != *receiver {
            let lent = self.member(cx, &under, name);
            if lent.is_known() {
                return TypeMember::Lent(lent);
            }
        }
        // What the type dereferences to.
        let target = self
            .relations
            .added
            .named(container, index.words.target)
            .first()
            .copied();
        if let Some(target) = target
            && name != index.words.target
        {
            let ty = self.instance(cx, &Ty::Def(target, no_args()));
            if ty.is_known() && ty != *receiver {
                let lent = self.member(cx, &ty, name);
                if lent.is_known() {
                    return TypeMember::Lent(lent);
                }
            }
        }
        outside.extend(beyond);
        let closed = index.semantics(cx.file).is_some_and(|s| s.closed_modules);
        if closed {
            // Only an interface whose members are known to be many speaks for
            // names that nothing declares here.
            let iterates = outside.iter().any(|o| match o {
                Found::Ext { name, .. } => {
                    matches!(
                        &**index.names.text(*name),
                        "Iterator" | "Read" | "Write" | "BufRead" | "Error" | "Future"
                    )
                }
                _ => false,
            });
            if iterates && let Some(language) = index.language[cx.file as usize] {
                return TypeMember::Outside(index.words.prelude[language]);
            }
            return TypeMember::Nothing;
        }
        match outside.first() {
            Some(Found::Ext { module, .. }) if *module != index.words.opaque => {
                TypeMember::Outside(*module)
            }
            _ => TypeMember::Nothing,
        }
    }

    /// A member of something in another module.
    pub(super) fn outside(&self, module: GSym, name: GSym) -> Ty {
        if module == self.index().words.opaque {
            return Ty::Unknown;
        }
        let owner = Ty::Ext {
            module,
            name: self.index().words.opaque,
            args: no_args(),
            inst: true,
        };
        Ty::Method(Rc::new(owner), name)
    }

    /// A method that every value has through the library.
    pub(super) fn universal(&self, cx: Cx, base: &Ty, name: GSym) -> Option<Ty> {
        let library = self.library(cx.file)?;
        library
            .is_universal(self.index().names.text(name))
            .then(|| Ty::Method(Rc::new(base.clone()), name))
    }

    fn library_member(&mut self, cx: Cx, base: &Ty, name: GSym) -> Ty {
        let Ty::Ext {
            name: head, args, ..
        } = base
        else {
            return Ty::Unknown;
        };
        if let Some(found) = self.added_from_afar(cx, *head, name, base) {
            self.saw(Via::Receiver);
            return found;
        }
        let method = Ty::Method(Rc::new(base.clone()), name);
        if let Some(found) = self.blanket(cx, name, base)
            && !self.is_library_method(cx, base, name)
        {
            return found;
        }
        if args.is_empty() {
            return method;
        }
        let is_own = self
            .library(cx.file)
            .is_some_and(|l| l.is_universal(self.index().names.text(name)));
        if is_own {
            return method;
        }
        // Wrappers lend the members of what they hold.
        let target = self.target_of(cx, base);
        if let Some(target) = target {
            let lent = self.member(cx, &target, name);
            if lent.is_known() {
                return lent;
            }
            if matches!(target, Ty::Unknown | Ty::Param { .. } | Ty::Inst(..)) {
                let known = self.is_library_method(cx, base, name);
                return if known { method } else { Ty::Unknown };
            }
        }
        method
    }

    fn is_library_method(&mut self, cx: Cx, base: &Ty, name: GSym) -> bool {
        let ty = self.called(cx, &Ty::Method(Rc::new(base.clone()), name), &[]);
        ty.is_known()
    }

    fn target_of(&mut self, cx: Cx, base: &Ty) -> Option<Ty> {
        let Ty::Ext {
            module, name, args, ..
        } = base
        else {
            return None;
        };
        let library = self.library(cx.file)?;
        let _ = module;
        library.target(super::library::Seen {
            head: self.index().names.text(*name),
            args,
            whole: base,
            is_standard: true,
        })
    }
}

/// A path through other modules, as the last thing it names.
pub(super) fn path_of(ty: &Ty) -> Option<Ty> {
    let Ty::Method(base, name) = ty else {
        return None;
    };
    match &**base {
        Ty::Ext {
            module,
            inst: false,
            ..
        } => Some(Ty::Ext {
            module: *module,
            name: *name,
            args: no_args(),
            inst: false,
        }),
        _ => None,
    }
}
