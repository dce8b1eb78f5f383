//! Every call expression ends in exactly one state.

use std::collections::HashSet;

use toolcrib_graph::{CodeGraph, EdgeKind, NodeKind, SiteState};
use tree_sitter::{Language, Node, Parser};

use crate::support::{fixture, load, tree};

/// What must hold of any graph.
pub(crate) fn check_invariants(graph: &CodeGraph) {
    let total: usize = graph.site_counts().iter().map(|(_, n)| n).sum();
    assert_eq!(total, graph.sites().len());
    let mut qualified = HashSet::new();
    let mut symbols = HashSet::new();
    let mut last = (0, 0);
    for node in graph.nodes() {
        assert!(qualified.insert(node.qualified_name.clone()), "{node:?}");
        assert!(symbols.insert(node.symbol.clone()), "{node:?}");
        let text = &graph.file(node.file).text;
        assert!(
            text.get(node.span.start_byte as usize..node.span.end_byte as usize)
                .is_some()
        );
        let place = (node.file.0, node.span.start_byte);
        assert!(node.kind == NodeKind::File || place >= last, "{node:?}");
        last = place;
        assert_eq!(node.parent.is_none(), node.kind == NodeKind::File);
        if let Some(signature) = &node.signature {
            assert!(!signature.contains('\n'));
        }
    }
    for edge in graph.edges() {
        assert!(
            edge.kind == EdgeKind::Contains || edge.from != edge.to || edge.kind == EdgeKind::Calls
        );
    }
    for site in graph.sites() {
        let text = &graph.file(site.file).text;
        assert!(
            text.get(site.span.start_byte as usize..site.span.end_byte as usize)
                .is_some()
        );
        let caller = graph.node(site.caller);
        assert_eq!(caller.file, site.file);
        if let SiteState::Resolved { target, .. } = &site.state {
            let has_edge = graph
                .outgoing(site.caller)
                .iter()
                .any(|e| e.kind == EdgeKind::Calls && e.to == *target);
            assert!(has_edge, "{site:?}");
        }
    }
    for file in graph.files() {
        assert_eq!(graph.node(file.node).kind, NodeKind::File);
    }
}

fn parse(language: &Language, text: &str) -> tree_sitter::Tree {
    let mut parser = Parser::new();
    parser.set_language(language).unwrap();
    parser.parse(text, None).unwrap()
}

fn count_kind(node: Node<'_>, kinds: &[&str]) -> usize {
    let mut cursor = node.walk();
    let inner: usize = node
        .children(&mut cursor)
        .map(|n| count_kind(n, kinds))
        .sum();
    inner + usize::from(node.is_named() && kinds.contains(&node.kind()))
}

/// Calls and macros of Rust source, arguments of expression macros included.
fn count_rust(text: &str) -> usize {
    let language: Language = tree_sitter_rust::LANGUAGE.into();
    let tree = parse(&language, text);
    let mut total = count_kind(tree.root_node(), &["call_expression", "macro_invocation"]);
    let mut todo = vec![tree.root_node()];
    while let Some(node) = todo.pop() {
        if node.kind() == "macro_invocation" {
            let name = node.child_by_field_name("macro").unwrap();
            let name = &text[name.byte_range()];
            let expressions = [
                "assert",
                "assert_eq",
                "assert_ne",
                "format",
                "println",
                "eprintln",
                "write",
                "vec",
                "panic",
                "matches",
            ];
            if expressions.contains(&name) {
                let mut cursor = node.walk();
                let tokens = node
                    .children(&mut cursor)
                    .find(|n| n.kind() == "token_tree")
                    .unwrap();
                let inner = &text[tokens.byte_range()];
                total += count_rust(&format!("fn f() {{ {inner} }}"));
            }
            continue;
        }
        let mut cursor = node.walk();
        todo.extend(node.children(&mut cursor));
    }
    total
}

fn count_python(text: &str) -> usize {
    let language: Language = tree_sitter_python::LANGUAGE.into();
    count_kind(parse(&language, text).root_node(), &["call"])
}

/// Calls of Go source, conversions to types that are no names included.
fn count_go(text: &str) -> usize {
    let language: Language = tree_sitter_go::LANGUAGE.into();
    let kinds = ["call_expression", "type_conversion_expression"];
    count_kind(parse(&language, text).root_node(), &kinds)
}

fn count_java(text: &str) -> usize {
    let language: Language = tree_sitter_java::LANGUAGE.into();
    let kinds = [
        "method_invocation",
        "object_creation_expression",
        "explicit_constructor_invocation",
    ];
    count_kind(parse(&language, text).root_node(), &kinds)
}

/// Calls, `new` expressions and tagged templates.
fn count_script(path: &str, text: &str) -> usize {
    let language: Language = match path.rsplit('.').next() {
        Some("ts") => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Some("tsx") => tree_sitter_typescript::LANGUAGE_TSX.into(),
        _ => tree_sitter_javascript::LANGUAGE.into(),
    };
    let tree = parse(&language, text);
    count_kind(tree.root_node(), &["call_expression", "new_expression"])
}

/// `T{…}` and `T x(…)` of C++, where `T` is a name.
fn makes(node: Node<'_>) -> bool {
    let named = |node: Option<Node<'_>>| {
        node.and_then(|n| n.child_by_field_name("type"))
            .is_some_and(|ty| {
                matches!(
                    ty.kind(),
                    "type_identifier" | "qualified_identifier" | "template_type"
                )
            })
    };
    match node.kind() {
        "compound_literal_expression" => named(Some(node)),
        "init_declarator" => {
            let name = node.child_by_field_name("declarator").unwrap();
            let last = name.next_sibling().unwrap();
            name.kind() == "identifier"
                && matches!(last.kind(), "argument_list" | "initializer_list")
                && named(node.parent())
        }
        _ => false,
    }
}

/// How many of some classes a node makes without a call: `T x;` and the bases and
/// members before the body of a constructor.
fn makes_silently(node: Node<'_>, text: &str, classes: &HashSet<String>) -> usize {
    let is_class = |node: Option<Node<'_>>| {
        let name = node.map(|n| &text[n.byte_range()]).unwrap_or_default();
        let name = name.split('<').next().unwrap_or_default();
        classes.contains(name.rsplit("::").next().unwrap_or_default())
    };
    match node.kind() {
        "field_initializer" => usize::from(is_class(node.named_child(0))),
        "declaration" if is_class(node.child_by_field_name("type")) => {
            let mut cursor = node.walk();
            node.children_by_field_name("declarator", &mut cursor)
                .filter(|n| n.kind() == "identifier")
                .count()
        }
        _ => 0,
    }
}

/// The classes that a text of C++ declares.
fn classes(text: &str) -> Vec<String> {
    let tree = parse(&tree_sitter_cpp::LANGUAGE.into(), text);
    let mut found = Vec::new();
    let mut todo = vec![tree.root_node()];
    while let Some(node) = todo.pop() {
        if matches!(node.kind(), "class_specifier" | "struct_specifier")
            && let Some(name) = node.child_by_field_name("name")
        {
            found.push(text[name.byte_range()].to_string());
        }
        let mut cursor = node.walk();
        todo.extend(node.children(&mut cursor));
    }
    found
}

/// Calls and `new`s of C or C++, those inside attributes apart, and what makes some
/// classes without one.
fn count_c(language: &Language, text: &str, classes: &HashSet<String>) -> usize {
    let tree = parse(language, text);
    let is_cpp = *language == Language::from(tree_sitter_cpp::LANGUAGE);
    let mut total = 0;
    let mut todo = vec![tree.root_node()];
    while let Some(node) = todo.pop() {
        if matches!(node.kind(), "attribute_specifier" | "attribute_declaration") {
            continue;
        }
        let is_call = matches!(node.kind(), "call_expression" | "new_expression");
        total += usize::from(node.is_named() && (is_call || (is_cpp && makes(node))));
        if is_cpp {
            total += makes_silently(node, text, classes);
        }
        let mut cursor = node.walk();
        todo.extend(node.children(&mut cursor));
    }
    total
}

fn count_all(graph: &CodeGraph) -> usize {
    // A parser that knows no macros does not see the class.
    let plain = |text: &str| text.replace("class MILL_EXPORT", "class");
    let classes: HashSet<String> = graph
        .files()
        .iter()
        .filter(|file| file.path.ends_with(".cc") || file.path.ends_with(".h"))
        .flat_map(|file| classes(&plain(&file.text)))
        .collect();
    graph
        .files()
        .iter()
        .map(|file| match file.path.rsplit('.').next() {
            Some("rs") => count_rust(&file.text),
            Some("py") => count_python(&file.text),
            Some("go") => count_go(&file.text),
            Some("c") => count_c(&tree_sitter_c::LANGUAGE.into(), &file.text, &classes),
            Some("cc" | "h") => count_c(
                &tree_sitter_cpp::LANGUAGE.into(),
                &plain(&file.text),
                &classes,
            ),
            Some("java") => count_java(&file.text),
            Some("ts" | "tsx" | "js") => count_script(&file.path, &file.text),
            _ => 0,
        })
        .sum()
}

#[test]
fn every_call_expression_is_a_site_in_one_state() {
    for name in [
        "sample_rust",
        "sample_python",
        "sample_ts",
        "sample_go",
        "sample_java",
        "sample_c",
        "sample_cpp",
    ] {
        let snapshot = load(fixture(name));
        check_invariants(&snapshot.graph);
        assert_eq!(
            snapshot.graph.sites().len(),
            count_all(&snapshot.graph),
            "{name}"
        );
    }
}

#[test]
fn calls_in_unusual_places_are_sites() {
    let python = "\
@decorate(1)
def f(a=default(), *b, **c) -> ann():
    x = f\"{shown(inner())}\"
    return [g(i) for i in seq() if cond()]
class C(base(), metaclass=meta()):
    y = z()
print((lambda: deep())())
with a() as b, c() as d: pass
assert check(), message()
match subject():
    case Point(x=0): pass
";
    let rust = "\
const N: usize = size();
static S: &str = name!();
fn f() -> impl Fn() {
    let x = vec![one(), two()];
    assert_eq!(three(four(x)), format!(\"{}\", five()));
    let y = unknown_macro!(six());
    (seven())(eight());
    a.b::<u8>(nine()).await?.c(|z| ten(z));
    if let Some(q) = eleven() { twelve(q) }
}
";
    let go = "\
package c
var a, b = first(second())
const size = len(\"x\")
type T struct { f [cap(list)]int }
func f() (n int) {
	defer func() { recover() }()
	go worker(<-next())
	if v, ok := look()[key()].(T); ok { v.run()() }
	for i, x := range items() { use(i, x) }
	switch y := kind().(type) { case int: return int(one()) + y; default: other() }
	select { case z := <-ch(): take(z); case out() <- in(): }
	m := map[string]func(){\"a\": bind(T{f: fill()})}
	m[\"a\"]()
	return *(*int)(unsafe.Pointer(&n)) + Sum[int](List[int](nil), []byte(text())...)
label:
	goto label
}
";
    let java = "\
class D<T extends E> extends F<G> {
    static int n = size(), m = new int[rows()].length;
    static { init(); }
    { each(this::x, E::new); }
    D() { this(first()); }
    D(int i) { super(second(i)); }
    @A(name = \"x\") <U> U call(U... us) throws X {
        outer: for (int i = from(); i < to(); i = step(i)) { continue outer; }
        for (var u : items()) use(u);
        try (var r = open()) { r.read().close(); } catch (X | Y e) { e.print(); } finally { done(); }
        switch (kind()) { case ONE -> one(); case P(var a, int b) when ok(a) -> two(); default -> yield(); }
        Runnable later = () -> { run(); };
        new Thread(new Runnable() { public void run() { inner(); } }).start();
        D.super.call(); super.<U>call(); new D<>(1) {{ add(1); }}; outer.new Inner(2);
        assert check() : message();
        return o instanceof String s && s.isEmpty() ? (U) cast() : this.<U>pick(ternary())[index()];
    }
}
";
    let c = "\
#define CALL(x) x()
#if VERSION(1)
static int table[] = { sizeof(int[size()]), [at()] = 2 };
#endif
struct s { int (*f)(int), b : width(); } __attribute__((aligned(8), nonnull(1)));
enum { A = value(), B };
int f(int (*g)(int), int n[bound()]) {
    for (int i = from(); i < to(); i = step(i)) { if (a()) continue; else b(); }
    do { switch (kind()) { case 1: one(); default: goto end; } } while (more());
    struct s s = { .f = pick(), .b = ((int (*)(void))cast())() };
    (*s.f)(g(s.f(1))); (s.f)(2); table[index()] = n[(*g)(3)]++, last();
    x = CALL(y) ? yes() : no(), (struct s){ part() };
#ifdef A
    if (first()) {
#else
    if (second()) {
#endif
        third();
    }
end:
    return sizeof(h()) + _Generic(i(), int: j())(), __builtin_expect(k(), 1);
}
";
    let cpp = "\
template <int N = size()> struct A : B<one()> {
    A() : a(two()), b{three()}, B<1>(four()) { five(); }
    int a = six(), b{seven()};
    operator bool() const noexcept(eight()) { return nine(); }
    auto f(int x = ten()) -> decltype(eleven()) { return this->g<int>(twelve()); }
};
auto l = [c = thirteen()](auto x) { return [&] { return x(fourteen()); }(); };
void h() {
    auto* p = new A<1>(fifteen()); delete new B; new (place()) C[count()]{sixteen()};
    for (auto& x : seventeen()) x->y().z();
    if (auto q = eighteen(); nineteen(q)) ns::twenty<int>(ns::a::b(), ::c());
    try { throw E(t()); } catch (const E& e) { e.what(); }
    static_cast<int>(u()); int(v()); T{w()}; a.~A(); p->A::f(); (p->*m)(n()); a(b)(c)(d...);
    co_await o(); static_assert(s()); [[maybe_unused, x::y(1)]] int z(zz()); vec[ww()]();
}
namespace { int i = R\"(f())\" + j(); }
using X = decltype(k()); enum class Y : decltype(m()) { V = n() };
";
    let script = "\
@decorate(one())
class A extends mixed(B, two()) implements C {
    [computed()]() { return three(); }
    static { four(); }
    x = five(`${six()}`);
    constructor(private y = seven()) { super(eight()); }
    get z() { return new (nine())(ten()); }
}
const { p = eleven(), [twelve()]: q } = await import('./c');
export default thirteen`${fourteen()}`;
for (const r of fifteen()) for (let i = sixteen(); i < 1; i++) a?.b?.[c()]?.(d());
const o = { f() { return g(); }, h: () => i(), ...j(), [k()]: l() };
if (m() instanceof A && n()) (async () => { await o.f(); })();
enum E { V = w() }
const t = <T,>(u: T) => v<T>(u)!.w() as X;
label: switch (s()) { case u(): throw new Error(x()); }
module.exports = { y: y(), z: require('./z').z };
const e = require('./e'), { ff } = require('./f');
function* gen() { yield* aa(yield bb()); }
";
    let dir = tree(&[
        ("a.py", python),
        ("b.rs", rust),
        ("c.go", go),
        ("D.java", java),
        ("e.ts", script),
        ("g.c", c),
        ("h.cpp", cpp),
        ("f.jsx", "const a = <B c={d()}>{e(<F g={h()} />)}</B>;\n"),
    ]);
    let graph = load(dir.path()).graph;
    check_invariants(&graph);
    assert_eq!(
        graph.sites().len(),
        count_python(python)
            + count_rust(rust)
            + count_go(go)
            + count_java(java)
            + count_c(&tree_sitter_c::LANGUAGE.into(), c, &HashSet::new())
            + count_c(
                &tree_sitter_cpp::LANGUAGE.into(),
                cpp,
                &classes(cpp).into_iter().collect()
            )
            + count_script("c.ts", script)
            + 3
    );
}

/// Where items lie between braces of a macro, and what they say, is read as if
/// the macro were not there.
#[test]
fn items_within_macros_are_read_in_their_place() {
    let wrapped = "\
cfg_unix! {
    #![any(unix)]
    /// A pipe.
    pub struct Pipe { end: End }
    pub mod inner;
    impl Pipe {
        pub fn open() -> Pipe { Pipe::checked(End::new()) }
        cfg_more! {
            /// Checks it.
            fn checked(end: End) -> Pipe { end.touch(); vec![Pipe { end }].remove(0) }
        }
    }
}
pub struct End;
impl End { pub fn new() -> End { End } fn touch(&self) {} }
thread_local! { static DEPTH: End = End::new(); }
fn f() { cfg_unix! { fn g() { Pipe::open(); } } g() }
";
    let openers = ["cfg_unix! {", "cfg_more! {", "thread_local! {"];
    let mut plain = wrapped.to_owned();
    for opener in openers {
        while let Some(at) = plain.find(opener) {
            let open = at + opener.len() - 1;
            let mut depth = 0;
            let close = plain[open..]
                .bytes()
                .position(|b| {
                    depth += i32::from(b == b'{') - i32::from(b == b'}');
                    depth == 0
                })
                .unwrap();
            plain.replace_range(open + close..=open + close, " ");
            plain.replace_range(at..=open, &" ".repeat(opener.len()));
        }
    }
    let read = |text: &str| {
        let graph = load(tree(&[("src/lib.rs", text), ("src/inner.rs", "")]).path()).graph;
        check_invariants(&graph);
        let nodes: Vec<_> = graph
            .nodes()
            .iter()
            .map(|n| (n.kind, n.qualified_name.clone(), n.span, n.doc.clone()))
            .collect();
        let sites: Vec<_> = graph
            .sites()
            .iter()
            .map(|s| (s.callee.clone(), s.span, s.state.clone()))
            .filter(|(callee, ..)| !openers.iter().any(|o| o.starts_with(&**callee)))
            .collect();
        (nodes, sites)
    };
    let (nodes, sites) = read(wrapped);
    assert!(nodes.iter().any(|n| n.1.ends_with("Pipe::checked")));
    assert_eq!(sites.len(), 8, "{sites:?}");
    assert_eq!((nodes, sites), read(&plain));
}

/// Tokens that are no items, or not without an error, are a macro's own affair.
#[test]
fn other_macro_bodies_are_left_alone() {
    let text = "\
flags! { struct Flags: u32 { const A = size(); } }
table! { \"a\" => first(), \"b\" => second() }
items! { fn whole() { third() } fn broken( { fourth() }
}
";
    let graph = load(tree(&[("src/lib.rs", text)]).path()).graph;
    assert_eq!(graph.sites().len(), 3);
    assert!(graph.nodes().iter().all(|n| n.kind == NodeKind::File));
}
