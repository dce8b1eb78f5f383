//! The languages that the graph understands, one file (and its parts) each.
//!
//! To add one: write a module that implements [`LanguageRules`], add it to
//! [`RULES`], and name its extensions in the `language` table. Rules only say
//! what a file declares and how the language finds modules; scopes, imports,
//! receivers and states of call sites are the linker's, for all languages alike.

pub(crate) mod c;
mod cpp;
mod csharp;
pub(crate) mod go;
pub(crate) mod java;
mod kotlin;
mod lua;
mod outline;
mod php;
pub(crate) mod python;
mod ruby;
pub(crate) mod rust;
mod scala;
mod shell;
mod swift;
mod terms;
mod typescript;
mod walk;

use tree_sitter::Node;

use crate::facts::Builder;
use crate::language::language_of_file;
use crate::link::{Library, Placement};
use crate::model::{Language, NodeKind, SymbolTier};
use crate::scan::SourceFile;

pub(crate) use walk::{KindTable, walk};

/// What the linker must know about a language beyond its facts.
pub(crate) struct Semantics {
    /// Between the parts of a qualified name.
    pub(crate) separator: &'static str,
    /// A binding is visible only inside its block, from its own place on.
    pub(crate) block_scoped: bool,
    /// Members of the class around a method are visible by their bare name.
    pub(crate) open_classes: bool,
    /// An inner module does not see the names of the outer one.
    pub(crate) closed_modules: bool,
    /// The last of several definitions of one name in one scope is the one meant.
    pub(crate) last_definition_wins: bool,
    /// Fields and methods have names of their own.
    pub(crate) fields_apart: bool,
    /// The module that names of the language itself belong to.
    pub(crate) prelude: &'static str,
    /// The member that is called when a value is called.
    pub(crate) call_member: Option<&'static str>,
}

/// How to read one language.
pub(crate) trait LanguageRules: Send + Sync {
    /// The label in the `language` table.
    fn name(&self) -> &'static str;

    /// What the graph holds for it.
    fn tier(&self) -> SymbolTier {
        SymbolTier::Full
    }

    /// The grammar for a path; languages with dialects choose here.
    fn grammar(&self, path: &str) -> tree_sitter::Language;

    /// Writes what the file declares. Must not recurse on the depth of the tree.
    fn extract<'s>(&self, root: Node<'_>, path: &str, facts: &mut Builder<'s>);

    /// The language's constants.
    fn semantics(&self) -> &'static Semantics;

    /// What is known of its standard library.
    fn library(&self) -> &'static dyn Library;

    /// Puts the language's files into the tree of modules.
    fn place(&self, placement: &mut Placement<'_>);

    /// Several files are one module, and each sees its own imports only.
    fn imports_by_file(&self) -> bool {
        false
    }

    /// Importing all of a module brings in what it exports, and no more.
    fn globs_bring_exported(&self) -> bool {
        false
    }

    /// A type implements an interface by having its methods.
    fn structural(&self) -> bool {
        false
    }

    /// A variable without a declared type can be given values of any type.
    fn loose_values(&self) -> bool {
        false
    }

    /// One name can be a type and, as another definition, a value.
    fn types_apart(&self) -> bool {
        false
    }

    /// Inside a type's body, its members are visible by their bare names.
    fn bodies_see_members(&self) -> bool {
        true
    }

    /// A text to read in place of one that has syntax errors, of the same length and
    /// lines; `None` where it would not help.
    fn mended(&self, text: &str) -> Option<String> {
        let _ = text;
        None
    }

    /// Between a qualified name and the one inside it, given the kinds of what
    /// they name (`None` for a module of files) and whether the inner one needs
    /// no receiver.
    fn joint(&self, outer: Option<NodeKind>, own: NodeKind, is_static: bool) -> &'static str {
        let _ = (outer, own, is_static);
        self.semantics().separator
    }

    /// Members that are added to a type of others are named by that type alone.
    fn plain_extensions(&self) -> bool {
        false
    }

    /// The text as it is parsed, of the same length; `None` for the text itself.
    fn parsed_text(&self, text: &str) -> Option<String> {
        let _ = text;
        None
    }

    /// Files are included as text: all names are of one program, and what a
    /// file sees of them is what it includes.
    fn textual(&self) -> bool {
        false
    }

    /// The member of a module that stands for it where all of it is imported.
    fn module_value(&self) -> Option<&'static str> {
        None
    }
}

/// Every language with rules.
pub(crate) static RULES: &[&dyn LanguageRules] = &[
    &rust::Rust,
    &python::Python,
    &typescript::TypeScript,
    &typescript::JavaScript,
    &go::Go,
    &java::Java,
    &csharp::CSHARP,
    &kotlin::KOTLIN,
    &lua::LUA,
    &php::PHP,
    &ruby::RUBY,
    &scala::SCALA,
    &shell::SHELL,
    &swift::SWIFT,
    &c::C,
    &cpp::Cpp,
    &cpp::Cuda,
];

/// Those that are read for their definitions only.
#[cfg(test)]
pub(crate) static OUTLINES: [&outline::Outline; 8] = [
    &csharp::CSHARP,
    &kotlin::KOTLIN,
    &lua::LUA,
    &php::PHP,
    &ruby::RUBY,
    &scala::SCALA,
    &shell::SHELL,
    &swift::SWIFT,
];

/// Index into [`RULES`] of the language of a file.
fn rules_for(file: &SourceFile) -> Option<usize> {
    let name = language_of_file(file)?;
    RULES.iter().position(|rules| rules.name() == name)
}

/// Index into [`RULES`] of the language of each file of a tree. A header that C
/// and C++ name alike is of the language that the tree or its text shows.
pub(crate) fn rules_of_tree(files: &[SourceFile]) -> Vec<Option<usize>> {
    let all_cpp = cpp::only_cpp(files.iter().map(|file| &*file.path));
    let cpp = RULES.iter().position(|rules| rules.name() == "C++");
    files
        .iter()
        .map(|file| {
            let is_shared = file.path.len() > 2
                && file.path.as_bytes()[file.path.len() - 2..].eq_ignore_ascii_case(b".h");
            if is_shared && (all_cpp || cpp::is_cpp_header(&file.text)) {
                return cpp;
            }
            rules_for(file)
        })
        .collect()
}

/// The label and tier of a file, with the rules that read it.
pub(crate) fn language_of(file: &SourceFile, rules: Option<usize>) -> Option<Language> {
    match rules {
        Some(i) => Some(Language {
            name: RULES[i].name(),
            tier: RULES[i].tier(),
        }),
        None => Some(Language {
            name: language_of_file(file)?,
            tier: SymbolTier::Text,
        }),
    }
}
