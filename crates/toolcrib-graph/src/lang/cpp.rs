//! C++: what it has beyond C.
//!
//! Every `call_expression` and every `new` is a call site, and so is what makes a
//! value of a named type: `T x(…)`, `T x{…}`, `T{…}`. A call of a type goes to the
//! constructor that takes as many arguments, or to the class when none is declared.
//! What is written without a call, `T x;` and the bases and members before the body
//! of a constructor, is one where a class of the project is made, and else none.
//! Overloads are told apart by the number of arguments alone. A method defined
//! outside of its class belongs to the class. Calls of virtual methods
//! that something overrides are dynamic. Templates are read as they are written:
//! arguments are carried along, nothing is specialised. Operators that are used
//! as such are no call sites.

mod classes;
mod headers;
mod library;
mod spaces;

use tree_sitter::Node;

use super::c::{Kinds, mask, place, read};
use super::{LanguageRules, Semantics};
use crate::facts::Builder;
use crate::link::{Library, Placement};

pub(super) use headers::{is_cpp_header, only_cpp};

/// The rules for C++.
pub(crate) struct Cpp;

/// The rules for CUDA, which are those of C++.
pub(crate) struct Cuda;

static SEMANTICS: Semantics = Semantics {
    separator: "::",
    block_scoped: true,
    open_classes: false,
    closed_modules: false,
    last_definition_wins: false,
    fields_apart: false,
    prelude: "std",
    call_member: Some("operator()"),
};

macro_rules! rules {
    ($rules:ident, $name:literal) => {
        impl LanguageRules for $rules {
            fn name(&self) -> &'static str {
                $name
            }

            fn grammar(&self, _path: &str) -> tree_sitter::Language {
                tree_sitter_cpp::LANGUAGE.into()
            }

            fn extract<'s>(&self, root: Node<'_>, _path: &str, facts: &mut Builder<'s>) {
                read(root, facts, Kinds::cpp(), true);
            }

            fn semantics(&self) -> &'static Semantics {
                &SEMANTICS
            }

            fn library(&self) -> &'static dyn Library {
                &library::CppLibrary
            }

            fn place(&self, placement: &mut Placement<'_>) {
                place(placement);
            }

            fn parsed_text(&self, text: &str) -> Option<String> {
                mask(text)
            }

            fn textual(&self) -> bool {
                true
            }
        }
    };
}

rules!(Cpp, "C++");
rules!(Cuda, "CUDA");
