//! What Go's own types and functions give.

use crate::link::{Library, OPAQUE, Seen, Shapes, Special, Ty};

pub(super) struct GoLibrary;

/// Sorted.
const TYPES: &[&str] = &[
    "any",
    "bool",
    "byte",
    "comparable",
    "complex128",
    "complex64",
    "error",
    "float32",
    "float64",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "rune",
    "string",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintptr",
];

/// Sorted.
const FUNCTIONS: &[&str] = &[
    "append", "cap", "clear", "close", "complex", "copy", "delete", "false", "imag", "iota", "len",
    "make", "max", "min", "new", "nil", "panic", "print", "println", "real", "recover", "true",
];

const WORDS: &[&str] = &[
    "[]", "map", "chan", "string", "int", "rune", "bool", "error", OPAQUE,
];

/// Functions whose result is of what they are given.
const LIKE_FIRST: &[&str] = &[
    "Clip",
    "Clone",
    "Compact",
    "CompactFunc",
    "Delete",
    "DeleteFunc",
    "Grow",
    "Insert",
    "Replace",
    "Sorted",
    "append",
    "max",
    "min",
];

pub(super) fn is_type_name(name: &str) -> bool {
    TYPES.binary_search(&name).is_ok()
}

impl Library for GoLibrary {
    fn words(&self) -> &'static [&'static str] {
        WORDS
    }

    fn is_builtin(&self, name: &str) -> bool {
        is_type_name(name) || FUNCTIONS.binary_search(&name).is_ok()
    }

    fn instance(&self, name: &str, _args: &[Ty]) -> Option<Special> {
        // Anything may be in it; only an assertion says what.
        (name == "any").then_some(Special::Value(Ty::Unknown))
    }

    fn method(&self, shapes: &Shapes<'_>, value: Seen<'_>, name: &str, given: &[Ty]) -> Ty {
        match name {
            "Load" | "Swap" | "Get" | "Value" if value.args.len() == 1 => return value.arg(0),
            _ => {}
        }
        if given.iter().any(holds_project) || value.args.iter().any(Ty::is_known) {
            return Ty::Unknown;
        }
        match (value.head, name) {
            ("error", "Error") => shapes.value("string", Vec::new()),
            // What a container of anything holds is only known to its user.
            ("Pool" | "Map" | "List" | "Element" | "Value", _) => Ty::Unknown,
            _ => shapes.opaque(),
        }
    }

    fn call(
        &self,
        shapes: &Shapes<'_>,
        callee: Seen<'_>,
        _owner: &str,
        name: &str,
        given: &[Ty],
    ) -> Ty {
        let first = given.first().cloned().unwrap_or(Ty::Unknown);
        if callee.is_standard {
            return match name {
                "append" | "max" | "min" => first,
                "len" | "cap" | "copy" => shapes.value("int", Vec::new()),
                "recover" | "any" => Ty::Unknown,
                _ if is_type_name(name) => instance(&callee),
                _ => Ty::Unknown,
            };
        }
        if LIKE_FIRST.binary_search(&name).is_ok() && first.is_known() {
            return first;
        }
        // A generic function may give back what it was given, and a function of
        // another module can only give a type of this one through one of those.
        if given.iter().any(holds_project) {
            return Ty::Unknown;
        }
        shapes.opaque()
    }

    fn element(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        match value.head {
            "map" | "Seq2" => value.arg(1),
            "[]" | "chan" => value.arg(0),
            OPAQUE => value.whole.clone(),
            _ => Ty::Unknown,
        }
    }

    fn indexed(&self, shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        match value.head {
            "map" => value.arg(1),
            "[]" => value.arg(0),
            "string" => shapes.value("int", Vec::new()),
            // Several results of a library function are all the library's.
            OPAQUE => value.whole.clone(),
            _ => Ty::Unknown,
        }
    }

    fn passed(&self, shapes: &Shapes<'_>, value: Seen<'_>, method: &str, place: u8) -> Ty {
        if method != "range" || place != 0 {
            return Ty::Unknown;
        }
        match value.head {
            "map" | "chan" | "Seq" | "Seq2" => value.arg(0),
            "[]" | "string" | "int" => shapes.value("int", Vec::new()),
            _ => Ty::Unknown,
        }
    }

    fn target(&self, _value: Seen<'_>) -> Option<Ty> {
        None
    }
}

fn instance(callee: &Seen<'_>) -> Ty {
    match callee.whole {
        Ty::Ext {
            module, name, args, ..
        } => Ty::Ext {
            module: *module,
            name: *name,
            args: args.clone(),
            inst: true,
        },
        _ => Ty::Unknown,
    }
}

/// Whether a value may hand something of the project through.
fn holds_project(ty: &Ty) -> bool {
    ty.each().iter().any(|ty| match ty {
        Ty::Inst(..) | Ty::Def(..) | Ty::Bound(..) | Ty::Param { .. } | Ty::This => true,
        Ty::Ext { args, .. } => args.iter().any(holds_project),
        Ty::Tuple(parts) => parts.iter().any(holds_project),
        Ty::Closure(result) => holds_project(result),
        _ => false,
    })
}
