//! What a query finds in a file, in source order.
//!
//! The engine gives matches in the order in which they end; they are sorted
//! here, and of several for one name the first pattern's is kept. Time is
//! bounded by counts of the engine's own steps, so that the same file always
//! ends the same way.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::{Node, Query, QueryCursor, QueryCursorOptions, StreamingIterator};

use crate::model::NodeKind;

/// Matches in progress that are kept; deeper nesting loses outer ones.
const MAX_IN_PROGRESS: u32 = 1_024;
/// Steps of the query engine, about 100 operations each, that a file may take.
const MAX_PROGRESS_CALLS: u32 = 400_000;

/// What a capture's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Def(NodeKind),
    Namespace,
    Package,
    Extension,
    Section,
    Hide,
    Singleton,
    Returned,
    Comment,
    String,
    Name,
    Owner,
}

impl Mark {
    pub(super) fn of(name: &str) -> Option<Mark> {
        Some(match name {
            "module" => Mark::Def(NodeKind::Module),
            "class" => Mark::Def(NodeKind::Class),
            "struct" => Mark::Def(NodeKind::Struct),
            "interface" => Mark::Def(NodeKind::Interface),
            "enum" => Mark::Def(NodeKind::Enum),
            "member" => Mark::Def(NodeKind::EnumMember),
            "function" => Mark::Def(NodeKind::Function),
            "field" => Mark::Def(NodeKind::Field),
            "constant" => Mark::Def(NodeKind::Constant),
            "variable" => Mark::Def(NodeKind::Variable),
            "type" => Mark::Def(NodeKind::TypeAlias),
            "macro" => Mark::Def(NodeKind::Macro),
            "test" => Mark::Def(NodeKind::Test),
            "namespace" => Mark::Namespace,
            "package" => Mark::Package,
            "extension" => Mark::Extension,
            "section" => Mark::Section,
            "hide" => Mark::Hide,
            "singleton" => Mark::Singleton,
            "returned" => Mark::Returned,
            "comment" => Mark::Comment,
            "string" => Mark::String,
            "name" => Mark::Name,
            "owner" => Mark::Owner,
            _ => return None,
        })
    }
}

pub(super) struct Item<'t> {
    pub(super) mark: Mark,
    pub(super) node: Node<'t>,
    pub(super) name: Option<Node<'t>>,
    pub(super) owner: Option<Node<'t>>,
    pub(super) pattern: usize,
    /// The node defines several names, so that none of them contains anything.
    pub(super) is_shared: bool,
}

/// All matches in source order, outer first.
pub(super) fn items<'t>(query: &Query, root: Node<'t>, source: &str) -> Option<Vec<Item<'t>>> {
    let marks: Vec<Option<Mark>> = query
        .capture_names()
        .iter()
        .map(|name| Mark::of(name))
        .collect();
    let mut items: Vec<Item<'t>> = Vec::new();
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(MAX_IN_PROGRESS);
    let mut calls = 0u32;
    let mut gave_up = false;
    let mut progress = |_: &tree_sitter::QueryCursorState| {
        calls += 1;
        if calls > MAX_PROGRESS_CALLS {
            gave_up = true;
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = QueryCursorOptions::new().progress_callback(&mut progress);
    let mut matches = cursor.matches_with_options(query, root, source.as_bytes(), options);
    while let Some(found) = matches.next() {
        let (mut name, mut owner, mut main) = (None, None, None);
        for capture in found.captures() {
            match marks.get(capture.index as usize).copied().flatten() {
                Some(Mark::Name) => name = Some(capture.node),
                Some(Mark::Owner) => owner = Some(capture.node),
                Some(mark) => main = Some((mark, capture.node)),
                None => {}
            }
        }
        if let Some((mark, node)) = main {
            items.push(Item {
                mark,
                node,
                name,
                owner,
                pattern: found.pattern_index,
                is_shared: false,
            });
        }
    }
    drop(matches);
    if gave_up {
        return None;
    }
    let mut best: FxHashMap<usize, usize> = FxHashMap::default();
    for item in items
        .iter()
        .filter(|item| matches!(item.mark, Mark::Def(_)))
    {
        let id = item.name.unwrap_or(item.node).id();
        let first = best.entry(id).or_insert(item.pattern);
        *first = (*first).min(item.pattern);
    }
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    items.retain(|item| {
        let id = item.name.unwrap_or(item.node).id();
        !matches!(item.mark, Mark::Def(_)) || (best[&id] == item.pattern && seen.insert(id))
    });
    let mut names: FxHashMap<usize, u32> = FxHashMap::default();
    for item in items
        .iter()
        .filter(|item| matches!(item.mark, Mark::Def(_)))
    {
        *names.entry(item.node.id()).or_default() += 1;
    }
    for item in &mut items {
        item.is_shared = names.get(&item.node.id()).is_some_and(|n| *n > 1);
    }
    sort(&mut items);
    Some(items)
}

fn sort(items: &mut [Item<'_>]) {
    items.sort_by_key(|item| {
        (
            item.node.start_byte(),
            Reverse(item.node.end_byte()),
            item.name.map_or(0, |name| name.start_byte()),
        )
    });
}

/// What two trees of one text say: each name once, by the second where it has it.
pub(super) fn merged<'t>(first: Vec<Item<'t>>, second: Vec<Item<'t>>) -> Vec<Item<'t>> {
    let place = |item: &Item<'_>| item.name.unwrap_or(item.node).start_byte();
    let is_text = |item: &Item<'_>| matches!(item.mark, Mark::Comment | Mark::String);
    let known: FxHashSet<usize> = second
        .iter()
        .filter(|item| !is_text(item))
        .map(place)
        .collect();
    let mut items: Vec<Item<'t>> = second.into_iter().filter(|item| !is_text(item)).collect();
    items.extend(
        first
            .into_iter()
            .filter(|item| is_text(item) || !known.contains(&place(item))),
    );
    sort(&mut items);
    items
}
