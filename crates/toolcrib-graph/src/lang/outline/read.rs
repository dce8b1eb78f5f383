//! From the matches of a query to facts.
//!
//! Matches are put into source order first: then one pass with the builder's
//! stack of open definitions is all that containment needs, and nothing here
//! depends on the order in which the query engine finds things.

use rustc_hash::FxHashMap;
use tree_sitter::{Node, Query};

use super::matches::{Item, Mark, items, merged};
use super::{At, Outline, docs, is_type};
use crate::facts::{Builder, DefIx, Flags, NewDef, Term, TermId, span};
use crate::model::{NodeKind, Span, TextKind};

/// Bytes of a declaration that are looked at, before its line and of itself, and
/// how many of its parts: a line may be the whole file.
const MAX_BEFORE: usize = 200;
const MAX_HEAD: usize = 2_000;
const MAX_CHILDREN: usize = 256;

/// A definition that the rules accepted.
struct Found<'s> {
    kind: NodeKind,
    name: String,
    place: Span,
    exported: bool,
    owner: Option<&'s str>,
    around: DefIx,
    in_extension: bool,
    /// Where what is in it ends, if not with itself.
    end: Option<u32>,
}

/// A comment that may document what comes next.
struct Pending {
    place: Span,
    scope: DefIx,
}

struct Reader<'o, 'b, 's> {
    outline: &'o Outline,
    query: &'o Query,
    b: &'b mut Builder<'s>,
    path: &'o str,
    pending: Option<Pending>,
    sections: FxHashMap<DefIx, &'s str>,
    /// Ends of blocks around the walk whose functions need no receiver, with the
    /// section that goes on after each.
    singletons: Vec<(u32, DefIx, Option<&'s str>)>,
    /// Definitions by scope and name, for what is said of them later.
    named: FxHashMap<(DefIx, &'s str), DefIx>,
    returned: Option<&'s str>,
    /// Ends of extensions around the walk, with whether their members are visible.
    extensions: Vec<(u32, bool)>,
}

/// Writes what the query finds, also in a second tree of the same text, whose
/// definitions count before those of the first; `false` when it took too long.
pub(super) fn read<'s>(
    outline: &Outline,
    query: &Query,
    root: Node<'_>,
    second: Option<Node<'_>>,
    path: &str,
    b: &mut Builder<'s>,
) -> bool {
    let Some(mut items) = items(query, root, b.source) else {
        return false;
    };
    if let Some(second) = second
        && let Some(more) = super::matches::items(query, second, b.source)
    {
        items = merged(items, more);
    }
    let mut reader = Reader {
        outline,
        query,
        b,
        path,
        pending: None,
        sections: FxHashMap::default(),
        singletons: Vec::new(),
        named: FxHashMap::default(),
        returned: None,
        extensions: Vec::new(),
    };
    let namespaces: Vec<&Item<'_>> = items
        .iter()
        .filter(|item| item.mark == Mark::Namespace)
        .collect();
    // What stands beside a namespace in braces is not in it.
    let several = match namespaces.as_slice() {
        [] => false,
        [only] => {
            let has_body = only.node.child_by_field_name("body").is_some();
            let inside = only.node.byte_range();
            has_body
                && items.iter().any(|item| {
                    matches!(item.mark, Mark::Def(_)) && !inside.contains(&item.node.start_byte())
                })
        }
        _ => true,
    };
    reader.head(&items, !several);
    let starts: Vec<u32> = namespaces
        .iter()
        .map(|item| item.node.start_byte() as u32)
        .collect();
    for item in &items {
        reader.enter(item, several, &starts);
    }
    reader.flush();
    true
}

impl<'s> Reader<'_, '_, 's> {
    /// What is said of the whole file.
    fn head(&mut self, items: &[Item<'_>], is_one_namespace: bool) {
        let mut package: Vec<&str> = Vec::new();
        let mut only = "";
        for item in items {
            match item.mark {
                Mark::Package => package.push(self.b.text(item.node)),
                Mark::Namespace => {
                    only = item.name.map_or("", |name| self.b.text(name));
                }
                Mark::Returned => self.returned = Some(self.b.text(item.node)),
                _ => {}
            }
        }
        let mut word = "package";
        if is_one_namespace && !only.is_empty() {
            word = "namespace";
            package.push(only);
        }
        if package.is_empty() {
            return;
        }
        let name: String = package.join(".").split_whitespace().collect();
        let line = crate::facts::one_line(&format!("{word} {name}"), 400);
        self.b.def_mut(DefIx::ROOT).signature = Some(line.into());
    }

    fn enter(&mut self, item: &Item<'_>, several: bool, namespaces: &[u32]) {
        let start = item.node.start_byte() as u32;
        self.b.pass(start);
        while self.singletons.last().is_some_and(|s| s.0 <= start) {
            if let Some((_, scope, section)) = self.singletons.pop() {
                self.sections.remove(&scope);
                self.sections.extend(section.map(|word| (scope, word)));
            }
        }
        while self.extensions.last().is_some_and(|e| e.0 <= start) {
            self.extensions.pop();
        }
        match item.mark {
            Mark::Comment => self.comment(item.node),
            Mark::String => {
                let scope = self.b.scope();
                let place = span(item.node);
                if place.end_byte - place.start_byte > 2 {
                    self.b.words(scope, place, TextKind::StringLiteral);
                }
            }
            Mark::Section => {
                let scope = self.b.scope();
                let word = self.b.text(item.node);
                self.sections.insert(scope, word);
            }
            Mark::Hide => {
                let scope = self.b.scope();
                let name = trimmed(self.b.text(item.node));
                if let Some(def) = self.named.get(&(scope, name)) {
                    self.b.def_mut(*def).exported = false;
                }
            }
            Mark::Singleton => {
                let scope = self.b.scope();
                let section = self.sections.remove(&scope);
                let end = item.node.end_byte() as u32;
                self.singletons.push((end, scope, section));
            }
            Mark::Extension => self.extension(item),
            Mark::Namespace if several => {
                let has_body = item.node.child_by_field_name("body").is_some();
                let end = if has_body {
                    None
                } else {
                    let next = namespaces.partition_point(|at| *at <= start);
                    let last = self.b.source.len() as u32;
                    Some(namespaces.get(next).copied().unwrap_or(last))
                };
                self.definition(item, NodeKind::Module, end);
            }
            Mark::Namespace => self.flush(),
            Mark::Def(kind) => self.definition(item, kind, None),
            Mark::Package | Mark::Returned | Mark::Name | Mark::Owner => {}
        }
    }

    fn comment(&mut self, node: Node<'_>) {
        let text = self.b.text(node).trim_end();
        let mut place = span(node);
        place.end_byte = place.start_byte + text.len() as u32;
        place.end_line = place.start_line + text.matches('\n').count() as u32;
        let trails = !before(self.b.source, place.start_byte).is_empty();
        let scope = self.b.scope();
        if trails || !(self.outline.is_doc)(text) {
            self.flush();
            self.b.words(scope, place, TextKind::Comment);
            return;
        }
        if let Some(pending) = &mut self.pending
            && pending.scope == scope
            && pending.place.end_line + 1 == place.start_line
            && !text.starts_with("/*")
        {
            pending.place.end_byte = place.end_byte;
            pending.place.end_line = place.end_line;
            return;
        }
        self.flush();
        self.pending = Some(Pending { place, scope });
    }

    /// A comment that documents nothing is a comment.
    fn flush(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.b
                .words(pending.scope, pending.place, TextKind::Comment);
        }
    }

    fn extension(&mut self, item: &Item<'_>) {
        self.flush();
        let Some(name) = item.name else { return };
        let ty = self.type_term(name);
        let place = self.place(item.node);
        let head = self.b.source.get(item.node.start_byte()..name.start_byte());
        let visible = head.is_some_and(|head| head.split_whitespace().any(|w| w == "public"));
        self.b.open_extension(place, ty, None, (0, 0));
        self.extensions.push((place.end_byte, visible));
    }

    /// `Outer.Inner<T>` as a path of names.
    fn type_term(&mut self, name: Node<'_>) -> TermId {
        let text = self.b.text(name);
        let text = text.split('<').next().unwrap_or(text);
        let at = name.start_byte() as u32;
        let mut term = TermId::UNKNOWN;
        for part in text.split('.').map(str::trim).take(16) {
            let sym = self.b.name(part);
            term = self.b.term(if term.is_known() {
                Term::Member(term, sym)
            } else {
                Term::Name(sym, at)
            });
        }
        term
    }

    /// The place of a definition without its attributes.
    fn place(&self, node: Node<'_>) -> Span {
        let mut place = span(node);
        let text = self.b.text(node);
        let (kept, after) = text.split_at(text.trim_end().len());
        place.end_byte = place.start_byte + kept.len() as u32;
        place.end_line -= (after.matches('\n').count() as u32).min(place.end_line - 1);
        let mut cursor = node.walk();
        if !cursor.goto_first_child() {
            return place;
        }
        loop {
            let child = cursor.node();
            if self.outline.attributes.contains(&child.kind()) || child.kind().contains("comment") {
                let more = cursor.goto_next_sibling()
                    || cursor.goto_parent() && cursor.goto_next_sibling();
                if !more {
                    break;
                }
            } else if child.kind() == "modifiers" && cursor.goto_first_child() {
                continue;
            } else {
                place.start_byte = child.start_byte() as u32;
                place.start_line = child.start_position().row as u32 + 1;
                break;
            }
        }
        place
    }

    /// Where the declaration ends and the body begins.
    fn head_end(&self, node: Node<'_>, after: usize) -> usize {
        let body = node.child_by_field_name("body").map(|n| n.start_byte());
        let mut end = body.unwrap_or(node.end_byte());
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).take(MAX_CHILDREN) {
            if child.start_byte() >= end {
                break;
            }
            let ends =
                self.outline.bodies.contains(&child.kind()) || child.kind().contains("comment");
            if ends && child.start_byte() >= after {
                end = child.start_byte();
                break;
            }
        }
        end
    }

    fn setting(&self, pattern: usize, key: &str) -> Option<&str> {
        self.query
            .property_settings(pattern)
            .iter()
            .find(|property| &*property.key == key)
            .map(|property| property.value.as_deref().unwrap_or(""))
    }

    fn definition(&mut self, item: &Item<'_>, kind: NodeKind, end: Option<u32>) {
        let node = item.node;
        let written = item.name.map(|name| trimmed(self.b.text(name)));
        let name: String = match (written, self.setting(item.pattern, "name")) {
            (Some(written), _) => {
                let prefix = self.setting(item.pattern, "prefix").unwrap_or("");
                format!("{prefix}{written}")
            }
            (None, Some(given)) => given.to_string(),
            (None, None) => return,
        };
        let name = crate::facts::one_line(&name, 160);
        if name.is_empty() {
            return;
        }
        let (around, in_extension) = self.around(item);
        let outer = self.b.def(around);
        let (mut outer_kind, mut outer_exported) = (outer.kind, outer.exported);
        let outer_signature = outer.signature.clone().unwrap_or_default();
        if in_extension {
            outer_kind = NodeKind::Struct;
            outer_exported = self.extensions.last().is_some_and(|e| e.1);
        }
        let in_function = matches!(
            outer_kind,
            NodeKind::Function | NodeKind::Method | NodeKind::Test
        );
        let place = self.place(node);
        let name_at = item
            .name
            .map_or(place.start_byte as usize, |n| n.start_byte());
        let source = self.b.source;
        let owner = item.owner.map(|owner| self.b.text(owner));
        let at = At {
            kind,
            name: &name,
            head: cut(
                source.get(node.start_byte()..name_at).unwrap_or(""),
                MAX_HEAD,
            ),
            text: source
                .get(place.start_byte as usize..place.end_byte as usize)
                .unwrap_or(""),
            before: before(source, node.start_byte() as u32),
            outer: outer_kind,
            outer_exported,
            outer_signature: &outer_signature,
            section: self.sections.get(&around).copied().unwrap_or(""),
            owner,
            path: self.path,
        };
        let Some(kind) = (self.outline.kind)(&at) else {
            return;
        };
        let is_value = matches!(
            kind,
            NodeKind::Variable | NodeKind::Constant | NodeKind::Field
        );
        if is_value && in_function {
            return;
        }
        let exported = !in_function && (self.outline.exported)(&at);
        let found = Found {
            kind,
            name: name.clone(),
            place,
            exported,
            owner,
            around,
            in_extension,
            end,
        };
        self.add(item, found);
    }

    /// The definition that the new one is in, and whether by an extension.
    fn around(&self, item: &Item<'_>) -> (DefIx, bool) {
        if self.setting(item.pattern, "outer").is_some()
            && let Some(ty) = self.b.enclosing(|def| is_type(def.kind))
        {
            return (ty, false);
        }
        (self.b.scope(), self.b.extension().is_some())
    }

    fn add(&mut self, item: &Item<'_>, found: Found<'s>) {
        let Found {
            mut kind,
            mut place,
            owner,
            around,
            ..
        } = found;
        let node = item.node;
        let after = item
            .name
            .map_or(place.start_byte as usize, |n| n.end_byte());
        let head_end = self.head_end(node, after);
        let mut parent = around;
        let mut qualifier = String::new();
        match owner {
            Some(owner) if Some(owner) == self.returned => {
                kind = match kind {
                    NodeKind::Method => NodeKind::Function,
                    NodeKind::Field => NodeKind::Variable,
                    kind => kind,
                };
            }
            Some(owner) => match self.named.get(&(around, owner)) {
                Some(known) => parent = *known,
                None => qualifier = format!("{owner}."),
            },
            None => {}
        }
        let mut name = found.name.as_str();
        // `module A::B` is `B`, and says where it is.
        if owner.is_none()
            && matches!(kind, NodeKind::Module | NodeKind::Class)
            && let Some((outer, own)) = name.rsplit_once("::")
            && !own.is_empty()
        {
            qualifier = format!("{}::", outer.trim_start_matches("::"));
            name = own;
        }
        if kind == NodeKind::Variable
            && let Some(key) = self.key(parent, item)
            && self.named.contains_key(&key)
        {
            return;
        }
        let doc = self.pending.take_if(|pending| {
            span(node).start_line <= pending.place.end_line + 1
                && pending.place.end_byte <= place.start_byte
        });
        if doc.is_none() {
            self.flush();
        }
        let doc_text = doc.as_ref().map(|doc| {
            let range = doc.place.start_byte as usize..doc.place.end_byte as usize;
            docs::text(self.b.source.get(range).unwrap_or(""))
        });
        let start = place.start_byte as usize;
        let head = cut(self.b.source.get(start..head_end).unwrap_or(""), MAX_HEAD);
        let signature = self.b.signature(start, start + head.len());
        let signature = signature
            .map(|text| text.trim_end_matches(['{', '=', ':', ';', ' ']).into())
            .filter(|text: &crate::model::Str| !text.is_empty());
        if let Some(end) = found.end {
            place.end_byte = end;
            let inside = &self.b.source[place.start_byte as usize..end as usize];
            place.end_line = place.start_line + inside.trim_end().matches('\n').count() as u32;
        }
        let ext = found.in_extension.then(|| self.b.extension()).flatten();
        let def = self.b.add_to(
            parent,
            ext.filter(|_| parent == around),
            NewDef {
                kind,
                name,
                span: place,
                exported: found.exported,
                signature,
                doc: doc_text.filter(|text| !text.is_empty()),
            },
        );
        if !qualifier.is_empty() {
            self.b.qualify(def, &qualifier);
        }
        if let Some(doc) = doc {
            self.b.words(def, doc.place, TextKind::Doc);
        }
        let is_static =
            self.setting(item.pattern, "static").is_some() || !self.singletons.is_empty();
        if is_static {
            self.b.def_mut(def).flags.set(Flags::STATIC);
        }
        if kind == NodeKind::Test && item.mark == Mark::Def(NodeKind::Test) {
            self.b.def_mut(def).flags.set(Flags::UNNAMED);
        }
        if let Some(key) = self.key(parent, item) {
            self.named.entry(key).or_insert(def);
        }
        let is_value = matches!(
            kind,
            NodeKind::Variable | NodeKind::Constant | NodeKind::Field | NodeKind::TypeAlias
        );
        if item.is_shared {
            return;
        }
        if !is_value || (self.outline.open_variables && kind == NodeKind::Variable) {
            self.b.open(def);
        }
    }

    fn key(&self, scope: DefIx, item: &Item<'_>) -> Option<(DefIx, &'s str)> {
        let name = trimmed(self.b.text(item.name?));
        Some((scope, name))
    }
}

/// A name without what only quotes it.
fn trimmed(name: &str) -> &str {
    name.trim_matches(['`', '"', '\'']).trim_start_matches(':')
}

/// At most `max` bytes of the beginning.
fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// What stands before a byte on its line, as far as that is near.
fn before(source: &str, at: u32) -> &str {
    let text = &source[..at as usize];
    let text = &text[text.floor_char_boundary(text.len().saturating_sub(MAX_BEFORE))..];
    let start = text.rfind('\n').map_or(0, |newline| newline + 1);
    text[start..].trim()
}
