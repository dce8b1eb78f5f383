//! Shapes of Python's standard library.

use crate::link::{Library, OPAQUE, Seen, Shapes, Special, Ty};

pub(super) struct PythonLibrary;

/// Sorted.
const BUILTINS: &[&str] = &[
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "Ellipsis",
    "EncodingWarning",
    "EnvironmentError",
    "Exception",
    "ExceptionGroup",
    "False",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "IOError",
    "ImportError",
    "ImportWarning",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "None",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "True",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
    "__build_class__",
    "__import__",
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
];

const WORDS: &[&str] = &[
    OPAQUE,
    "list",
    "set",
    "dict",
    "tuple",
    "str",
    "bytes",
    "int",
    "float",
    "bool",
    "None",
    "Generator",
    "Iterator",
    "ContextManager",
    "type",
    "builtins",
    "IO",
];

/// Library functions whose result depends on what they are given.
const PASS_THROUGH: &[&str] = &[
    "__import__",
    "as_completed",
    "attrgetter",
    "cached",
    "chain",
    "copy",
    "deepcopy",
    "eval",
    "gather",
    "get",
    "getattr",
    "import_module",
    "itemgetter",
    "loads",
    "partial",
    "reduce",
    "run",
    "run_sync",
    "run_until_complete",
    "shield",
    "sum",
    "update_wrapper",
    "vars",
    "wait_for",
    "wraps",
];

fn is_sequence(head: &str) -> bool {
    matches!(
        head,
        "list"
            | "List"
            | "set"
            | "Set"
            | "frozenset"
            | "FrozenSet"
            | "tuple"
            | "Tuple"
            | "Sequence"
            | "MutableSequence"
            | "Iterable"
            | "Iterator"
            | "Generator"
            | "AsyncIterable"
            | "AsyncIterator"
            | "AsyncGenerator"
            | "Collection"
            | "Reversible"
            | "deque"
            | "Deque"
            | "AbstractSet"
            | "MutableSet"
            | "KeysView"
            | "ValuesView"
    )
}

fn is_mapping(head: &str) -> bool {
    matches!(
        head,
        "dict"
            | "Dict"
            | "Mapping"
            | "MutableMapping"
            | "OrderedDict"
            | "defaultdict"
            | "DefaultDict"
            | "ChainMap"
            | "WeakValueDictionary"
    )
}

impl PythonLibrary {
    fn element_of(&self, value: &Ty) -> Ty {
        value.map(|ty| match ty {
            Ty::Tuple(parts) => Ty::any(parts.to_vec()),
            Ty::Ext {
                args, inst: true, ..
            } => args.first().cloned().unwrap_or(Ty::Unknown),
            _ => Ty::Unknown,
        })
    }
}

impl Library for PythonLibrary {
    fn words(&self) -> &'static [&'static str] {
        WORDS
    }

    fn is_builtin(&self, name: &str) -> bool {
        BUILTINS.binary_search(&name).is_ok()
            || matches!(
                name,
                "__name__" | "__file__" | "__doc__" | "__path__" | "__package__"
            )
    }

    fn instance(&self, name: &str, args: &[Ty]) -> Option<Special> {
        let first = || args.first().cloned().unwrap_or(Ty::Unknown);
        Some(match name {
            "Optional" | "Annotated" | "ClassVar" | "Final" | "Required" | "NotRequired"
            | "ReadOnly" | "InitVar" | "TypeGuard" => Special::Of(first()),
            "Union" => Special::Of(Ty::any(args.to_vec())),
            "Type" | "type" if !args.is_empty() => Special::Type(first()),
            "Self" => Special::This,
            "Any" | "object" | "None" | "NoneType" | "Literal" | "TypeVar" | "ParamSpec"
            | "Unpack" | "AnyStr" | "NoReturn" | "Never" | "Incomplete" | "NewType" => {
                Special::Value(Ty::Unknown)
            }
            "Coroutine" if args.len() == 3 => Special::Of(args[2].clone()),
            "Awaitable" => Special::Of(first()),
            "Callable" => Special::Function(args.get(1).cloned().unwrap_or(Ty::Unknown)),
            "Tuple" | "tuple" if !args.is_empty() => return None,
            _ => return None,
        })
    }

    fn method(&self, shapes: &Shapes<'_>, value: Seen<'_>, name: &str, given: &[Ty]) -> Ty {
        if is_mapping(value.head) {
            return match name {
                "get" | "pop" | "setdefault" => value.arg(1),
                "items" => {
                    let pair = Ty::Tuple(vec![value.arg(0), value.arg(1)].into());
                    shapes.value("Iterator", vec![pair])
                }
                "keys" => shapes.value("Iterator", vec![value.arg(0)]),
                "values" => shapes.value("Iterator", vec![value.arg(1)]),
                "copy" => value.whole.clone(),
                _ => Ty::Unknown,
            };
        }
        if is_sequence(value.head) {
            return match name {
                "pop" | "popleft" | "__next__" | "__anext__" => value.arg(0),
                "copy" | "union" | "intersection" | "difference" | "__iter__" => {
                    value.whole.clone()
                }
                _ => Ty::Unknown,
            };
        }
        match (value.head, name) {
            ("str", "split" | "rsplit" | "splitlines") => {
                let text = shapes.value("str", Vec::new());
                shapes.value("list", vec![text])
            }
            ("str", "encode") => shapes.value("bytes", Vec::new()),
            ("bytes", "decode") => shapes.value("str", Vec::new()),
            ("str" | "bytes", _) => value.whole.clone(),
            _ if PASS_THROUGH.binary_search(&name).is_ok() => Ty::Unknown,
            _ if given.iter().any(is_project) => Ty::Unknown,
            _ if value.args.iter().any(Ty::is_known) => Ty::Unknown,
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
            match name {
                "list" | "sorted" => {
                    return shapes.value("list", vec![self.element_of(&first)]);
                }
                "set" | "frozenset" => return shapes.value("set", vec![self.element_of(&first)]),
                "iter" | "reversed" | "aiter" => {
                    return shapes.value("Iterator", vec![self.element_of(&first)]);
                }
                "tuple" => return shapes.value("tuple", vec![self.element_of(&first)]),
                "filter" => {
                    let from = given.get(1).cloned().unwrap_or(Ty::Unknown);
                    return shapes.value("Iterator", vec![self.element_of(&from)]);
                }
                "enumerate" => {
                    let number = shapes.value("int", Vec::new());
                    let pair = Ty::Tuple(vec![number, self.element_of(&first)].into());
                    return shapes.value("Iterator", vec![pair]);
                }
                "zip" => {
                    let parts: Vec<Ty> = given.iter().map(|g| self.element_of(g)).collect();
                    return shapes.value("Iterator", vec![Ty::Tuple(parts.into())]);
                }
                "next" | "anext" => return self.element_of(&first),
                "max" | "min" if given.len() == 1 => return self.element_of(&first),
                "max" | "min" => return Ty::any(given.to_vec()),
                "type" => {
                    return first.map(|ty| match ty {
                        Ty::Inst(node, args) => Ty::Def(*node, args.clone()),
                        _ => Ty::Unknown,
                    });
                }
                "getattr" | "eval" | "vars" | "globals" | "locals" | "__import__" | "sum"
                | "object" | "map" | "exec" | "compile" | "property" | "classmethod"
                | "staticmethod" => return Ty::Unknown,
                "open" => return shapes.value("IO", Vec::new()),
                "repr" | "ascii" | "chr" | "bin" | "hex" | "oct" | "input" | "format" => {
                    return shapes.value("str", Vec::new());
                }
                "len" | "ord" | "id" | "hash" | "round" | "abs" => {
                    return shapes.value("int", Vec::new());
                }
                _ => {}
            }
        }
        if matches!(
            name,
            "copy" | "deepcopy" | "nullcontext" | "closing" | "aclosing"
        ) {
            return first;
        }
        if PASS_THROUGH.binary_search(&name).is_ok() || given.iter().any(is_project) {
            return Ty::Unknown;
        }
        // A capital begins a class; so do the builtin types.
        let is_type = name.starts_with(char::is_uppercase)
            || (callee.is_standard && !matches!(name, "print" | "isinstance" | "callable"));
        match callee.whole {
            Ty::Ext {
                module, name, args, ..
            } if is_type => Ty::Ext {
                module: *module,
                name: *name,
                args: args.clone(),
                inst: true,
            },
            _ => shapes.opaque(),
        }
    }

    fn element(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        if is_sequence(value.head) || is_mapping(value.head) {
            value.arg(0)
        } else {
            Ty::Unknown
        }
    }

    fn indexed(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        if is_mapping(value.head) {
            value.arg(1)
        } else if is_sequence(value.head) {
            value.arg(0)
        } else if matches!(value.head, "str" | "bytes") {
            value.whole.clone()
        } else {
            Ty::Unknown
        }
    }

    fn passed(&self, _shapes: &Shapes<'_>, _value: Seen<'_>, _method: &str, _place: u8) -> Ty {
        Ty::Unknown
    }

    fn target(&self, _value: Seen<'_>) -> Option<Ty> {
        None
    }
}

fn is_project(ty: &Ty) -> bool {
    ty.each()
        .iter()
        .any(|ty| matches!(ty, Ty::Inst(..) | Ty::Def(..) | Ty::Bound(..)))
}
