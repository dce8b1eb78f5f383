//! Languages whose files are included as text: C and C++.
//!
//! All files are one program and a namespace is one across files, so a name is
//! looked for in the whole program and then held against what the asking file
//! sees: itself and what it includes, and where it is itself included, what
//! those see that include it. A type that no include leads to is taken all the
//! same when there is only one; a function or macro is not.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use super::index::{Container, GSym, Index};
use super::lookup::{Found, Lookup, Via};
use super::relations::is_function;
use super::spaces::{Placement, SpaceIx};
use crate::facts::{DefIx, ExtIx, Import};
use crate::model::{NodeId, NodeKind};

/// Files that include a file, looked at for what they see.
const MAX_INCLUDERS: usize = 48;
/// Members of one name that are looked at.
const MAX_KEPT: usize = 64;
/// Using declarations of one name that are followed.
const MAX_USINGS: u32 = 4;
/// Candidates kept for one name.
const MAX_FOUND: usize = 16;

/// Where something that is defined outside of it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Home {
    /// A class, by its file.
    Node(u32, DefIx),
    /// A namespace.
    Space(SpaceIx),
}

/// Whether a name can stand before `::`.
pub(super) fn leads_on(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Class
            | NodeKind::Struct
            | NodeKind::Enum
            | NodeKind::Interface
            | NodeKind::TypeAlias
            | NodeKind::Module
    )
}

impl Placement<'_> {
    /// The module of all files that are included as text.
    pub(crate) fn program(&mut self) -> SpaceIx {
        match self.spaces.program {
            Some(space) => space,
            None => {
                let space = self.detached("");
                self.spaces.program = Some(space);
                space
            }
        }
    }

    /// The files put into it so far.
    pub(crate) fn program_files(&self) -> &[u32] {
        match self.spaces.program {
            Some(space) => &self.spaces.get(space).files,
            None => &[],
        }
    }

    pub(crate) fn say_includes(&mut self, file: u32, found: Vec<(DefIx, u32)>) {
        if !found.is_empty() {
            self.spaces.includes.insert(file, found);
        }
    }

    pub(crate) fn say_used(&mut self, file: u32, used: Vec<SpaceIx>) {
        if !used.is_empty() {
            self.spaces.used.insert(file, used);
        }
    }

    pub(crate) fn used(&self, file: u32) -> &[SpaceIx] {
        self.spaces.used.get(&file).map_or(&[], |used| used)
    }

    pub(crate) fn say_home(&mut self, file: u32, ext: ExtIx, home: Home) {
        self.spaces.homes.insert((file, ext), home);
    }

    /// The module that a definition opens.
    pub(crate) fn opened(&self, file: u32, def: DefIx) -> Option<SpaceIx> {
        self.spaces.of_def.get(&(file, def)).copied()
    }

    pub(crate) fn parent(&self, space: SpaceIx) -> Option<SpaceIx> {
        self.spaces.get(space).parent
    }

    pub(crate) fn inner(&self, space: SpaceIx, name: &str) -> Option<SpaceIx> {
        self.spaces.get(space).children.get(name).copied()
    }

    pub(crate) fn prefix(&self, space: SpaceIx) -> &str {
        &self.spaces.get(space).prefix
    }

    /// What a file includes, directly or not.
    pub(crate) fn seen_from(&self, file: u32) -> Vec<u32> {
        reach(file, |file| {
            self.spaces.includes.get(&file).map_or(&[], |list| list)
        })
    }
}

/// A file and what it includes, sorted.
fn reach<'a>(file: u32, includes: impl Fn(u32) -> &'a [(DefIx, u32)]) -> Vec<u32> {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    seen.insert(file);
    let mut todo = vec![file];
    while let Some(next) = todo.pop() {
        for (_, target) in includes(next) {
            if seen.insert(*target) {
                todo.push(*target);
            }
        }
    }
    let mut all: Vec<u32> = seen.into_iter().collect();
    all.sort_unstable();
    all
}

/// What each file sees, worked out when it is first asked for.
pub(super) struct Sight {
    seen: Vec<OnceLock<Box<[u32]>>>,
    around: Vec<OnceLock<Box<[u32]>>>,
    included_by: Vec<Vec<u32>>,
}

impl Sight {
    pub(super) fn new(index: &Index<'_>) -> Self {
        let count = if index.spaces.program.is_some() {
            index.files.len()
        } else {
            0
        };
        let mut included_by = vec![Vec::new(); count];
        for (file, list) in &index.spaces.includes {
            for (_, target) in list {
                if let Some(by) = included_by.get_mut(*target as usize) {
                    by.push(*file);
                }
            }
        }
        for by in &mut included_by {
            by.sort_unstable();
            by.dedup();
        }
        Sight {
            seen: (0..count).map(|_| OnceLock::new()).collect(),
            around: (0..count).map(|_| OnceLock::new()).collect(),
            included_by,
        }
    }
}

impl Lookup<'_> {
    fn seen(&self, file: u32) -> &[u32] {
        let includes = &self.index.spaces.includes;
        match self.sight.seen.get(file as usize) {
            Some(cell) => {
                cell.get_or_init(|| reach(file, |f| includes.get(&f).map_or(&[], |l| l)).into())
            }
            None => &[],
        }
    }

    /// What those see that include a file.
    fn around(&self, file: u32) -> &[u32] {
        let Some(cell) = self.sight.around.get(file as usize) else {
            return &[];
        };
        cell.get_or_init(|| {
            let mut by: Vec<u32> = Vec::new();
            let mut todo = vec![file];
            let mut at = 0;
            while at < todo.len() && by.len() < MAX_INCLUDERS {
                for next in &self.sight.included_by[todo[at] as usize] {
                    if *next != file && !by.contains(next) && by.len() < MAX_INCLUDERS {
                        by.push(*next);
                        todo.push(*next);
                    }
                }
                at += 1;
            }
            let mut all: Vec<u32> = by.iter().flat_map(|f| self.seen(*f)).copied().collect();
            all.sort_unstable();
            all.dedup();
            all.into()
        })
    }

    /// The file that an include names, or what a using declaration leads to.
    pub(super) fn textual_import(&self, file: u32, import: &Import) -> Vec<Found> {
        let index = self.index;
        let def = index.facts[file as usize].def(import.def);
        if import.path.is_empty() {
            return self.static_path(file, def.parent, def.ty);
        }
        let includes = index.spaces.includes.get(&file);
        let mut targets = includes.into_iter().flatten();
        let target = targets.find(|(include, _)| *include == import.def);
        target
            .map(|(_, target)| Found::Node(index.node(*target, DefIx::ROOT)))
            .into_iter()
            .collect()
    }

    /// Whether a file sees another by what it includes.
    pub(super) fn sees(&self, from: u32, file: u32) -> bool {
        from == file || self.seen(from).binary_search(&file).is_ok()
    }

    /// Keeps those of some nodes that are in some files, both in order; what there
    /// is less of is looked through.
    fn keep_of(&self, nodes: &[NodeId], files: &[u32], kept: &mut Vec<NodeId>) {
        let index = self.index;
        if nodes.len() <= files.len() {
            for node in nodes {
                let file = index.file_of[node.0 as usize];
                if kept.len() < MAX_KEPT && files.binary_search(&file).is_ok() {
                    kept.push(*node);
                }
            }
            return;
        }
        for file in files {
            let (start, end) = (index.base[*file as usize], index.base[*file as usize + 1]);
            let from = nodes.partition_point(|n| n.0 < start);
            for node in nodes[from..].iter().take_while(|n| n.0 < end) {
                if kept.len() >= MAX_KEPT {
                    return;
                }
                kept.push(*node);
            }
        }
    }

    /// The members of a container that a file sees.
    pub(super) fn textual_members(
        &self,
        from: u32,
        container: Container,
        name: GSym,
    ) -> Vec<Found> {
        let index = self.index;
        let nodes = index.members.named(container, name);
        if nodes.is_empty() {
            return Vec::new();
        }
        let mut kept: Vec<NodeId> = Vec::new();
        if matches!(container, Container::Node(_)) {
            kept.extend(nodes.iter().take(MAX_KEPT));
        } else {
            self.keep_of(nodes, &[from], &mut kept);
            self.keep_of(nodes, self.seen(from), &mut kept);
            if kept.is_empty() {
                self.keep_of(nodes, self.around(from), &mut kept);
            }
            kept.sort_unstable();
            kept.dedup();
        }
        if kept.is_empty() {
            let mut types = nodes.iter().filter(|node| {
                matches!(
                    index.def(**node).kind,
                    NodeKind::Struct | NodeKind::Class | NodeKind::Enum | NodeKind::TypeAlias
                )
            });
            if let (Some(one), None) = (types.next(), types.next()) {
                kept.push(*one);
            }
        }
        let mut found: Vec<Found> = Vec::new();
        let mut imports = 0;
        for node in kept {
            let def = index.def(node);
            let targets = if def.kind == NodeKind::Import {
                imports += 1;
                if imports > MAX_USINGS {
                    continue;
                }
                self.import_targets(node, 0)
            } else {
                vec![Found::Node(node)]
            };
            for item in targets {
                if !found.contains(&item) && found.len() < MAX_FOUND {
                    found.push(item);
                }
            }
        }
        found
    }

    /// What a file sees of a module under a name.
    pub(super) fn textual_in_space(&self, from: u32, space: SpaceIx, name: GSym) -> Vec<Found> {
        let mut found = self.textual_members(from, Container::Space(space), name);
        let text = self.index.names.text(name);
        if let Some(child) = self.index.spaces.get(space).children.get(&**text) {
            found.push(Found::Space(*child));
        }
        found
    }

    /// A static member as a file sees it.
    pub(super) fn textual_member(&self, from: u32, of: Found, name: GSym) -> Vec<Found> {
        match of {
            Found::Space(space) => self.textual_in_space(from, space, name),
            Found::Ext { module, .. } => vec![Found::Ext { module, name }],
            Found::Node(node) => {
                let (file, ix) = self.index.place_of(node);
                match self.index.spaces.of_def.get(&(file, ix)) {
                    Some(space) => self.textual_in_space(from, *space, name),
                    None => self.textual_members(from, Container::Node(node), name),
                }
            }
        }
    }

    /// Keeps what is declared before a byte of a file: what a function declares is
    /// not visible before it. 0 and [`u32::MAX`] stand for no place.
    pub(super) fn keep_begun(&self, file: u32, at: u32, found: &mut Vec<Found>) {
        found.retain(|item| match item {
            Found::Node(node) => {
                at == 0
                    || self.index.file_of[node.0 as usize] != file
                    || self.index.def(*node).span.start_byte <= at
            }
            _ => true,
        });
    }

    /// A bare name as seen from a byte in a definition, bases apart; one that stands
    /// before `::`, at 0, is looked for in namespaces, and only types and namespaces
    /// are meant.
    pub(super) fn textual_name(
        &self,
        file: u32,
        scope: DefIx,
        name: GSym,
        at: u32,
    ) -> Option<(Vec<Found>, Via)> {
        let before_path = at == 0;
        let index = self.index;
        let program = index.spaces.program?;
        if &**index.names.text(name) == "::" {
            return Some((vec![Found::Space(program)], Via::Scope));
        }
        let mut space = program;
        for container in self.containers(file, scope) {
            match container {
                Container::Node(node) => {
                    if before_path {
                        continue;
                    }
                    let mut found = self.textual_members(file, container, name);
                    if is_function(index.def(node).kind) {
                        self.keep_begun(file, at, &mut found);
                    }
                    if index.name_of(node) == index.names.text(name) {
                        // Constructors are not found by their name.
                        found.retain(|item| match item {
                            Found::Node(node) => !is_function(index.def(*node).kind),
                            _ => true,
                        });
                    }
                    if !found.is_empty() {
                        return Some((found, Via::Scope));
                    }
                }
                Container::Space(inner) => {
                    space = inner;
                    break;
                }
            }
        }
        let used = index.spaces.used.get(&file);
        let mut next = Some(space);
        while let Some(space) = next {
            let mut found = self.textual_in_space(file, space, name);
            next = index.spaces.get(space).parent;
            if next.is_none() && space != program {
                next = Some(program);
            }
            if next.is_none() && found.is_empty() {
                for space in used.into_iter().flatten() {
                    found.extend(self.textual_in_space(file, *space, name));
                }
            }
            if before_path {
                found.retain(|item| match item {
                    Found::Node(node) => leads_on(index.def(*node).kind),
                    _ => true,
                });
            }
            if !found.is_empty() {
                let own = found.iter().any(|item| match item {
                    Found::Node(node) => index.file_of[node.0 as usize] == file,
                    _ => false,
                });
                let via = if own { Via::Scope } else { Via::Import };
                return Some((found, via));
            }
        }
        None
    }

    /// The functions and classes around a place, nearest first, then the
    /// namespace that they are in.
    pub(super) fn containers(&self, file: u32, scope: DefIx) -> Vec<Container> {
        let index = self.index;
        let mut all = Vec::new();
        let (mut file, mut ix) = (file, scope);
        for _ in 0..256 {
            let Some(container) = index.container(file, ix) else {
                return all;
            };
            all.push(container);
            if matches!(container, Container::Space(_)) {
                return all;
            }
            let def = index.facts[file as usize].def(ix);
            match def.ext.and_then(|ext| index.home(file, ext)) {
                Some(Container::Node(class)) => (file, ix) = index.place_of(class),
                Some(space) => {
                    all.push(space);
                    return all;
                }
                None => ix = def.parent,
            }
        }
        all
    }
}
