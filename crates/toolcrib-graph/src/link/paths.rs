//! Where a path of names begins and leads, without inference.

use super::index::GSym;
use super::lookup::{Found, Lookup, refill_outermost};
use crate::facts::{DefIx, Term, TermId};
use crate::lang::RULES;

impl Lookup<'_> {
    /// A path of names without inference: for bases and extended types.
    pub(crate) fn static_path(&self, file: u32, scope: DefIx, term: TermId) -> Vec<Found> {
        refill_outermost();
        let textual = self.index.textual(file);
        let facts = &self.index.facts[file as usize];
        let mut names = Vec::new();
        let mut term = term;
        loop {
            match facts.terms[term.0 as usize] {
                Term::Apply(base, _) | Term::Inst(base) => term = base,
                Term::Member(base, name) | Term::Method(base, name) => {
                    names.push(self.index.global_name(file, name));
                    term = base;
                }
                Term::Name(sym, _) => {
                    let name = self.index.global_name(file, sym);
                    let mut found = self.root_of(file, scope, name);
                    while let Some(name) = names.pop() {
                        let mut next = Vec::new();
                        for from in &found {
                            if textual {
                                next.extend(self.textual_member(file, *from, name));
                            } else {
                                next.extend(self.member(*from, name, None, 0));
                            }
                        }
                        found = next;
                        self.keep_own_copies(file, &mut found);
                    }
                    return found;
                }
                Term::Builtin(sym) => {
                    let name = self.index.global_name(file, sym);
                    return self.builtin(file, name).into_iter().collect();
                }
                _ => return Vec::new(),
            }
        }
    }

    /// The first name of a path: relative, in scope, a root, the language's own.
    pub(crate) fn root_of(&self, file: u32, scope: DefIx, name: GSym) -> Vec<Found> {
        if let Some(space) = self.index.space_around(file, scope)
            && self.index.semantics(file).is_some_and(|s| s.closed_modules)
        {
            let found = self.relative_root(space, name);
            if !found.is_empty() {
                return found;
            }
        }
        if let Some((found, _)) = self.scoped(file, scope, name) {
            return found;
        }
        self.beyond(file, scope, name)
    }

    /// Names that no scope has: crates, the language's own.
    pub(crate) fn beyond(&self, file: u32, scope: DefIx, name: GSym) -> Vec<Found> {
        if self.index.semantics(file).is_some_and(|s| s.closed_modules)
            && let Some(language) = self.index.language[file as usize]
            && let Some(space) = self.index.space_around(file, scope)
        {
            let found = self.in_roots(language, space, name);
            if !found.is_empty() {
                return found;
            }
        }
        let text = self.index.names.text(name);
        // A package that is named in full.
        if text.contains('.')
            && self.index.rules(file).is_some_and(|r| r.imports_by_file())
            && let Some(language) = self.index.language[file as usize]
            && let Some(space) = self.index.space_around(file, scope)
        {
            let found = self.in_roots(language, space, name);
            if found.is_empty() {
                return vec![Found::Ext { module: name, name }];
            }
            return found;
        }
        let is_builtin = self.index.language[file as usize]
            .is_some_and(|language| RULES[language].library().is_builtin(text));
        if is_builtin {
            self.builtin(file, name).into_iter().collect()
        } else {
            Vec::new()
        }
    }

    pub(crate) fn builtin(&self, file: u32, name: GSym) -> Option<Found> {
        let language = self.index.language[file as usize]?;
        Some(Found::Ext {
            module: self.index.words.prelude[language],
            name,
        })
    }
}
