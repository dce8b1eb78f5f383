//! What the path of an import leads to.
//!
//! Languages with crates walk from the crate, the module or a name in scope; those
//! with source roots walk modules from a root, from the importing file's directory,
//! or so many directories up. What leads out of the project stays external, with
//! the outermost module it names.

use super::index::GSym;
use super::lookup::{Found, Lookup, MAX_FOUND};
use super::spaces::SpaceIx;
use crate::facts::Import;
use crate::lang::RULES;
use crate::model::NodeId;

impl Lookup<'_> {
    pub(super) fn resolve_import(&self, file: u32, import: &Import, hops: u32) -> Vec<Found> {
        if self.index.textual(file) {
            return self.textual_import(file, import);
        }
        let mut found = self.import_path(file, import, hops);
        self.keep_own_copies(file, &mut found);
        found
    }

    fn import_path(&self, file: u32, import: &Import, hops: u32) -> Vec<Found> {
        let index = self.index;
        let path: Vec<GSym> = import
            .path
            .iter()
            .map(|sym| index.global_name(file, *sym))
            .collect();
        let closed = index.semantics(file).is_some_and(|s| s.closed_modules);
        let own = index.node(file, import.def);
        let parent = index.facts[file as usize].def(import.def).parent;
        if closed {
            let Some(space) = index.space_around(file, parent) else {
                return Vec::new();
            };
            return self.closed_path(file, space, &path, own, hops);
        }
        self.open_path(file, import, &path, hops)
    }

    /// A path of a language with crates: its first name is looked up like any other.
    fn closed_path(
        &self,
        file: u32,
        space: SpaceIx,
        path: &[GSym],
        own: NodeId,
        hops: u32,
    ) -> Vec<Found> {
        let index = self.index;
        let Some((&first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let mut found = self.relative_root(space, first);
        if found.is_empty() {
            found = self.in_space_except(space, first, Some(own), hops);
        }
        if found.is_empty()
            && let Some(language) = index.language[file as usize]
        {
            found = self.in_roots(language, space, first);
            if found.is_empty() {
                found.push(Found::Ext {
                    module: first,
                    name: first,
                });
            }
        }
        self.walk(found, rest, Some(own), hops)
    }

    /// `crate`, `self` and `super` at the start of a path.
    pub(crate) fn relative_root(&self, space: SpaceIx, first: GSym) -> Vec<Found> {
        let words = &self.index.words;
        let spaces = &self.index.spaces;
        if first == words.krate {
            vec![Found::Space(spaces.get(space).krate)]
        } else if first == words.this {
            vec![Found::Space(space)]
        } else if first == words.above {
            spaces
                .get(space)
                .parent
                .map(Found::Space)
                .into_iter()
                .collect()
        } else {
            Vec::new()
        }
    }

    /// Modules that can be named from anywhere: the own root's, else the nearest.
    pub(crate) fn in_roots(&self, language: usize, from: SpaceIx, name: GSym) -> Vec<Found> {
        let spaces = &self.index.spaces;
        let text = self.index.names.text(name);
        let own = spaces.get(from).top;
        let roots = &spaces.roots[language];
        let child = |root: SpaceIx| spaces.get(root).children.get(&**text).copied();
        if roots.contains(&own)
            && let Some(child) = child(own)
        {
            return vec![Found::Space(child)];
        }
        let children = roots.iter().filter_map(|root| child(*root));
        let mut found: Vec<Found> = children.map(Found::Space).collect();
        if let Some(&file) = spaces.get(from).files.first() {
            self.keep_own_copies(file, &mut found);
        }
        found.truncate(MAX_FOUND);
        found
    }

    /// A path of a language whose imports start at source roots.
    fn open_path(&self, file: u32, import: &Import, path: &[GSym], hops: u32) -> Vec<Found> {
        let index = self.index;
        let Some(own_space) = index.spaces.of_file[file as usize] else {
            return Vec::new();
        };
        let spaces = &index.spaces;
        if import.level > 0 {
            let is_package = index.files[file as usize]
                .path
                .rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with("__init__."));
            let mut up = u32::from(import.level) - u32::from(is_package);
            let mut space = own_space;
            while up > 0 {
                match spaces.get(space).parent {
                    Some(parent) => space = parent,
                    None => return Vec::new(),
                }
                up -= 1;
            }
            return self.walk_modules(vec![Found::Space(space)], path, import, hops);
        }
        let Some((&first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let Some(language) = index.language[file as usize] else {
            return Vec::new();
        };
        let mut found = self.in_roots(language, own_space, first);
        if found.is_empty()
            && let Some(parent) = spaces.get(own_space).parent
        {
            // Scripts import what is beside them, files of a package do not.
            let text = index.names.text(first);
            let is_package = !spaces.get(parent).files.is_empty();
            found.extend(
                spaces
                    .get(parent)
                    .children
                    .get(&**text)
                    .filter(|_| !is_package)
                    .map(|child| Found::Space(*child)),
            );
        }
        if found.is_empty() {
            let name = if import.binds_root {
                first
            } else {
                path.last().copied().unwrap_or(first)
            };
            return vec![Found::Ext {
                module: first,
                name,
            }];
        }
        if import.binds_root {
            return found;
        }
        let Some(whole) = RULES[language].module_value() else {
            return self.walk_modules(found, rest, import, hops);
        };
        let mut all = self.walk_modules(found.clone(), rest, import, hops);
        if let Some(whole) = index.names.find(whole)
            && !import.glob
            && (rest.is_empty() || all.is_empty())
        {
            // A module that is one value, or takes its members from it.
            let values = found
                .iter()
                .flat_map(|from| self.member(*from, whole, None, hops));
            let values: Vec<Found> = values.collect();
            match rest {
                [] => all.extend(values),
                [name] if &**index.names.text(*name) == "default" => {
                    all.extend(values);
                    if all.is_empty() {
                        all.extend(found);
                    }
                }
                [name, ..] => {
                    for value in values {
                        all.extend(self.member(value, *name, None, hops));
                    }
                }
            }
        }
        all
    }

    /// Inner names of a path are modules first, the last one a member first.
    fn walk_modules(
        &self,
        mut found: Vec<Found>,
        path: &[GSym],
        import: &Import,
        hops: u32,
    ) -> Vec<Found> {
        for (i, name) in path.iter().enumerate() {
            let is_last = i + 1 == path.len() && !import.glob;
            let mut next = Vec::new();
            for from in &found {
                if !is_last && let Found::Space(space) = from {
                    let text = self.index.names.text(*name);
                    let spaces = &self.index.spaces;
                    if let Some(child) = spaces.get(*space).children.get(&**text) {
                        next.push(Found::Space(*child));
                        continue;
                    }
                }
                next.extend(self.member(*from, *name, None, hops));
            }
            found = next;
        }
        found
    }

    fn walk(
        &self,
        mut found: Vec<Found>,
        path: &[GSym],
        own: Option<NodeId>,
        hops: u32,
    ) -> Vec<Found> {
        for name in path {
            let mut next = Vec::new();
            for from in &found {
                next.extend(self.member(*from, *name, own, hops));
            }
            next.truncate(MAX_FOUND);
            found = next;
        }
        found
    }
}
