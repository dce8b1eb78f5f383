//! What is a router: by what makes it, its declared type, or its customary name.

use tree_sitter::Node;

use super::{FLUENT, MAX_CHAIN, Named, On, VERBS};
use crate::facts::{DefIx, Joins, Mount, Router, Sym, Term};
use crate::lang::typescript::K;
use crate::lang::typescript::items::Reader;
use crate::model::NodeKind;

/// What makes routers, by module and member; no member for the module itself.
const MAKERS: &[(&str, &[&str])] = &[
    ("express", &["", "Router"]),
    ("express-promise-router", &["", "Router"]),
    ("fastify", &["", "fastify", "Fastify"]),
    ("hono", &["Hono"]),
    ("@koa/router", &["", "Router"]),
    ("koa-router", &["", "Router"]),
    ("elysia", &["Elysia"]),
    ("polka", &[""]),
    ("restana", &[""]),
];

/// Names that are taken for those of frameworks where no import says otherwise.
const CUSTOMARY_MAKERS: &[(&str, &str, &str)] = &[
    ("express", "express", ""),
    ("Router", "express", "Router"),
    ("fastify", "fastify", ""),
    ("Fastify", "fastify", ""),
    ("Hono", "hono", "Hono"),
    ("KoaRouter", "koa-router", ""),
    ("Elysia", "elysia", "Elysia"),
    ("polka", "polka", ""),
    ("restana", "restana", ""),
];

/// Types of routers.
const TYPES: &[&str] = &[
    "Express",
    "Application",
    "Router",
    "IRouter",
    "FastifyInstance",
    "Hono",
];

impl<'s> Reader<'_, 's> {
    /// Notes a name that an import binds.
    pub(in crate::lang::typescript) fn routes_import(&mut self, path: &[Sym], bound: &str) {
        let Some(from) = path.first().map(|from| self.b.sym_text(*from)) else {
            return;
        };
        if from.is_empty() {
            return;
        }
        let member = path.get(1).map_or("", |member| self.b.sym_text(*member));
        let member = if member == "default" { "" } else { member };
        let framework = MAKERS.iter().position(|maker| maker.0 == from);
        let member = member.to_string();
        let sym = self.b.owned_name(bound);
        self.routes.imported.insert(sym);
        match framework {
            Some(framework) => {
                self.routes.makers.insert(sym, (framework, member));
            }
            None if is_customary(bound) => {
                let router = self.named_router(sym);
                self.remember(DefIx::ROOT, sym, u32::MAX, router, true);
            }
            None => {}
        }
    }

    pub(super) fn remember(
        &mut self,
        scope: DefIx,
        name: Sym,
        until: u32,
        router: Router,
        customary: bool,
    ) {
        self.routes.names.push(Named {
            scope,
            name,
            until,
            router,
            customary,
        });
    }

    pub(super) fn named_router(&mut self, name: Sym) -> Router {
        let at = self.b.source.len() as u32;
        Router::Named(DefIx::ROOT, self.b.term(Term::Name(name, at)))
    }

    /// A router of a function or class: its own unless it is mounted.
    pub(super) fn new_local(&mut self, owner: Option<DefIx>) -> Router {
        let number = self.routes.count;
        self.routes.count += 1;
        let what = Router::Local(number);
        if let Some(owner) = owner {
            self.b.mount(Mount {
                on: Some(Router::Def(owner)),
                what,
                prefix: "".into(),
                joins: Joins::Else,
            });
        }
        what
    }

    pub(super) fn function_around(&self) -> Option<DefIx> {
        self.b.enclosing(|def| {
            matches!(
                def.kind,
                NodeKind::Function | NodeKind::Method | NodeKind::Test
            )
        })
    }

    pub(super) fn class_around(&self) -> Option<DefIx> {
        self.b.enclosing(|def| def.kind == NodeKind::Class)
    }

    /// A variable with its value or type.
    pub(in crate::lang::typescript) fn routes_declared(
        &mut self,
        name: Node<'_>,
        value: Option<Node<'_>>,
        ty: Option<Node<'_>>,
    ) {
        let made = value.filter(|value| self.is_made(*value));
        if made.is_none() && !ty.is_some_and(|ty| self.is_router_type(ty)) {
            return;
        }
        let sym = self.b.node_name(name);
        let scope = self.b.scope();
        let router = match self.function_around() {
            Some(function) => self.new_local(Some(function)),
            None => self.named_router(sym),
        };
        self.remember(scope, sym, u32::MAX, router, false);
        if let Some(value) = made {
            self.value_of(router, value);
        }
    }

    /// `router = Router()` and `this.router = Router()`.
    pub(in crate::lang::typescript) fn routes_assigned(&mut self, left: Node<'_>, right: Node<'_>) {
        if !self.is_made(right) {
            return;
        }
        let router = match self.kinds.of(left) {
            K::Identifier => match self.router(left, 0) {
                Some(On {
                    router: Some(router),
                    customary: false,
                    ..
                }) => router,
                _ => {
                    let sym = self.b.node_name(left);
                    let router = self.named_router(sym);
                    self.remember(DefIx::ROOT, sym, u32::MAX, router, false);
                    router
                }
            },
            K::Member => {
                let (Some(object), Some(name), Some(class)) = (
                    left.child_by_field_name("object"),
                    left.child_by_field_name("property"),
                    self.class_around(),
                ) else {
                    return;
                };
                if self.kinds.of(object) != K::This {
                    return;
                }
                match self.field_router(class, name) {
                    Some(known) => known,
                    None => self.remember_field(class, name),
                }
            }
            _ => return,
        };
        self.value_of(router, right);
    }

    /// A field of a class with its value or type.
    pub(in crate::lang::typescript) fn routes_field(
        &mut self,
        class: DefIx,
        name: Node<'_>,
        value: Option<Node<'_>>,
        ty: Option<Node<'_>>,
    ) {
        let made = value.filter(|value| self.is_made(*value));
        if made.is_none() && !ty.is_some_and(|ty| self.is_router_type(ty)) {
            return;
        }
        let router = self.remember_field(class, name);
        if let Some(value) = made {
            self.value_of(router, value);
        }
    }

    pub(super) fn remember_field(&mut self, class: DefIx, name: Node<'_>) -> Router {
        let sym = self.b.node_name(name);
        let router = self.new_local(Some(class));
        self.remember(class, sym, u32::MAX, router, false);
        router
    }

    pub(super) fn field_router(&mut self, class: DefIx, name: Node<'_>) -> Option<Router> {
        let sym = self.b.node_name(name);
        let known = self.routes.names.iter().rev();
        known
            .filter(|known| known.scope == class && known.name == sym)
            .map(|known| known.router)
            .next()
    }

    /// What is said of a router where it is made.
    pub(super) fn value_of(&mut self, router: Router, value: Node<'_>) {
        let (start, end) = (value.start_byte() as u32, value.end_byte() as u32);
        self.routes.values.push((start, end, router));
        let prefix = self
            .given(value)
            .first()
            .and_then(|options| self.option(*options, "prefix"));
        if let Some(prefix) = prefix
            && let Some(prefix) = self.path(prefix, 0)
        {
            self.b.mount(Mount {
                on: None,
                what: router,
                prefix: prefix.into(),
                joins: Joins::Own,
            });
        }
    }

    /// A parameter of a function, by its place.
    pub(in crate::lang::typescript) fn routes_parameter(
        &mut self,
        function: Node<'_>,
        pattern: Node<'_>,
        ty: Option<Node<'_>>,
        place: usize,
    ) {
        if self.kinds.of(pattern) != K::Identifier {
            return;
        }
        let inline = self.routes.inline.get(&function.id()).copied();
        let inline = inline.filter(|_| place == 0);
        let typed = ty.is_some_and(|ty| self.is_router_type(ty));
        let customary = ty.is_none() && is_customary(self.b.text(pattern));
        if inline.is_none() && !typed && !customary {
            return;
        }
        let sym = self.b.node_name(pattern);
        let def = self.functions.last().and_then(|around| around.def);
        let router = match (inline, def) {
            (Some(router), _) => router,
            (None, Some(def)) => Router::Param(def, place.min(250) as u8),
            (None, None) => self.new_local(None),
        };
        let scope = self.b.scope();
        let until = function.end_byte() as u32;
        let customary = customary && inline.is_none();
        self.remember(scope, sym, until, router, customary);
    }

    pub(super) fn is_router_type(&self, ty: Node<'_>) -> bool {
        let text = self.b.text(ty).trim_start_matches([':', ' ']);
        let head = text.split('<').next().unwrap_or(text);
        let last = head.rsplit('.').next().unwrap_or(head);
        TYPES.contains(&last.trim())
    }

    /// Whether a value is what a framework's maker gives, also after more calls.
    pub(super) fn is_made(&mut self, value: Node<'_>) -> bool {
        let mut node = self.bare(value);
        for _ in 0..MAX_CHAIN {
            if self.is_maker_call(node) {
                return true;
            }
            let next = (self.kinds.of(node) == K::Call)
                .then(|| node.child_by_field_name("function"))
                .flatten()
                .filter(|callee| self.kinds.of(*callee) == K::Member);
            let (Some(object), Some(method)) = (
                next.and_then(|callee| callee.child_by_field_name("object")),
                next.and_then(|callee| callee.child_by_field_name("property")),
            ) else {
                return false;
            };
            let method = self.b.text(method);
            if !VERBS.contains(&method) && !FLUENT.contains(&method) {
                return false;
            }
            node = object;
        }
        false
    }

    pub(super) fn is_maker_call(&mut self, node: Node<'_>) -> bool {
        let field = match self.kinds.of(node) {
            K::Call => "function",
            K::New => "constructor",
            _ => return false,
        };
        let Some(callee) = node.child_by_field_name(field) else {
            return false;
        };
        self.framework(callee, 0)
            .is_some_and(|(framework, member)| MAKERS[framework].1.contains(&member.as_str()))
    }

    /// The framework and its member that an expression names.
    pub(super) fn framework(&mut self, node: Node<'_>, depth: u32) -> Option<(usize, String)> {
        if depth > 2 {
            return None;
        }
        match self.kinds.of(node) {
            K::Identifier => {
                let sym = self.b.node_name(node);
                if let Some(known) = self.routes.makers.get(&sym) {
                    return Some(known.clone());
                }
                if self.routes.imported.contains(&sym) {
                    return None;
                }
                let text = self.b.text(node);
                let (_, from, member) = CUSTOMARY_MAKERS.iter().find(|m| m.0 == text)?;
                let framework = MAKERS.iter().position(|maker| maker.0 == *from)?;
                Some((framework, (*member).to_string()))
            }
            K::Member => {
                let object = node.child_by_field_name("object")?;
                let member = node.child_by_field_name("property")?;
                let (framework, of) = self.framework(object, depth + 1)?;
                let member = match self.b.text(member) {
                    "default" => "",
                    member => member,
                };
                of.is_empty().then(|| (framework, member.to_string()))
            }
            K::Call => {
                let from = self.required(node)?;
                let framework = MAKERS.iter().position(|maker| maker.0 == from)?;
                Some((framework, String::new()))
            }
            _ => None,
        }
    }

    /// The router that an expression is.
    pub(super) fn router<'t>(&mut self, node: Node<'t>, depth: usize) -> Option<On<'t>> {
        let mut node = node;
        let mut path = None;
        for _ in depth..MAX_CHAIN {
            let on = |router: Option<Router>, customary, path: Option<Node<'t>>, chained| On {
                router,
                customary,
                path,
                chained,
            };
            let chained = node.kind_id() != 0 && self.kinds.of(node) == K::Call;
            match self.kinds.of(node) {
                K::Parenthesized | K::NonNull | K::As => node = node.named_child(0)?,
                K::Identifier => {
                    let sym = self.b.node_name(node);
                    let at = node.start_byte() as u32;
                    let known = self.known(sym, at)?;
                    return Some(on(Some(known.router), known.customary, path, false));
                }
                K::Member => {
                    let object = node.child_by_field_name("object")?;
                    let name = node.child_by_field_name("property")?;
                    if self.kinds.of(object) != K::This {
                        return None;
                    }
                    let class = self.class_around()?;
                    let router = self.field_router(class, name)?;
                    return Some(on(Some(router), false, path, false));
                }
                K::Call | K::New if self.is_maker_call(node) => {
                    let at = node.start_byte() as u32;
                    let mut values = self.routes.values.iter().rev();
                    let own = values.find(|v| (v.0..v.1).contains(&at)).map(|v| v.2);
                    let router = own.or_else(|| self.function_around().map(Router::Def));
                    return Some(on(router, false, path, chained));
                }
                K::Call => {
                    let callee = node.child_by_field_name("function")?;
                    if self.kinds.of(callee) != K::Member {
                        return None;
                    }
                    let method = callee.child_by_field_name("property")?;
                    match self.b.text(method) {
                        "route" if path.is_none() => {
                            path = Some(*self.given(node).first()?);
                        }
                        name if VERBS.contains(&name) || FLUENT.contains(&name) => {}
                        _ => return None,
                    }
                    node = callee.child_by_field_name("object")?;
                }
                _ => return None,
            }
        }
        None
    }

    pub(super) fn known(&self, name: Sym, at: u32) -> Option<Named> {
        let mut scope = self.b.scope();
        loop {
            let mut known = self.routes.names.iter().rev();
            let found =
                known.find(|known| known.scope == scope && known.name == name && at < known.until);
            if found.is_some() || scope == DefIx::ROOT {
                return found.copied();
            }
            scope = self.b.def(scope).parent;
        }
    }
}

/// Names that routers have.
fn is_customary(name: &str) -> bool {
    matches!(name, "app" | "router" | "application" | "fastify")
        || name.ends_with("Router")
        || name.ends_with("_router")
}
