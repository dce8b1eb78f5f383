//! Shapes of Java's library: what its collections hold and hand on.

use crate::link::{Library, OPAQUE, Seen, Shapes, Special, Ty};

pub(super) struct JavaLibrary;

/// Types of `java.lang`, sorted.
const LANG: &[&str] = &[
    "AbstractMethodError",
    "Appendable",
    "ArithmeticException",
    "ArrayIndexOutOfBoundsException",
    "AssertionError",
    "AutoCloseable",
    "Boolean",
    "Byte",
    "CharSequence",
    "Character",
    "Class",
    "ClassCastException",
    "ClassLoader",
    "ClassNotFoundException",
    "CloneNotSupportedException",
    "Cloneable",
    "Comparable",
    "Deprecated",
    "Double",
    "Enum",
    "Error",
    "Exception",
    "Float",
    "FunctionalInterface",
    "IllegalAccessException",
    "IllegalArgumentException",
    "IllegalMonitorStateException",
    "IllegalStateException",
    "IndexOutOfBoundsException",
    "InheritableThreadLocal",
    "InstantiationException",
    "Integer",
    "InterruptedException",
    "Iterable",
    "LinkageError",
    "Long",
    "Math",
    "Module",
    "NegativeArraySizeException",
    "NoClassDefFoundError",
    "NoSuchFieldException",
    "NoSuchMethodException",
    "NullPointerException",
    "Number",
    "NumberFormatException",
    "Object",
    "OutOfMemoryError",
    "Override",
    "Package",
    "Process",
    "ProcessBuilder",
    "Readable",
    "Record",
    "ReflectiveOperationException",
    "Runnable",
    "Runtime",
    "RuntimeException",
    "SafeVarargs",
    "SecurityException",
    "Short",
    "StackOverflowError",
    "StackTraceElement",
    "StrictMath",
    "String",
    "StringBuffer",
    "StringBuilder",
    "StringIndexOutOfBoundsException",
    "SuppressWarnings",
    "System",
    "Thread",
    "ThreadGroup",
    "ThreadLocal",
    "Throwable",
    "TypeNotPresentException",
    "UnsupportedOperationException",
    "Void",
];

const WORDS: &[&str] = &[
    "[]",
    "String",
    "Class",
    "Object",
    "List",
    "Set",
    "Map",
    "Map.Entry",
    "Stream",
    "Optional",
    "Iterator",
    "int",
    "boolean",
    OPAQUE,
];

/// Methods of every object, and those that enums get without declaring them.
const UNIVERSAL: &[&str] = &[
    "clone",
    "compareTo",
    "describeConstable",
    "equals",
    "finalize",
    "getClass",
    "getDeclaringClass",
    "hashCode",
    "name",
    "notify",
    "notifyAll",
    "ordinal",
    "toString",
    "valueOf",
    "values",
    "wait",
];

/// Methods that give an element.
const ELEMENT: &[&str] = &[
    "element",
    "elementAt",
    "first",
    "firstElement",
    "get",
    "getFirst",
    "getLast",
    "join",
    "last",
    "lastElement",
    "next",
    "orElse",
    "orElseGet",
    "orElseThrow",
    "peek",
    "peekFirst",
    "peekLast",
    "poll",
    "pollFirst",
    "pollLast",
    "pop",
    "previous",
    "remove",
    "removeFirst",
    "removeLast",
    "take",
    "takeFirst",
];

/// Methods that give something that holds the same.
const SAME: &[&str] = &[
    "clone",
    "descendingIterator",
    "descendingSet",
    "distinct",
    "dropWhile",
    "filter",
    "findAny",
    "findFirst",
    "headSet",
    "iterator",
    "limit",
    "listIterator",
    "max",
    "min",
    "or",
    "parallel",
    "parallelStream",
    "peek",
    "reversed",
    "sequential",
    "skip",
    "sorted",
    "stream",
    "subList",
    "subSet",
    "tailSet",
    "takeWhile",
    "toList",
    "unordered",
];

/// Methods whose closures get an element.
const GIVES_ELEMENT: &[&str] = &[
    "allMatch",
    "anyMatch",
    "dropWhile",
    "filter",
    "flatMap",
    "forEach",
    "forEachOrdered",
    "forEachRemaining",
    "ifPresent",
    "ifPresentOrElse",
    "map",
    "mapToDouble",
    "mapToInt",
    "mapToLong",
    "mapToObj",
    "noneMatch",
    "peek",
    "reduce",
    "removeIf",
    "replaceAll",
    "sort",
    "sorted",
    "takeWhile",
    "thenAccept",
    "thenApply",
    "thenCompose",
];

fn is_map(head: &str) -> bool {
    head.ends_with("Map") || head == "Hashtable"
}

impl Library for JavaLibrary {
    fn words(&self) -> &'static [&'static str] {
        WORDS
    }

    fn is_builtin(&self, name: &str) -> bool {
        LANG.binary_search(&name).is_ok()
    }

    fn instance(&self, name: &str, _args: &[Ty]) -> Option<Special> {
        // Anything may be in it; only a cast says what.
        (name == "Object").then_some(Special::Value(Ty::Unknown))
    }

    fn method(&self, shapes: &Shapes<'_>, value: Seen<'_>, name: &str, given: &[Ty]) -> Ty {
        let returned = |place: usize| match given.get(place) {
            Some(Ty::Closure(result)) => (**result).clone(),
            _ => Ty::Unknown,
        };
        if is_map(value.head) {
            return match name {
                "get" | "remove" | "put" | "getOrDefault" | "putIfAbsent" | "computeIfAbsent"
                | "computeIfPresent" | "compute" | "merge" | "replace" => value.arg(1),
                "firstKey" | "lastKey" | "floorKey" | "ceilingKey" | "higherKey" | "lowerKey" => {
                    value.arg(0)
                }
                "keySet" | "navigableKeySet" => shapes.value("Set", vec![value.arg(0)]),
                "values" => shapes.value("List", vec![value.arg(1)]),
                "entrySet" => {
                    let entry = shapes.value("Map.Entry", vec![value.arg(0), value.arg(1)]);
                    shapes.value("Set", vec![entry])
                }
                "firstEntry" | "lastEntry" | "floorEntry" | "ceilingEntry" | "pollFirstEntry" => {
                    shapes.value("Map.Entry", vec![value.arg(0), value.arg(1)])
                }
                "headMap" | "tailMap" | "subMap" | "descendingMap" | "clone" => value.whole.clone(),
                _ => Ty::Unknown,
            };
        }
        if matches!(value.head, "Entry" | "Map.Entry") {
            return match name {
                "getKey" => value.arg(0),
                "getValue" => value.arg(1),
                _ => Ty::Unknown,
            };
        }
        if matches!(value.head, "BiFunction" | "BinaryOperator" | "Function") {
            return match name {
                "apply" => value.args.last().cloned().unwrap_or(Ty::Unknown),
                _ => Ty::Unknown,
            };
        }
        if value.args.len() == 1 {
            if name == "map" || name == "thenApply" {
                return match value.whole {
                    Ty::Ext { module, name, .. } => Ty::Ext {
                        module: *module,
                        name: *name,
                        args: vec![returned(0)].into(),
                        inst: true,
                    },
                    _ => Ty::Unknown,
                };
            }
            if name == "flatMap" || name == "thenCompose" {
                return returned(0);
            }
            // A stream's `peek` gives the stream, a queue's an element.
            let streams = matches!(value.head, "Stream" | "Optional");
            if ELEMENT.binary_search(&name).is_ok() && !(streams && name == "peek") {
                return value.arg(0);
            }
            if SAME.binary_search(&name).is_ok() {
                return match (name, value.whole) {
                    ("iterator" | "listIterator" | "stream" | "parallelStream" | "toList", _)
                    | ("findFirst" | "findAny" | "max" | "min", _) => {
                        let head = match name {
                            "iterator" | "listIterator" => "Iterator",
                            "toList" => "List",
                            "stream" | "parallelStream" => "Stream",
                            _ => "Optional",
                        };
                        shapes.value(head, vec![value.arg(0)])
                    }
                    (_, whole) => whole.clone(),
                };
            }
        }
        if given.iter().any(holds_project) || value.args.iter().any(Ty::is_known) {
            return Ty::Unknown;
        }
        match value.head {
            "String" | "StringBuilder" | "StringBuffer" => value.whole.clone(),
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
        match (owner, name) {
            ("List" | "Set" | "Stream" | "Optional", "of" | "ofNullable" | "copyOf") => {
                let element = match &first {
                    Ty::Ext { args, .. } if name == "copyOf" => {
                        args.first().cloned().unwrap_or(Ty::Unknown)
                    }
                    _ => first.clone(),
                };
                return shapes.value(owner, vec![element]);
            }
            ("Arrays", "asList" | "stream") => {
                let element = match &first {
                    Ty::Ext { args, .. } if args.len() == 1 => args[0].clone(),
                    other => other.clone(),
                };
                let head = if name == "stream" { "Stream" } else { "List" };
                return shapes.value(head, vec![element]);
            }
            ("Collections", "singletonList" | "singleton") => {
                return shapes.value("List", vec![first]);
            }
            ("Objects", "requireNonNull" | "requireNonNullElse") => return first,
            (
                "Collections",
                "unmodifiableList"
                | "unmodifiableMap"
                | "unmodifiableSet"
                | "unmodifiableCollection"
                | "synchronizedList"
                | "synchronizedMap",
            ) => return first,
            _ => {}
        }
        if given.iter().any(holds_project) || callee.args.iter().any(Ty::is_known) {
            return Ty::Unknown;
        }
        shapes.opaque()
    }

    fn element(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        if value.args.len() == 1 {
            value.arg(0)
        } else if value.head == OPAQUE {
            value.whole.clone()
        } else {
            Ty::Unknown
        }
    }

    fn indexed(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        match value.head {
            "[]" => value.arg(0),
            OPAQUE => value.whole.clone(),
            _ => Ty::Unknown,
        }
    }

    fn passed(&self, _shapes: &Shapes<'_>, value: Seen<'_>, method: &str, place: u8) -> Ty {
        if is_map(value.head) {
            return match (method, place) {
                ("computeIfAbsent", 0) => value.arg(0),
                ("merge", _) => value.arg(1),
                ("forEach" | "replaceAll" | "compute" | "computeIfPresent", _) => {
                    value.arg(usize::from(place))
                }
                _ => Ty::Unknown,
            };
        }
        if value.args.len() == 1 && GIVES_ELEMENT.binary_search(&method).is_ok() {
            value.arg(0)
        } else {
            Ty::Unknown
        }
    }

    fn target(&self, _value: Seen<'_>) -> Option<Ty> {
        None
    }

    fn is_universal(&self, method: &str) -> bool {
        UNIVERSAL.binary_search(&method).is_ok()
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
