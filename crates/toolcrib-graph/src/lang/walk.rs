//! Walking a tree without recursion, and node kinds as small enums.

use tree_sitter::{Language, Node};

/// Visits nodes in source order, outer first; `enter` says whether to go inside.
///
/// The second argument is the name of the field that the node fills.
pub(crate) fn walk<'t>(root: Node<'t>, mut enter: impl FnMut(Node<'t>, Option<&str>) -> bool) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let inside = if node.is_named() {
            enter(node, cursor.field_name())
        } else {
            node.is_error()
        };
        if inside && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Node kinds of one grammar by their number, so that dispatch is an index.
pub(crate) struct KindTable<K>(Vec<K>);

impl<K: Copy> KindTable<K> {
    pub(crate) fn new(language: &Language, known: &[(&str, K)], other: K) -> Self {
        let kind = |id: usize| {
            let id = id as u16;
            let name = language.node_kind_for_id(id)?;
            if !language.node_kind_is_named(id) {
                return None;
            }
            known.iter().find(|(k, _)| *k == name).map(|(_, k)| *k)
        };
        KindTable(
            (0..language.node_kind_count())
                .map(|id| kind(id).unwrap_or(other))
                .collect(),
        )
    }

    /// `other` for the kinds that the table does not name, errors among them.
    pub(crate) fn of(&self, node: Node<'_>, other: K) -> K {
        self.0
            .get(node.kind_id() as usize)
            .copied()
            .unwrap_or(other)
    }
}
