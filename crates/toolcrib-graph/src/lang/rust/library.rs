//! Shapes of Rust's standard library: containers, wrappers, iterators.

use crate::link::{Library, OPAQUE, Seen, Shapes, Special, Ty};

pub(super) struct RustLibrary;

const WORDS: &[&str] = &[
    OPAQUE, "Option", "Result", "Iter", "Vec", "array", "String", "str", "bool", "usize", "Entry",
    "Range", "i32", "f64", "char", "std", "Box", "Rc", "Arc", "RefCell", "Mutex", "RwLock", "Cell",
    "Ordering",
];

/// Sorted.
const BUILTINS: &[&str] = &[
    "AsMut",
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
    "alloc",
    "assert",
    "assert_eq",
    "assert_ne",
    "bool",
    "cfg",
    "char",
    "column",
    "compile_error",
    "concat",
    "core",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "drop",
    "env",
    "eprint",
    "eprintln",
    "f32",
    "f64",
    "file",
    "format",
    "format_args",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "include",
    "include_bytes",
    "include_str",
    "isize",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "proc_macro",
    "std",
    "str",
    "stringify",
    "test",
    "thread_local",
    "todo",
    "try",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "unimplemented",
    "unreachable",
    "usize",
    "vec",
    "write",
    "writeln",
];

fn is_list(head: &str) -> bool {
    matches!(
        head,
        "Vec"
            | "array"
            | "VecDeque"
            | "HashSet"
            | "BTreeSet"
            | "BinaryHeap"
            | "LinkedList"
            | "IndexSet"
            | "FxHashSet"
            | "AHashSet"
            | "SmallVec"
            | "ArrayVec"
            | "ThinVec"
            | "IntoIter"
            | "Iter"
            | "Peekable"
            | "Iterator"
            | "IntoIterator"
            | "DoubleEndedIterator"
            | "ExactSizeIterator"
            | "ParallelIterator"
    )
}

fn is_map(head: &str) -> bool {
    matches!(
        head,
        "HashMap" | "BTreeMap" | "IndexMap" | "FxHashMap" | "AHashMap" | "DashMap" | "FxIndexMap"
    )
}

fn is_wrapper(head: &str) -> bool {
    matches!(
        head,
        "Box"
            | "Rc"
            | "Arc"
            | "Cow"
            | "Pin"
            | "Ref"
            | "RefMut"
            | "MutexGuard"
            | "RwLockReadGuard"
            | "RwLockWriteGuard"
            | "ManuallyDrop"
            | "LazyLock"
            | "Lazy"
            | "CachePadded"
            | "Triomphe"
    )
}

fn is_cell(head: &str) -> bool {
    matches!(
        head,
        "RefCell"
            | "Mutex"
            | "RwLock"
            | "Cell"
            | "UnsafeCell"
            | "OnceCell"
            | "OnceLock"
            | "MaybeUninit"
    )
}

fn result(ty: &Ty) -> Ty {
    match ty {
        Ty::Closure(inner) => (**inner).clone(),
        // A path to a constructor or function: the evaluator has called it.
        _ => Ty::Unknown,
    }
}

impl RustLibrary {
    fn item(&self, value: Seen<'_>) -> Ty {
        if is_map(value.head) {
            Ty::Tuple(vec![value.arg(0), value.arg(1)].into())
        } else if is_list(value.head) || matches!(value.head, "Option" | "Result") {
            value.arg(0)
        } else {
            Ty::Unknown
        }
    }

    fn item_of(&self, ty: &Ty, shapes: &Shapes<'_>) -> Ty {
        ty.map(|ty| match ty {
            Ty::Ext {
                name,
                args,
                inst: true,
                ..
            } => self.item(Seen {
                head: shapes.names.text(*name),
                args,
                whole: ty,
                is_standard: true,
            }),
            _ => Ty::Unknown,
        })
    }

    fn option(&self, shapes: &Shapes<'_>, v: Seen<'_>, name: &str, given: &[Ty]) -> Ty {
        let closure = |place: usize| given.get(place).map_or(Ty::Unknown, result);
        match name {
            "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default"
            | "unwrap_unchecked" | "get_or_insert" | "get_or_insert_with" | "insert" => v.arg(0),
            "as_ref" | "as_mut" | "take" | "clone" | "cloned" | "copied" | "or" | "or_else"
            | "filter" | "replace" | "as_deref" | "as_deref_mut" | "inspect" | "xor"
            | "to_owned" => v.whole.clone(),
            "ok_or" | "ok_or_else" => shapes.value("Result", vec![v.arg(0)]),
            "map" => shapes.value("Option", vec![closure(0)]),
            "and_then" => closure(0),
            "map_or" | "map_or_else" => closure(1),
            "iter" | "iter_mut" | "into_iter" => shapes.value("Iter", vec![v.arg(0)]),
            "is_some" | "is_none" | "is_some_and" | "is_none_or" => shapes.value("bool", vec![]),
            "flatten" => v.arg(0),
            "zip" => {
                let other = given
                    .first()
                    .map_or(Ty::Unknown, |g| self.item_of(g, shapes));
                shapes.value("Option", vec![Ty::Tuple(vec![v.arg(0), other].into())])
            }
            "transpose" => v.whole.clone(),
            _ => Ty::Unknown,
        }
    }

    fn fallible(&self, shapes: &Shapes<'_>, v: Seen<'_>, name: &str, given: &[Ty]) -> Ty {
        let closure = |place: usize| given.get(place).map_or(Ty::Unknown, result);
        match name {
            "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" => v.arg(0),
            "ok" => shapes.value("Option", vec![v.arg(0)]),
            "err" => shapes.value("Option", vec![v.arg(1)]),
            "unwrap_err" | "expect_err" => v.arg(1),
            "as_ref" | "as_mut" | "clone" | "inspect" | "inspect_err" | "or_else" | "as_deref"
            | "cloned" | "copied" | "with_context" | "context" => v.whole.clone(),
            "map" => shapes.value("Result", vec![closure(0), v.arg(1)]),
            "map_err" => shapes.value("Result", vec![v.arg(0), closure(0)]),
            "and_then" => closure(0),
            "map_or" | "map_or_else" => closure(1),
            "iter" | "into_iter" => shapes.value("Iter", vec![v.arg(0)]),
            "is_ok" | "is_err" | "is_ok_and" | "is_err_and" => shapes.value("bool", vec![]),
            _ => Ty::Unknown,
        }
    }

    fn sequence(&self, shapes: &Shapes<'_>, v: Seen<'_>, name: &str, given: &[Ty]) -> Ty {
        let item = self.item(v);
        let closure = |place: usize| given.get(place).map_or(Ty::Unknown, result);
        let iter = |item: Ty| shapes.value("Iter", vec![item]);
        match name {
            "keys" | "into_keys" => iter(v.arg(0)),
            "values" | "values_mut" | "into_values" => iter(v.arg(1)),
            "get" | "get_mut" | "remove" | "insert" if is_map(v.head) => {
                shapes.value("Option", vec![v.arg(1)])
            }
            "entry" => shapes.value("Entry", vec![v.arg(0), v.arg(1)]),
            "remove" | "swap_remove" if v.head == "Vec" => v.arg(0),
            "iter" | "iter_mut" | "into_iter" | "drain" | "par_iter" | "into_par_iter"
            | "splice" | "filter" | "skip" | "take" | "rev" | "chain" | "inspect"
            | "skip_while" | "take_while" | "step_by" | "peekable" | "fuse" | "cycle"
            | "by_ref" | "cloned" | "copied" | "sorted" | "sorted_by" | "sorted_by_key"
            | "dedup" | "unique" | "range" | "range_mut" | "union" | "intersection"
            | "difference" => iter(item),
            "map" | "map_while" => {
                if name == "map" {
                    iter(closure(0))
                } else {
                    iter(self.item_of(&closure(0), shapes))
                }
            }
            "filter_map" | "flat_map" => iter(self.item_of(&closure(0), shapes)),
            "flatten" => iter(self.item_of(&item, shapes)),
            "enumerate" => {
                let number = shapes.value("usize", vec![]);
                iter(Ty::Tuple(vec![number, item].into()))
            }
            "zip" => {
                let other = given
                    .first()
                    .map_or(Ty::Unknown, |g| self.item_of(g, shapes));
                iter(Ty::Tuple(vec![item, other].into()))
            }
            "next" | "next_back" | "last" | "nth" | "find" | "min" | "max" | "min_by"
            | "max_by" | "min_by_key" | "max_by_key" | "peek" | "peek_mut" | "reduce" | "first"
            | "pop" | "first_mut" | "last_mut" | "get" | "get_mut" | "pop_front" | "pop_back"
            | "front" | "back" | "front_mut" | "back_mut" | "next_if" | "take_if" | "pop_first"
            | "pop_last" | "replace" => shapes.value("Option", vec![item]),
            "find_map" => closure(0),
            "fold" => given.first().cloned().unwrap_or(Ty::Unknown),
            "chunks" | "windows" | "chunks_exact" | "rchunks" | "split" => {
                iter(shapes.value("array", vec![item]))
            }
            "split_first" | "split_last" => {
                let rest = shapes.value("array", vec![item.clone()]);
                shapes.value("Option", vec![Ty::Tuple(vec![item, rest].into())])
            }
            "as_slice" | "to_vec" | "clone" | "as_ref" | "as_mut" | "to_owned" | "as_mut_slice"
            | "into_boxed_slice" | "into_vec" | "into_inner" | "borrow" | "split_off" => {
                v.whole.clone()
            }
            "position" | "rposition" => shapes.value("Option", vec![shapes.value("usize", vec![])]),
            "len" | "count" | "capacity" => shapes.value("usize", vec![]),
            "any" | "all" | "is_empty" | "contains" | "contains_key" => {
                shapes.value("bool", vec![])
            }
            "join" | "concat" => Ty::Unknown,
            _ => Ty::Unknown,
        }
    }
}

impl Library for RustLibrary {
    fn words(&self) -> &'static [&'static str] {
        WORDS
    }

    fn is_builtin(&self, name: &str) -> bool {
        BUILTINS.binary_search(&name).is_ok()
    }

    fn instance(&self, name: &str, args: &[Ty]) -> Option<Special> {
        match name {
            "Fn" | "FnMut" | "FnOnce" => Some(Special::Function(
                args.last().cloned().unwrap_or(Ty::Unknown),
            )),
            "Future" => Some(Special::Of(args.first().cloned().unwrap_or(Ty::Unknown))),
            _ => None,
        }
    }

    fn method(&self, shapes: &Shapes<'_>, v: Seen<'_>, name: &str, given: &[Ty]) -> Ty {
        match v.head {
            "Option" => self.option(shapes, v, name, given),
            "Result" => self.fallible(shapes, v, name, given),
            "Entry" => match name {
                "or_insert" | "or_insert_with" | "or_default" | "or_insert_with_key" => v.arg(1),
                "and_modify" => v.whole.clone(),
                _ => Ty::Unknown,
            },
            head if is_list(head) || is_map(head) => self.sequence(shapes, v, name, given),
            head if is_wrapper(head) || is_cell(head) => match name {
                "clone" => v.whole.clone(),
                "borrow" | "borrow_mut" | "as_ref" | "as_mut" | "into_inner" | "deref"
                | "deref_mut" | "get_mut" | "to_owned" | "into_owned" | "to_mut"
                | "get_or_init" | "unwrap_or_clone" => v.arg(0),
                "get" if head != "Cell" => shapes.value("Option", vec![v.arg(0)]),
                "get" | "take" | "replace" => v.arg(0),
                "lock" | "read" | "write" | "try_lock" => shapes.value("Result", vec![v.arg(0)]),
                _ => Ty::Unknown,
            },
            "String" | "str" => match name {
                "clone" | "to_owned" | "as_str" | "as_ref" | "trim" | "to_string"
                | "trim_start" | "trim_end" | "to_lowercase" | "to_uppercase" | "replace"
                | "repeat" | "to_ascii_lowercase" | "to_ascii_uppercase" => v.whole.clone(),
                "parse" => shapes.value("Result", vec![]),
                "into" => Ty::Unknown,
                "split" | "lines" | "split_whitespace" | "rsplit" | "splitn"
                | "split_terminator" => shapes.value("Iter", vec![shapes.value("str", vec![])]),
                "chars" => shapes.value("Iter", vec![shapes.value("char", vec![])]),
                "split_once" | "rsplit_once" => {
                    let text = shapes.value("str", vec![]);
                    let pair = Ty::Tuple(vec![text.clone(), text].into());
                    shapes.value("Option", vec![pair])
                }
                "strip_prefix" | "strip_suffix" | "get" => {
                    shapes.value("Option", vec![shapes.value("str", vec![])])
                }
                _ => shapes.opaque(),
            },
            _ => match name {
                "clone" | "to_owned" | "as_ref" | "as_mut" | "borrow" | "by_ref" => v.whole.clone(),
                "to_string" => shapes.value("String", vec![]),
                "into" | "try_into" | "parse" | "collect" | "map" | "and_then" | "downcast_ref"
                | "downcast" | "downcast_mut" | "sum" | "product" | "filter_map" | "flat_map"
                | "fold" | "join" | "send" | "recv" | "with" => Ty::Unknown,
                _ if v.args.iter().any(Ty::is_known) => Ty::Unknown,
                _ if given
                    .iter()
                    .any(|g| matches!(g, Ty::Closure(_) | Ty::Inst(..))) =>
                {
                    Ty::Unknown
                }
                _ => shapes.opaque(),
            },
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
        // What it holds is told by what it is given later.
        if owner == "None" {
            return Ty::Unknown;
        }
        match name {
            "Some" => return shapes.value("Option", vec![first]),
            "Ok" => return shapes.value("Result", vec![first]),
            "Err" => return shapes.value("Result", vec![Ty::Unknown, first]),
            "drop" => return Ty::Unknown,
            _ => {}
        }
        if !callee.is_standard {
            return shapes.opaque();
        }
        match (owner, name) {
            (owner, "new" | "from" | "pin") if is_wrapper(owner) || is_cell(owner) => {
                shapes.value(owner, vec![first])
            }
            (owner, "clone") if is_wrapper(owner) => first,
            ("mem", "take" | "replace") => first,
            ("iter", "once") => shapes.value("Iter", vec![first]),
            ("iter", "repeat") => shapes.value("Iter", vec![first]),
            ("cmp", "max" | "min") => Ty::any(given.to_vec()),
            ("Default", _) | ("From", _) | ("FromStr", _) | ("Iterator", _) => Ty::Unknown,
            // A capital begins a type; what makes one is mostly called like this.
            (owner, "new" | "with_capacity" | "default" | "from" | "from_iter" | "now")
                if owner.starts_with(char::is_uppercase) || owner == "?" =>
            {
                match callee.whole {
                    Ty::Ext { args, .. } => shapes.value(owner, args.to_vec()),
                    _ => Ty::Unknown,
                }
            }
            _ if given
                .iter()
                .any(|g| matches!(g, Ty::Closure(_) | Ty::Inst(..))) =>
            {
                Ty::Unknown
            }
            _ => shapes.opaque(),
        }
    }

    fn element(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        self.item(value)
    }

    fn indexed(&self, _shapes: &Shapes<'_>, value: Seen<'_>) -> Ty {
        if is_map(value.head) {
            value.arg(1)
        } else if is_list(value.head) {
            value.arg(0)
        } else {
            Ty::Unknown
        }
    }

    fn passed(&self, shapes: &Shapes<'_>, v: Seen<'_>, method: &str, place: u8) -> Ty {
        match (v.head, method, place) {
            (
                "Result",
                "map_err" | "or_else" | "unwrap_or_else" | "inspect_err" | "is_err_and",
                0,
            ) => v.arg(1),
            ("Option" | "Result", _, 0) => v.arg(0),
            ("Entry", "and_modify", 0) => v.arg(1),
            (head, "fold", 1) if is_list(head) || is_map(head) => self.item(v),
            (head, "retain", 0) if is_map(head) => v.arg(0),
            (head, "retain", 1) if is_map(head) => v.arg(1),
            (
                head,
                "sort_by" | "max_by" | "min_by" | "sort_unstable_by" | "dedup_by" | "reduce",
                _,
            ) if is_list(head) => self.item(v),
            (head, "fold" | "scan" | "try_fold", 0) if is_list(head) => Ty::Unknown,
            (head, "get_or_insert_with" | "entry" | "resize_with", _) if is_map(head) => {
                Ty::Unknown
            }
            (head, _, 0) if is_list(head) || is_map(head) => {
                let _ = shapes;
                self.item(v)
            }
            ("OnceCell" | "OnceLock", _, _) => Ty::Unknown,
            _ => Ty::Unknown,
        }
    }

    fn target(&self, value: Seen<'_>) -> Option<Ty> {
        is_wrapper(value.head).then(|| value.arg(0))
    }

    fn unwrapped(&self, value: Seen<'_>) -> Ty {
        match value.head {
            "Option" | "Result" => value.arg(0),
            "None" => Ty::Unknown,
            OPAQUE => value.whole.clone(),
            _ if value.args.is_empty() => value.whole.clone(),
            // Every crate has its own `Result`.
            _ => value.arg(0),
        }
    }

    fn unpacked(&self, constructor: &str, value: Seen<'_>) -> Ty {
        match constructor {
            "Some" | "Ok" => value.arg(0),
            "Err" => value.arg(1),
            _ => Ty::Unknown,
        }
    }

    fn is_universal(&self, method: &str) -> bool {
        matches!(
            method,
            "clone"
                | "clone_from"
                | "to_string"
                | "to_owned"
                | "into"
                | "try_into"
                | "eq"
                | "ne"
                | "cmp"
                | "partial_cmp"
                | "hash"
                | "fmt"
                | "borrow"
                | "borrow_mut"
                | "as_ref"
                | "as_mut"
                | "default"
                | "from"
                | "try_from"
                | "type_id"
                | "lt"
                | "le"
                | "gt"
                | "ge"
                | "max"
                | "min"
                | "clamp"
                | "into_iter"
                | "source"
                | "description"
        )
    }
}
