//! Shapes of C++'s library: what its containers hold and its pointers lend.

use crate::lang::c::is_known;
use crate::link::{Library, OPAQUE, Seen, Shapes, Special, Ty};

pub(super) struct CppLibrary;

const WORDS: &[&str] = &[
    "array",
    "auto_ptr",
    "bool",
    "char",
    "deque",
    "int",
    "iterator",
    "list",
    "map",
    "optional",
    "set",
    "shared_ptr",
    "stack",
    "string",
    "unique_ptr",
    "unordered_map",
    "unordered_set",
    "vector",
    "weak_ptr",
    OPAQUE,
];

/// Words of the language that look like calls, and its namespace.
const OWN: &[&str] = &[
    "const_cast",
    "dynamic_cast",
    "noexcept",
    "reinterpret_cast",
    "static_cast",
    "std",
    "typeid",
];

/// Types that lend the members of what they point to.
const POINTERS: &[&str] = &[
    "__shared_ptr",
    "auto_ptr",
    "expected",
    "iterator",
    "optional",
    "reference_wrapper",
    "shared_ptr",
    "unique_ptr",
    "weak_ptr",
];

const SEQUENCES: &[&str] = &[
    "array",
    "deque",
    "forward_list",
    "initializer_list",
    "list",
    "multiset",
    "priority_queue",
    "queue",
    "set",
    "span",
    "stack",
    "unordered_multiset",
    "unordered_set",
    "valarray",
    "vector",
];

const MAPS: &[&str] = &["map", "multimap", "unordered_map", "unordered_multimap"];

fn held(value: Seen<'_>) -> Ty {
    if value.head == "unique_ptr" || SEQUENCES.contains(&value.head) {
        value.arg(0)
    } else if MAPS.contains(&value.head) {
        Ty::Tuple([value.arg(0), value.arg(1)].into())
    } else {
        Ty::Unknown
    }
}

fn is_class(name: &str) -> bool {
    POINTERS.contains(&name)
        || SEQUENCES.contains(&name)
        || MAPS.contains(&name)
        || name == "string"
}

/// A value of a type that was written as an argument.
fn value_of(ty: &Ty) -> Ty {
    match ty {
        Ty::Def(node, args) => Ty::Inst(*node, args.clone()),
        Ty::Ext {
            module, name, args, ..
        } => Ty::Ext {
            module: *module,
            name: *name,
            args: args.clone(),
            inst: true,
        },
        other => other.clone(),
    }
}

impl Library for CppLibrary {
    fn words(&self) -> &'static [&'static str] {
        WORDS
    }

    fn is_builtin(&self, name: &str) -> bool {
        OWN.contains(&name) || is_known(name)
    }

    fn instance(&self, name: &str, args: &[Ty]) -> Option<Special> {
        match (name, args) {
            ("pair" | "tuple", [_, _, ..]) => Some(Special::Value(Ty::Tuple(
                args.iter().map(value_of).collect(),
            ))),
            ("function", [Ty::Closure(result)]) => {
                Some(Special::Value(Ty::Closure(result.clone())))
            }
            _ => None,
        }
    }

    fn method(&self, shapes: &Shapes<'_>, value: Seen<'_>, name: &str, _given: &[Ty]) -> Ty {
        match name {
            "begin" | "end" | "rbegin" | "rend" | "cbegin" | "cend" | "find" | "lower_bound"
            | "upper_bound" | "erase" | "insert" => match held(value) {
                Ty::Unknown => Ty::Unknown,
                held => shapes.value("iterator", vec![held]),
            },
            "front" | "back" | "top" | "emplace_back" => held(value),
            "at" => self.indexed(shapes, value),
            "get" | "release" | "value" if POINTERS.contains(&value.head) => value.arg(0),
            "lock" if value.head == "weak_ptr" => shapes.value("shared_ptr", vec![value.arg(0)]),
            "str" | "substr" => shapes.value("string", Vec::new()),
            _ => Ty::Unknown,
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
        let made = || callee.args.first().map_or(Ty::Unknown, value_of);
        match name {
            "make_unique" => shapes.value("unique_ptr", vec![made()]),
            "make_shared" => shapes.value("shared_ptr", vec![made()]),
            "dynamic_pointer_cast" | "static_pointer_cast" => {
                shapes.value("shared_ptr", vec![made()])
            }
            "get" | "any_cast" | "get_if" | "declval" => made(),
            "move" | "forward" | "max" | "min" | "ref" | "cref" | "addressof" | "exchange"
            | "as_const" | "clamp" => given.first().cloned().unwrap_or(Ty::Unknown),
            // A type that is called makes a value of itself.
            _ if is_class(name) => match callee.whole {
                Ty::Ext { name: _, args, .. } => {
                    shapes.value(name, args.iter().map(value_of).collect())
                }
                _ => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }

    fn element(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        held(value)
    }

    fn indexed(&self, shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        if MAPS.contains(&value.head) {
            return value.arg(1);
        }
        if value.head.ends_with("string") {
            return shapes.value("char", Vec::new());
        }
        match held(value) {
            Ty::Unknown => value.whole.clone(),
            held => held,
        }
    }

    fn passed(&self, _shapes: &Shapes<'_>, _value: Seen<'_>, _method: &str, _place: u8) -> Ty {
        Ty::Unknown
    }

    fn target(&self, _value: Seen<'_>) -> Option<Ty> {
        None
    }

    fn unwrapped(&self, value: Seen<'_>) -> Ty {
        if POINTERS.contains(&value.head) {
            value.arg(0)
        } else {
            value.whole.clone()
        }
    }
}
