//! Names in files that share a module but not their imports.

use super::index::GSym;
use super::lookup::{Found, Lookup, Via};
use super::spaces::SpaceIx;

impl Lookup<'_> {
    /// A bare name in a file that shares its module but not its imports.
    pub(super) fn file_name(
        &self,
        file: u32,
        space: SpaceIx,
        name: GSym,
    ) -> Option<(Vec<Found>, Via)> {
        let index = self.index;
        let imports = index.own_imports(file);
        let mut found = self.in_container(imports, name, None, 0);
        if !found.is_empty() {
            return Some((found, Via::Import));
        }
        found = self.module_name(file, space, name);
        if !found.is_empty() {
            return Some((found, Via::Scope));
        }
        found = self.in_globs(imports, name, None, 0);
        self.keep_visible(file, &mut found);
        self.keep_own_copies(file, &mut found);
        if found.is_empty() {
            found.extend(self.named_by_itself(file, name));
        }
        if found.is_empty() {
            found.extend(self.in_foreign_globs(file, name, false));
        }
        (!found.is_empty()).then_some((found, Via::Import))
    }

    /// Of what a glob leads to, what its module shows to others.
    fn keep_visible(&self, file: u32, found: &mut Vec<Found>) {
        let index = self.index;
        if index.rules(file).is_some_and(|r| r.globs_bring_exported()) {
            found.retain(|item| match item {
                Found::Node(node) => index.def(*node).exported,
                _ => true,
            });
        }
    }

    /// A member that a file imports by its bare name.
    pub(crate) fn imported_member(&self, file: u32, name: GSym) -> Option<(Vec<Found>, Via)> {
        let imports = self.index.own_imports(file);
        let mut found = self.in_container(imports, name, None, 0);
        if found.is_empty() {
            found = self.in_globs(imports, name, None, 0);
            self.keep_visible(file, &mut found);
        }
        self.keep_own_copies(file, &mut found);
        found.retain(|item| match item {
            Found::Node(node) => self.index.def(*node).kind.is_callable(),
            _ => true,
        });
        (!found.is_empty()).then_some((found, Via::Import))
    }

    /// What only a glob of another module can bring in; members of a class only
    /// where a name is `called`.
    pub(crate) fn in_foreign_globs(&self, file: u32, name: GSym, called: bool) -> Option<Found> {
        let index = self.index;
        let rules = index.rules(file)?;
        if rules.library().is_builtin(index.names.text(name)) {
            return None;
        }
        let globs = index.globs.get(&index.own_imports(file))?;
        let is_type = index.names.text(name).starts_with(char::is_uppercase);
        if !is_type && !called {
            return None;
        }
        globs.iter().find_map(|glob| {
            // Members of a class are imported by saying so.
            let of_class = index
                .def(*glob)
                .signature
                .as_deref()
                .is_some_and(|text| text.starts_with("import static"));
            if of_class == is_type {
                return None;
            }
            let is_foreign = |found: &Found| matches!(found, Found::Ext { .. });
            match self.import_targets(*glob, 0).into_iter().find(is_foreign)? {
                Found::Ext { module, .. } => Some(Found::Ext { module, name }),
                _ => None,
            }
        })
    }

    /// The imported module that calls itself by this name, whatever its path.
    fn named_by_itself(&self, file: u32, name: GSym) -> Option<Found> {
        let index = self.index;
        let text = &**index.names.text(name);
        let mut outside = None;
        for import in &index.facts[file as usize].imports {
            if !import.binds_root {
                continue;
            }
            for target in self.import_targets(index.node(file, import.def), 0) {
                match target {
                    Found::Space(space) if index.spaces.get(space).own_name == text => {
                        return Some(target);
                    }
                    // A path such as `example.com/go-cmp/v2` says its name in part.
                    Found::Ext { module, .. }
                        if text.len() > 2
                            && index
                                .names
                                .text(module)
                                .split(['/', '.', '-'])
                                .any(|part| part == text) =>
                    {
                        outside = outside.or(Some(target));
                    }
                    _ => {}
                }
            }
        }
        outside
    }
}
