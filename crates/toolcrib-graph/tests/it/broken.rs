//! G2: broken input never panics and never loses the rest.

use std::fs;

use proptest::prelude::*;
use toolcrib_graph::{Exclusion, Snapshot, SymbolTier};

use crate::support::{fixture, load, tree};

fn problems(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .report
        .problems
        .iter()
        .map(|p| format!("{} {:?}", p.path, p.kind))
        .collect()
}

fn has(snapshot: &Snapshot, name: &str) -> bool {
    snapshot.graph.by_qualified_name(name).is_some()
}

#[test]
fn g02_broken_syntax_keeps_the_rest_of_the_file() {
    let dir = tree(&[
        (
            "a.py",
            "def before():\n    pass\n\ndef broken(:\n\ndef after():\n    before()\n",
        ),
        (
            "b.rs",
            "fn before() {}\nfn broken( {{{ \n}}\nfn after() { before() }\n",
        ),
        (
            "c.go",
            "package c\nfunc before() {}\nfunc broken( {\n}\ntype T struct { a int b }\nfunc after() { before() }\n",
        ),
        (
            "D.java",
            "class D {\n int before() {}\n void broken(int {\n }\n int after() { before() }\n}\n",
        ),
        (
            "f/f.c",
            "int before(void) { return 0; }\nint broken(int {\n}\nint after(void) { return before(); }\n",
        ),
        (
            "g/g.cc",
            "namespace g {\nint before() { return 0; }\nclass X { int f(; };\nint after() { return before(); }\n}\n",
        ),
        ("empty.c", ""),
        ("empty.hpp", "\n"),
        ("empty.go", ""),
        ("Empty.java", "\n"),
        (
            "e.ts",
            "function before() {}\nfunction broken( {{{ \n}}\nfunction after() { before() }\n",
        ),
        ("empty.ts", ""),
        ("empty.py", ""),
        ("empty.rs", "\n\n"),
    ]);
    let snapshot = load(dir.path());
    assert!(has(&snapshot, "a.before") && has(&snapshot, "a.after"));
    assert!(has(&snapshot, "c.before") && has(&snapshot, "c.after"));
    assert!(has(&snapshot, "D.before") && has(&snapshot, "D.after"));
    assert!(has(&snapshot, "before") && has(&snapshot, "after"));
    assert!(has(&snapshot, "g::before") && has(&snapshot, "g::after"));
    assert!(has(&snapshot, "b::before"));
    assert!(has(&snapshot, "e.before"));
    assert_eq!(snapshot.graph.files().len(), 14);
    assert_eq!(
        problems(&snapshot),
        [
            "D.java SyntaxErrors",
            "a.py SyntaxErrors",
            "b.rs SyntaxErrors",
            "c.go SyntaxErrors",
            "e.ts SyntaxErrors",
            "f/f.c SyntaxErrors",
            "g/g.cc SyntaxErrors"
        ]
    );
}

#[test]
fn g02_other_encodings_are_read_and_said_once() {
    let dir = tree(&[("good.py", "def good(): pass\n")]);
    fs::write(
        dir.path().join("latin.py"),
        b"# caf\xe9\ndef latin(): pass\n",
    )
    .unwrap();
    let wide: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(
            "def wide(): pass\r\n"
                .encode_utf16()
                .flat_map(u16::to_le_bytes),
        )
        .collect();
    fs::write(dir.path().join("wide.py"), wide).unwrap();
    fs::write(
        dir.path().join("mark.py"),
        "\u{feff}def mark(): pass\r\ndef two(): mark()\r\n",
    )
    .unwrap();
    fs::write(dir.path().join("nul.py"), b"def nul(): pass\n\0").unwrap();
    let mut late = b"def late(): pass\n".repeat(600);
    late.extend(b"\0\ndef last(): pass\n");
    fs::write(dir.path().join("late.py"), late).unwrap();
    let snapshot = load(dir.path());
    for name in [
        "good.good",
        "latin.latin",
        "wide.wide",
        "mark.mark",
        "mark.two",
        "late.late",
    ] {
        assert!(has(&snapshot, name), "{name}");
    }
    assert_eq!(snapshot.report.excluded_count(Exclusion::Binary), 1);
    let said = problems(&snapshot);
    assert!(
        said.contains(&"latin.py ReplacedBytes".to_string()),
        "{said:?}"
    );
    assert!(said.contains(&"wide.py Utf16".to_string()), "{said:?}");
}

#[test]
fn g02_deep_nesting_neither_overflows_nor_loses_other_files() {
    let depth = 2_000;
    let parens = format!(
        "def deep():\n    return {}1{}\n\ndef after():\n    deep()\n",
        "(".repeat(depth),
        ")".repeat(depth)
    );
    let calls = format!(
        "def deep():\n    return {}1{}\n\ndef after():\n    deep()\n",
        "f(".repeat(depth),
        ")".repeat(depth)
    );
    let chain = format!(
        "fn deep() {{ a{}; }}\nfn after() {{ deep() }}\n",
        ".b()".repeat(depth)
    );
    let blocks = format!(
        "fn deep() {} {}\nfn after() {{ deep() }}\n",
        "{".repeat(depth),
        "}".repeat(depth)
    );
    let types = format!(
        "fn deep(x: {}u8{}) {{}}\nfn after() {{ deep() }}\n",
        "Vec<".repeat(depth),
        ">".repeat(depth)
    );
    let modules = format!(
        "{} {}\nfn after() {{}}\n",
        "mod m {".repeat(depth),
        "}".repeat(depth)
    );
    let patterns = format!(
        "fn deep() {{ let {}x{} = y; }}\nfn after() {{ deep() }}\n",
        "Some(".repeat(depth),
        ")".repeat(depth)
    );
    let after_script = "function after() { deep() }\n";
    let script = |open: &str, inner: &str, close: &str| {
        format!(
            "function deep() {{ return {}{inner}{}; }}\n{after_script}",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let mut classes = String::new();
    for level in 0..200 {
        classes.push_str(&format!("{}class C{level}:\n", " ".repeat(level)));
    }
    classes.push_str(&format!("{}pass\ndef after(): pass\n", " ".repeat(200)));
    let go = |inside: &str, left: &str, middle: &str, right: &str| {
        format!(
            "package p\nfunc deep() {{ {inside}{}{middle}{} }}\nfunc after() {{ deep() }}\n",
            left.repeat(depth),
            right.repeat(depth)
        )
    };
    let java = |inside: &str, left: &str, middle: &str, right: &str| {
        format!(
            "class T {{\n void deep() {{ {inside}{}{middle}{} }}\n void after() {{ deep(); }}\n}}\n",
            left.repeat(depth),
            right.repeat(depth)
        )
    };
    let c = |inside: &str, left: &str, middle: &str, right: &str| {
        format!(
            "void deep(void) {{ {inside}{}{middle}{} }}\nvoid after(void) {{ deep(); }}\n",
            left.repeat(depth),
            right.repeat(depth)
        )
    };
    let nested = [
        ("c_calls/a.c", c("", "f(", "1", ");")),
        ("c_blocks/a.c", c("", "{", "", "}")),
        ("c_chain/a.c", c("a", "->b", ";", "")),
        ("c_braces/a.c", c("T x = ", "{", "1", "};")),
        ("c_structs/a.c", c("", "struct a { ", "int x;", "} y;")),
        ("c_directives/a.c", c("", "\n#if A\n{\n", "", "\n#endif\n")),
        ("cpp_types/a.cc", c("", "L<", "T", "> x;")),
        ("cpp_paths/a.cc", c("", "a::", "f();", "")),
        ("cpp_lambdas/a.cc", c("", "[] { ", "1;", " }();")),
        ("cpp_classes/a.cc", c("", "class A { ", "int x;", "};")),
        (
            "cpp_spaces/a.cc",
            format!(
                "{}int x;{}\n",
                "namespace n {".repeat(depth),
                "}".repeat(depth)
            ),
        ),
        ("go_calls/a.go", go("", "f(", "1", ")")),
        ("go_chain/a.go", go("a", ".b()", "", "")),
        ("go_types/a.go", go("var x ", "[]", "int", "")),
        ("go_blocks/a.go", go("", "{", "", "}")),
        ("go_closures/a.go", go("", "func() {", "", "}()\n")),
        ("go_literals/a.go", go("_ = []T", "{", "", "}")),
        (
            "go_switches/a.go",
            go("", "switch x := y.(type) { case T: ", "", "}"),
        ),
        ("java_calls/T.java", java("", "f(", "1", ");")),
        ("java_chain/T.java", java("a", ".b()", ";", "")),
        ("java_types/T.java", java("", "L<", "T", "> x;")),
        (
            "java_lambdas/T.java",
            java("x = ", "() -> ", "1", "").replace("1", "1;"),
        ),
        ("java_classes/T.java", java("", "new T() {{ ", "", "}};")),
        (
            "java_ifs/T.java",
            java("", "if (o instanceof T t) {", "", "}"),
        ),
        ("java_casts/T.java", java("x = ", "(T) ", "1;", "")),
    ];
    for (path, text) in &nested {
        let dir = tree(&[(path, text), ("good.py", "def good(): pass\n")]);
        let snapshot = load(dir.path());
        assert!(has(&snapshot, "good.good"), "{path}");
        assert_eq!(snapshot.graph.files().len(), 2, "{path}");
        crate::states::check_invariants(&snapshot.graph);
    }
    let dir = tree(&[
        ("parens.py", &parens),
        ("calls.py", &calls),
        ("classes.py", &classes),
        ("chain.rs", &chain),
        ("blocks.rs", &blocks),
        ("types.rs", &types),
        ("modules.rs", &modules),
        ("patterns.rs", &patterns),
        ("good.py", "def good(): pass\n"),
        ("parens.ts", &script("(", "1", ")")),
        ("calls.tsx", &script("f(", "1", ")")),
        (
            "chain.tsx",
            &script("", &format!("a{}", ".b()".repeat(depth)), ""),
        ),
        (
            "blocks.ts",
            &format!(
                "function deep() {} {}\n{after_script}",
                "{".repeat(depth),
                "}".repeat(depth)
            ),
        ),
        ("arrows.ts", &script("(x) => (", "1", ")")),
        (
            "objects.ts",
            &format!(
                "export const deep = {}1{};\n{after_script}",
                "{ a: ".repeat(depth),
                " }".repeat(depth)
            ),
        ),
        (
            "types.ts",
            &format!(
                "function deep(x: {}number{}) {{}}\n{after_script}",
                "Array<".repeat(depth),
                ">".repeat(depth)
            ),
        ),
        (
            "patterns.ts",
            &format!(
                "function deep() {{ const {}x{} = y; }}\n{after_script}",
                "{ a: ".repeat(depth),
                " }".repeat(depth)
            ),
        ),
        (
            "spaces.ts",
            &format!(
                "{} {}\n{after_script}",
                "namespace n {".repeat(depth),
                "}".repeat(depth)
            ),
        ),
        ("markup.tsx", &script("<a>", "", "</a>")),
        ("text.ts", &script("`${", "1", "}`")),
        ("sums.ts", &script("1 + ", "1", "")),
    ]);
    let snapshot = load(dir.path());
    for name in [
        "good.good",
        "chain.after",
        "blocks.after",
        "arrows.after",
        "objects.after",
        "types.after",
        "patterns.after",
        "spaces.after",
        "markup.after",
        "text.after",
        "sums.after",
        "parens.after",
        "calls.after",
        "classes.after",
        "chain::after",
        "blocks::after",
        "types::after",
        "modules::after",
        "patterns::after",
    ] {
        assert!(has(&snapshot, name), "{name}");
    }
}

#[test]
fn g02_chains_through_many_definitions_end() {
    let mut text =
        String::from("class A:\n    def next(self):\n        return self.next().next()\n\n");
    for i in 0..300 {
        text.push_str(&format!(
            "def f{i}(): return f{}() or f{}()\n",
            i + 1,
            i + 2
        ));
    }
    text.push_str("a = A()\nf0().go()\n");
    for _ in 0..300 {
        text.push_str("a = a.next() or a.other()\n");
    }
    let dir = tree(&[("a.py", &text)]);
    assert!(has(&load(dir.path()), "a.f299"));
}

#[test]
fn g02_values_that_lead_to_themselves_end() {
    let dir = tree(&[
        (
            "a.py",
            "x = x\ny = z\nz = y\nclass A:\n    b = b\n    c: c = c\n    def f(self): self.b = self.b.b\n\
             class D(D): pass\nclass E(F): pass\nclass F(E): pass\nx.go()\nz.go()\nA().b.go()\nE().go()\n",
        ),
        ("p/__init__.py", "from .q import *\nfrom . import q\n"),
        (
            "p/q.py",
            "from . import *\nfrom p import q\nq.q.q.go()\nmissing()\n",
        ),
        (
            "loop/a.ts",
            "export * from './b';\nexport { x as y } from './b';\nimport { y } from './a';\n\
             type T = T; type U<V> = W<V>; type W<V> = U<V>;\ninterface I extends J {} interface J extends I {}\n\
             class A extends B {} class B extends A { b = this.b; f() { return this.f().f(); } }\n\
             const o = { o, p: o.p, get q() { return this.q; } };\nlet z = z; z = z.z;\n\
             function f(t: T, u: U<number>, i: I) { t.go(); u.go(); i.go(); new A().f().go(); o.p.go(); o.q.go(); y.go(); z.go(); }\n\
             export default f; export { f as default };\n",
        ),
        (
            "loop/b.js",
            "export * from './a';\nexport { y as x } from './a';\nmodule.exports = require('./b');\nexports.c = require('./b').c;\n",
        ),
        (
            "src/lib.rs",
            "pub use self::a::*;\npub mod a { pub use super::*; pub use super::X as X; }\n\
             type T = T; type U<V> = W<V>; type W<V> = U<V>;\n\
             trait P: Q {} trait Q: P {}\nfn f(t: T, u: U<u8>, p: &dyn P) { t.go(); u.go(); p.go(); X::go(); }\n\
             struct S; impl std::ops::Deref for S { type Target = S; }\nfn g(s: S) { s.go(); }\n",
        ),
        (
            "g/g.go",
            "package g\nimport . \"g\"\nimport g \"g\"\ntype A B\ntype B A\ntype C = D\ntype D = C\n\
             type E struct { F; *E }\ntype F struct { E }\ntype I interface { J }\ntype J interface { I }\n\
             type L []L\ntype M map[M]M\nvar x, y = y, x\nvar z = z.z()\nfunc (a A) f() A { return a.f().g() }\n\
             func h(a A, c C, e E, i I, l L) { a.go_(); c.go_(); e.go_(); i.go_(); l[0][0].go_(); x.go_(); g.g.go_()\n\
             for k, v := range l { k.x(); v = v[0]; v.x() }\nw := w\nw.x() }\n",
        ),
        (
            "c/a.c",
            "#include \"a.c\"\n#include \"a.h\"\ntypedef A B; typedef B A; typedef A A;\nstruct s { struct s s; A a; s (*f)(s); };\n\
             int f(struct s s) { s.s.s.f(s).f(s); a.go(); f(f)(f); return g(h); }\n#define g g\n#define h(x) h(h)\nint h(int), h(int);\n",
        ),
        ("c/a.h", "#include \"a.h\"\n#include \"a.c\"\nstruct s;\n"),
        (
            "c/b.cc",
            "#include \"b.cc\"\nusing namespace n; namespace n { using namespace n; using n::x; using n::y; using x = y; using y = x; using z = z; }\n\
             namespace m = n; namespace n { using m::f; using n::f; } namespace m = m;\n\
             struct A : B { A a; A operator->(); A operator[](int); A operator()(); auto f() { return f()->g(); } using A::f; };\n\
             struct B : A { B* b; virtual void v(); }; struct C : C { struct C : C::C {}; }; template <class T> struct D : D<D<T>> { T t; };\n\
             void A::f() { f(); a.b.c; } void B::B::B::f() {} void n::m::f() { n::m::n::f(); } void A::A::g() { a->a[0]()->v(); }\n\
             auto q = q; auto r = r.r; auto s = [] { s(); return s; }; void go(A a, D<int> d, n::x x, n::z z) { a->go(); d.t.t.go(); x.go(); z.go(); q.go(); r(); s(); }\n",
        ),
        (
            "A.java",
            "import static p.A.*; import p.*;\nclass A extends B { A a = a.a; A f() { return f().g().f(); } void f(int i) { super.f(); f(1, 2); go(); } }\n\
             class B extends A { B b = b; class B extends A.B {} }\ninterface C extends D { default void go() { go(); } }\ninterface D extends C {}\n\
             class G<T extends G<T>> { T t; void go() { t.t.t.go(); t.no(); } }\nclass H extends H.I { class I {} }\n\
             enum E { X { void go() { X.go(); go(); } }; E e = X; }\nrecord R(R r) { R r() { return r.r(); } }\n",
        ),
    ]);
    crate::states::check_invariants(&load(dir.path()).graph);
}

#[test]
fn g02_hundreds_of_globs_in_circles_end() {
    let mut text = String::new();
    for i in 0..300 {
        text.push_str(&format!(
            "pub mod m{i} {{ pub use super::*; use super::missing{i}; pub fn f{i}() {{ f{}(); nowhere(); }} }}\npub use m{i}::*;\n",
            (i + 7) % 300
        ));
    }
    let dir = tree(&[("src/lib.rs", &text)]);
    let graph = load(dir.path()).graph;
    let [resolved, .., unresolved] = graph.site_counts();
    assert_eq!((resolved.1, unresolved.1), (300, 300));
}

#[test]
fn g02_files_that_import_themselves_many_times_end() {
    let many = |text: &str| text.repeat(12);
    let script = many(
        "import { x } from './a';\nimport y from './a';\nexport { x, z } from './a';\nexport * from './a';\n",
    );
    let python = many("from b import x\nfrom .b import x, y\nfrom b import *\n");
    let java = many("import p.A.x;\nimport p.A;\nimport static p.A.*;\nimport p.*;\n");
    let go = many("import \"d\"\nimport . \"d\"\nimport x \"d\"\n");
    let c =
        many("#include \"c.h\"\nusing n::x; using namespace n; using x::n; namespace m = n::m;\n");
    let dir = tree(&[
        (
            "c.h",
            &format!("namespace n {{ {c} }}\nvoid f() {{ x.go(); n::x(); m::y(); }}\n"),
        ),
        (
            "c.cc",
            &format!("{c}void g() {{ x.go(); n::x(); m::y(); }}\n"),
        ),
        ("a.ts", &format!("{script}x.go(); y.go(); z();\n")),
        ("b.py", &format!("{python}x.go()\ny()\n")),
        (
            "p/A.java",
            &format!(
                "package p;\n{java}class A extends A {{ A x = x.x; void go() {{ go(); }} }}\n"
            ),
        ),
        (
            "d/d.go",
            &format!("package d\n{go}func f() {{ x.x.f(); d.f(); y() }}\n"),
        ),
    ]);
    crate::states::check_invariants(&load(dir.path()).graph);
}

#[test]
fn g02_five_megabytes_on_one_line_are_left_out_by_size() {
    let dir = tree(&[
        ("good.py", "x = 1\n"),
        ("line.py", &"x".repeat(5 * 1024 * 1024)),
    ]);
    let snapshot = load(dir.path());
    assert_eq!(snapshot.report.excluded_count(Exclusion::TooLarge), 1);
    let long = tree(&[("line.py", &format!("x = [{}]\n", "1,".repeat(400_000)))]);
    assert_eq!(load(long.path()).graph.files().len(), 1);
}

#[cfg(unix)]
#[test]
fn g02_links_are_not_followed_and_each_is_said_once() {
    use std::os::unix::fs::symlink;
    let outside = tree(&[("secret.py", "def secret(): pass\n")]);
    let dir = tree(&[("src/a.py", "def a(): pass\n")]);
    symlink("nowhere", dir.path().join("dangling")).unwrap();
    symlink("..", dir.path().join("src/up")).unwrap();
    symlink("self", dir.path().join("self")).unwrap();
    symlink(outside.path(), dir.path().join("outside")).unwrap();
    symlink(
        outside.path().join("secret.py"),
        dir.path().join("secret.py"),
    )
    .unwrap();
    symlink("src/a.py", dir.path().join("alias.py")).unwrap();
    let snapshot = load(dir.path());
    assert_eq!(snapshot.graph.files().len(), 1);
    assert_eq!(
        problems(&snapshot),
        [
            "dangling DanglingLink",
            "outside LinkOutside",
            "secret.py LinkOutside",
            "self LinkLoop",
            "src/up LinkLoop",
        ]
    );
    assert_eq!(snapshot.report.excluded_count(Exclusion::Link), 1);
}

#[cfg(unix)]
#[test]
fn g02_paths_of_any_bytes_are_listed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = tree(&[
        ("with space.py", "def f(): pass\n"),
        ("line\nbreak.py", "def f(): pass\n"),
        ("Case.py", "def f(): pass\n"),
        ("case.py", "def f(): pass\n"),
    ]);
    fs::write(
        dir.path().join(OsStr::from_bytes(b"bad\xff.py")),
        "def f(): pass\n",
    )
    .unwrap();
    let snapshot = load(dir.path());
    assert_eq!(snapshot.graph.files().len(), 5);
    assert_eq!(
        problems(&snapshot),
        ["bad\\xFF.py NonUtf8Path", "case.py DiffersByCase"]
    );
}

#[test]
fn files_of_other_languages_are_listed_and_readable() {
    let dir = tree(&[
        ("a.dart", "void f() {}\n"),
        ("b.zig", "const b = 1;\n"),
        ("README.md", "# Title\n"),
        ("LICENSE", "text\n"),
    ]);
    let snapshot = load(dir.path());
    let shown: Vec<(&str, Option<&str>)> = snapshot
        .graph
        .files()
        .iter()
        .map(|f| (&*f.path, f.language.map(|l| l.name)))
        .collect();
    assert_eq!(
        shown,
        [
            ("LICENSE", None),
            ("README.md", Some("Markdown")),
            ("a.dart", Some("Dart")),
            ("b.zig", Some("Zig")),
        ]
    );
    for file in snapshot.graph.files() {
        assert!(file.language.is_none_or(|l| l.tier == SymbolTier::Text));
        assert!(!file.text.is_empty());
        assert_eq!(snapshot.graph.node(file.node).qualified_name, file.path);
    }
}

fn sample(name: &str) -> Vec<(String, Vec<u8>)> {
    load(fixture(name))
        .graph
        .files()
        .iter()
        .map(|f| (f.path.to_string(), f.text.as_bytes().to_vec()))
        .collect()
}

/// What a file says by itself, whatever is in others.
fn definitions(snapshot: &Snapshot, path: &str) -> Vec<impl PartialEq + std::fmt::Debug> {
    let graph = &snapshot.graph;
    let file = graph.by_path(path).unwrap();
    graph
        .nodes_in(file)
        .map(|(_, n)| {
            let signature = n.signature.clone();
            (
                n.kind,
                n.name.clone(),
                n.span,
                signature,
                n.doc.clone(),
                n.exported,
            )
        })
        .collect()
}

#[derive(Clone, Debug)]
enum Change {
    Flip(usize, u8),
    Splice(usize, usize, usize),
    Cut(usize),
    Delete(usize, usize),
    Overwrite(usize, u8),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), 0u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (any::<usize>(), any::<usize>(), 1usize..200)
            .prop_map(|(from, to, n)| Change::Splice(from, to, n)),
        (any::<usize>(), 1usize..40).prop_map(|(at, n)| Change::Delete(at, n)),
        (any::<usize>(), any::<u8>()).prop_map(|(at, b)| Change::Overwrite(at, b)),
        (any::<usize>(), 1usize..40).prop_map(|(at, n)| Change::Repeat(at, n)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    let len = bytes.len();
    match *change {
        Change::Cut(at) => bytes.truncate(at % len),
        Change::Flip(at, bit) => bytes[at % len] ^= 1 << bit,
        Change::Splice(from, to, n) => {
            let from = from % len;
            let part = bytes[from..(from + n).min(len)].to_vec();
            let to = to % len;
            bytes.splice(to..to, part);
        }
        Change::Delete(at, n) => {
            let at = at % len;
            bytes.drain(at..(at + n).min(len));
        }
        Change::Overwrite(at, byte) => bytes[at % len] = byte,
        Change::Repeat(at, n) => {
            let at = at % len;
            let part = bytes[at..(at + n).min(len)].to_vec();
            for _ in 0..8 {
                bytes.splice(at..at, part.iter().copied());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn g02_mutated_files_never_panic_and_never_lose_others(
        which_sample in 0usize..15,
        which in any::<usize>(),
        changes in proptest::collection::vec(change(), 1..6),
    ) {
        let full = ["sample_python", "sample_rust", "sample_ts", "sample_go", "sample_java", "sample_c", "sample_cpp"];
        let name = full.iter().chain(&crate::outlines::SAMPLES).nth(which_sample).unwrap();
        let mut files = sample(name);
        let which = which % files.len();
        let before = load(fixture(name));
        for change in &changes {
            apply(&mut files[which].1, change);
        }
        let dir = tempfile::tempdir().unwrap();
        for (path, bytes) in &files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let snapshot = load(dir.path());
        let listed: Vec<&str> = snapshot.graph.files().iter().map(|f| &*f.path).collect();
        for (i, (path, _)) in files.iter().enumerate() {
            let excluded = snapshot.report.excluded.values().flatten().any(|p| **p == **path);
            prop_assert!(listed.contains(&path.as_str()) || (i == which && excluded));
        }
        crate::states::check_invariants(&snapshot.graph);
        // In C a declaration counts only until a file defines it.
        let apart = !matches!(*name, "sample_c" | "sample_cpp");
        for (path, _) in files.iter().filter(|(path, _)| apart && *path != files[which].0) {
            prop_assert_eq!(definitions(&snapshot, path), definitions(&before, path));
        }
    }
}

/// Names of definitions, imports and files apart.
fn names(snapshot: &Snapshot) -> Vec<String> {
    let graph = &snapshot.graph;
    graph
        .nodes()
        .iter()
        .filter(|node| {
            !matches!(
                node.kind,
                toolcrib_graph::NodeKind::File | toolcrib_graph::NodeKind::Import
            )
        })
        .map(|node| node.qualified_name.to_string())
        .collect()
}

#[test]
fn g02_kotlin_bodies_on_one_line_lose_nothing_of_the_file() {
    let dir = tree(&[(
        "A.kt",
        "\
class A { fun f() {} }
class B { val x = 1; companion object { val Y = 2 } }
object C { fun g() = listOf(1).map { it } }
interface D { fun h() }
enum class E { ONE { override fun f() {} }, TWO }
@Target(AnnotationTarget.CLASS)
@Retention(AnnotationRetention.BINARY)
annotation class F
class G
@JvmOverloads
public constructor(val z: Int) {
    fun i() {}
}
fun last() {}
",
    )]);
    let snapshot = load(dir.path());
    assert_eq!(problems(&snapshot), [""; 0]);
    assert_eq!(
        names(&snapshot),
        [
            "A",
            "A.f",
            "B",
            "B.x",
            "B.Companion",
            "B.Companion.Y",
            "C",
            "C.g",
            "D",
            "D.h",
            "E",
            "E.ONE",
            "E.ONE.f",
            "E.TWO",
            "F",
            "G",
            "G.z",
            "G.i",
            "last",
        ]
    );
}

#[test]
fn g02_a_statement_that_is_not_understood_does_not_cost_its_class() {
    for (file, text, expected) in [
        (
            "a.swift",
            "\
class Outer {
  func before() {
    switch x {
    #if os(iOS)
    case .a:
      break
    #endif
    default: while { @@ }
    }
  }
  struct Inner { func deep() {} }
  func after() {}
}
func last() {}
",
            vec!["Outer", "before", "Inner", "deep", "after", "last"],
        ),
        (
            "a.kt",
            "\
class Outer {
  fun before() {
    val x = when { @@ -> ??? }
    if else while
  }
  class Inner { fun deep() {} }
  fun after() {}
}
fun last() {}
",
            vec!["Outer", "before", "Inner", "deep", "after", "last"],
        ),
        (
            "a.cs",
            "\
namespace Shop {
  class Outer {
    void Before() {
      ref ref = $$; if ( else { @ }
    }
    class Inner { void Deep() {} }
    void After() {}
  }
  class Last {}
}
",
            vec!["Outer", "Before", "Inner", "Deep", "After", "Last"],
        ),
        (
            "a.php",
            "\
<?php
class Outer {
  function before() {
    match } else while ( {
  }
  function after() {}
}
function last() {}
",
            vec!["Outer", "before", "after"],
        ),
        (
            "a.scala",
            "\
class Outer {
  def before() = {
    val x = match { case => ??? @@ }
    if else while (
  }
  object Inner { def deep() = 1 }
  def after() = 2
}
object Last
",
            vec!["Outer", "before", "Inner", "deep", "after", "Last"],
        ),
    ] {
        let dir = tree(&[(file, text)]);
        let snapshot = load(dir.path());
        let found: Vec<&str> = snapshot.graph.nodes().iter().map(|n| &*n.name).collect();
        for name in expected {
            let times = found.iter().filter(|found| **found == name).count();
            assert_eq!(times, 1, "{name} of {file}: {found:?}");
        }
    }
}
