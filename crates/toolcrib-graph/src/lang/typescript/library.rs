//! What the language's own objects are known to give.

use crate::link::{Library, OPAQUE, Seen, Shapes, Special, Ty};

/// The library of the language and its usual runtimes.
pub(super) struct ScriptLibrary;

/// Bare names that no module declares, sorted.
const GLOBALS: &[&str] = &[
    "AbortController",
    "AbortSignal",
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncGenerator",
    "AsyncIterable",
    "AsyncIterableIterator",
    "AsyncIterator",
    "Atomics",
    "Awaited",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Blob",
    "Boolean",
    "Buffer",
    "CustomEvent",
    "DOMParser",
    "DataView",
    "Date",
    "Document",
    "Element",
    "Error",
    "EvalError",
    "Event",
    "EventTarget",
    "Exclude",
    "Extract",
    "File",
    "FileReader",
    "FinalizationRegistry",
    "Float32Array",
    "Float64Array",
    "FormData",
    "Function",
    "Generator",
    "HTMLElement",
    "Headers",
    "Infinity",
    "InstanceType",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "Intl",
    "Iterable",
    "IterableIterator",
    "Iterator",
    "JSON",
    "JSX",
    "Map",
    "Math",
    "MessageChannel",
    "MutationObserver",
    "NaN",
    "NodeJS",
    "NonNullable",
    "Number",
    "Object",
    "Omit",
    "Parameters",
    "Partial",
    "Pick",
    "Promise",
    "PromiseLike",
    "PropertyKey",
    "Proxy",
    "RangeError",
    "ReadableStream",
    "Readonly",
    "ReadonlyArray",
    "ReadonlyMap",
    "ReadonlySet",
    "Record",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Request",
    "Required",
    "Response",
    "ReturnType",
    "Set",
    "SharedArrayBuffer",
    "String",
    "Symbol",
    "SyntaxError",
    "TemplateStringsArray",
    "TextDecoder",
    "TextEncoder",
    "TypeError",
    "URIError",
    "URL",
    "URLSearchParams",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "WebAssembly",
    "WebSocket",
    "Window",
    "Worker",
    "XMLHttpRequest",
    "__dirname",
    "__filename",
    "afterAll",
    "afterEach",
    "alert",
    "arguments",
    "atob",
    "before",
    "beforeAll",
    "beforeEach",
    "btoa",
    "cancelAnimationFrame",
    "clearImmediate",
    "clearInterval",
    "clearTimeout",
    "console",
    "context",
    "crypto",
    "decodeURI",
    "decodeURIComponent",
    "define",
    "describe",
    "document",
    "encodeURI",
    "encodeURIComponent",
    "eval",
    "expect",
    "exports",
    "fail",
    "fetch",
    "global",
    "globalThis",
    "history",
    "import",
    "isFinite",
    "isNaN",
    "it",
    "jest",
    "localStorage",
    "location",
    "module",
    "navigator",
    "parseFloat",
    "parseInt",
    "performance",
    "process",
    "queueMicrotask",
    "requestAnimationFrame",
    "require",
    "self",
    "sessionStorage",
    "setImmediate",
    "setInterval",
    "setTimeout",
    "specify",
    "structuredClone",
    "suite",
    "test",
    "undefined",
    "unescape",
    "vi",
    "window",
];

const WORDS: &[&str] = &[
    OPAQUE, "Array", "Boolean", "Error", "Iterator", "Map", "Number", "Object", "Promise",
    "RegExp", "Set", "String", "Symbol", "Date", "import", "globals",
];

fn is_list(head: &str) -> bool {
    matches!(
        head,
        "Array"
            | "ReadonlyArray"
            | "Set"
            | "ReadonlySet"
            | "Iterable"
            | "Iterator"
            | "IterableIterator"
            | "AsyncIterable"
            | "AsyncIterator"
            | "AsyncIterableIterator"
            | "Generator"
            | "AsyncGenerator"
    )
}

fn is_map(head: &str) -> bool {
    matches!(head, "Map" | "ReadonlyMap" | "WeakMap")
}

/// What a function given to a call returns.
fn returned(given: &[Ty]) -> Ty {
    match given.first() {
        Some(Ty::Closure(result)) => (**result).clone(),
        _ => Ty::Unknown,
    }
}

/// What a list or map gives one after another.
fn element_of(shapes: &Shapes<'_>, ty: &Ty) -> Ty {
    ty.map(|ty| match ty {
        Ty::Tuple(parts) => Ty::any(parts.to_vec()),
        Ty::Ext {
            name,
            args,
            inst: true,
            ..
        } => {
            let head = shapes.names.text(*name);
            let arg = |place: usize| args.get(place).cloned().unwrap_or(Ty::Unknown);
            if is_list(head) {
                arg(0)
            } else if is_map(head) {
                Ty::Tuple(vec![arg(0), arg(1)].into())
            } else {
                Ty::Unknown
            }
        }
        _ => Ty::Unknown,
    })
}

fn is_project(ty: &Ty) -> bool {
    ty.each()
        .iter()
        .any(|ty| matches!(ty, Ty::Inst(..) | Ty::Def(..) | Ty::Bound(..)))
}

impl Library for ScriptLibrary {
    fn words(&self) -> &'static [&'static str] {
        WORDS
    }

    fn is_builtin(&self, name: &str) -> bool {
        GLOBALS.binary_search(&name).is_ok()
    }

    fn instance(&self, name: &str, args: &[Ty]) -> Option<Special> {
        let first = || args.first().cloned().unwrap_or(Ty::Unknown);
        Some(match name {
            // What is awaited or chained is what was promised.
            "Promise" | "PromiseLike" | "Awaited" if first().is_known() => Special::Of(first()),
            "Partial" | "Required" | "Readonly" | "NonNullable" | "Pick" | "Omit" | "Extract"
            | "Exclude" => Special::Of(first()),
            "Object" | "Function" | "ReturnType" | "InstanceType" | "Parameters" | "Awaited" => {
                Special::Value(Ty::Unknown)
            }
            _ => return None,
        })
    }

    fn method(&self, shapes: &Shapes<'_>, value: Seen<'_>, name: &str, given: &[Ty]) -> Ty {
        let list = |element: Ty| shapes.value("Array", vec![element]);
        if is_map(value.head) {
            return match name {
                "get" => value.arg(1),
                "set" => value.whole.clone(),
                "keys" => list(value.arg(0)),
                "values" => list(value.arg(1)),
                "entries" => list(Ty::Tuple(vec![value.arg(0), value.arg(1)].into())),
                "has" | "delete" => shapes.value("Boolean", Vec::new()),
                _ => Ty::Unknown,
            };
        }
        if is_list(value.head) {
            return match name {
                "find" | "findLast" | "pop" | "shift" | "at" => value.arg(0),
                "filter" | "slice" | "splice" | "concat" | "reverse" | "sort" | "toSorted"
                | "toReversed" | "with" | "add" | "values" | "fill" => value.whole.clone(),
                "map" => list(returned(given)),
                "flatMap" => list(element_of(shapes, &returned(given))),
                "flat" => list(element_of(shapes, &value.arg(0))),
                "reduce" | "reduceRight" => {
                    let start = given.get(1).cloned().unwrap_or(Ty::Unknown);
                    Ty::any(vec![returned(given), start])
                }
                "entries" => {
                    let number = shapes.value("Number", Vec::new());
                    list(Ty::Tuple(vec![number, value.arg(0)].into()))
                }
                "keys" => list(shapes.value("Number", Vec::new())),
                "join" => shapes.value("String", Vec::new()),
                "includes" | "some" | "every" | "has" | "delete" => {
                    shapes.value("Boolean", Vec::new())
                }
                "indexOf" | "findIndex" | "lastIndexOf" | "push" | "unshift" => {
                    shapes.value("Number", Vec::new())
                }
                "next" => Ty::Unknown,
                _ => Ty::Unknown,
            };
        }
        match (value.head, name) {
            ("String", "split" | "match") => list(shapes.value("String", Vec::new())),
            ("String", "length" | "indexOf" | "charCodeAt" | "search") => {
                shapes.value("Number", Vec::new())
            }
            ("String", "startsWith" | "endsWith" | "includes") => {
                shapes.value("Boolean", Vec::new())
            }
            ("String" | "Number" | "Boolean", _) => shapes.value("String", Vec::new()),
            ("Promise", "then" | "catch" | "finally") => {
                let result = returned(given);
                if result.is_known() {
                    result
                } else {
                    value.whole.clone()
                }
            }
            ("import", _) => Ty::Unknown,
            _ if given.iter().any(is_project) => Ty::Unknown,
            _ if value.args.iter().any(Ty::is_known) => Ty::Unknown,
            _ => shapes.opaque(),
        }
    }

    fn call(
        &self,
        shapes: &Shapes<'_>,
        callee: Seen<'_>,
        owner: &str,
        name: &str,
        given: &[Ty],
    ) -> Ty {
        let first = given.first().cloned().unwrap_or(Ty::Unknown);
        let list = |element: Ty| shapes.value("Array", vec![element]);
        if callee.is_standard {
            match (owner, name) {
                ("Object", "keys") => return list(shapes.value("String", Vec::new())),
                ("Object", "freeze" | "seal" | "assign") => return first,
                ("Object", "values" | "entries" | "fromEntries" | "create")
                | ("JSON", "parse")
                | ("Reflect", _)
                | ("", "eval" | "require" | "import" | "structuredClone" | "Proxy") => {
                    return Ty::Unknown;
                }
                ("Array", "from" | "of") => {
                    let mapped = match given.get(1) {
                        Some(Ty::Closure(result)) => (**result).clone(),
                        _ => Ty::Unknown,
                    };
                    let element = if mapped.is_known() {
                        mapped
                    } else {
                        element_of(shapes, &first)
                    };
                    return list(element);
                }
                ("Promise", "resolve") => return first,
                ("Promise", "all" | "allSettled") => return first,
                ("Promise", "race" | "any") => return element_of(shapes, &first),
                ("", "Set" | "Array") if first.is_known() => {
                    let element = element_of(shapes, &first);
                    return shapes
                        .value(if name == "Set" { "Set" } else { "Array" }, vec![element]);
                }
                ("", "Promise") => return Ty::Unknown,
                ("", "String" | "Number" | "Boolean") => return shapes.value(name, Vec::new()),
                _ => {}
            }
        }
        if given.iter().any(is_project) || callee.args.iter().any(Ty::is_known) {
            return Ty::Unknown;
        }
        match callee.whole {
            Ty::Ext {
                module,
                name: head,
                args,
                ..
            } if owner.is_empty() && name.starts_with(char::is_uppercase) => Ty::Ext {
                module: *module,
                name: *head,
                args: args.clone(),
                inst: true,
            },
            _ => shapes.opaque(),
        }
    }

    fn element(&self, shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        element_of(shapes, value.whole)
    }

    fn indexed(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        match value.head {
            "Record" => value.arg(1),
            "String" => value.whole.clone(),
            head if is_list(head) => value.arg(0),
            _ => Ty::Unknown,
        }
    }

    fn passed(&self, shapes: &Shapes<'_>, value: Seen<'_>, method: &str, place: u8) -> Ty {
        if is_map(value.head) {
            return match (method, place) {
                ("forEach", 0) => value.arg(1),
                ("forEach", 1) => value.arg(0),
                _ => Ty::Unknown,
            };
        }
        if !is_list(value.head) {
            return Ty::Unknown;
        }
        match (method, place) {
            ("reduce" | "reduceRight", 1) => value.arg(0),
            ("reduce" | "reduceRight", _) => Ty::Unknown,
            ("sort" | "toSorted", 0 | 1) => value.arg(0),
            (_, 0) => value.arg(0),
            (_, 1) => shapes.value("Number", Vec::new()),
            _ => Ty::Unknown,
        }
    }

    fn target(&self, _value: Seen<'_>) -> Option<Ty> {
        None
    }

    /// Any value may be a promise of itself.
    fn is_universal(&self, method: &str) -> bool {
        matches!(
            method,
            "then"
                | "catch"
                | "finally"
                | "toString"
                | "hasOwnProperty"
                | "valueOf"
                | "call"
                | "apply"
                | "bind"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globals_are_sorted_so_that_every_one_is_found() {
        assert!(GLOBALS.is_sorted());
        assert!(ScriptLibrary.is_builtin("Promise"));
        assert!(!ScriptLibrary.is_builtin("take"));
    }
}
