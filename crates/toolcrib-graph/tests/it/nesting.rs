//! G2: what nests deeply, leads to itself or comes in chains ends, and costs no other file.

use crate::support::{has, load, tree};

#[test]
fn g02_deep_nesting_neither_overflows_nor_loses_other_files() {
    let depth = 2_000;
    let nest = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let parens = format!(
        "def deep():\n    return {}\n\ndef after():\n    deep()\n",
        nest("(", "1", ")")
    );
    let calls = format!(
        "def deep():\n    return {}\n\ndef after():\n    deep()\n",
        nest("f(", "1", ")")
    );
    let chain = format!(
        "fn deep() {{ a{}; }}\nfn after() {{ deep() }}\n",
        ".b()".repeat(depth)
    );
    let blocks = format!(
        "fn deep() {}\nfn after() {{ deep() }}\n",
        nest("{", " ", "}")
    );
    let types = format!(
        "fn deep(x: {}) {{}}\nfn after() {{ deep() }}\n",
        nest("Vec<", "u8", ">")
    );
    let modules = format!("{}\nfn after() {{}}\n", nest("mod m {", " ", "}"));
    let patterns = format!(
        "fn deep() {{ let {} = y; }}\nfn after() {{ deep() }}\n",
        nest("Some(", "x", ")")
    );
    let after_script = "function after() { deep() }\n";
    let script = |open: &str, inner: &str, close: &str| {
        format!(
            "function deep() {{ return {}; }}\n{after_script}",
            nest(open, inner, close)
        )
    };
    let mut classes = String::new();
    for level in 0..200 {
        classes.push_str(&format!("{}class C{level}:\n", " ".repeat(level)));
    }
    classes.push_str(&format!("{}pass\ndef after(): pass\n", " ".repeat(200)));
    let go = |inside: &str, left: &str, middle: &str, right: &str| {
        format!(
            "package p\nfunc deep() {{ {inside}{} }}\nfunc after() {{ deep() }}\n",
            nest(left, middle, right)
        )
    };
    let java = |inside: &str, left: &str, middle: &str, right: &str| {
        format!(
            "class T {{\n void deep() {{ {inside}{} }}\n void after() {{ deep(); }}\n}}\n",
            nest(left, middle, right)
        )
    };
    let c = |inside: &str, left: &str, middle: &str, right: &str| {
        format!(
            "void deep(void) {{ {inside}{} }}\nvoid after(void) {{ deep(); }}\n",
            nest(left, middle, right)
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
            format!("{}\n", nest("namespace n {", "int x;", "}")),
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
            &format!("function deep() {}\n{after_script}", nest("{", " ", "}")),
        ),
        ("arrows.ts", &script("(x) => (", "1", ")")),
        (
            "objects.ts",
            &format!(
                "export const deep = {};\n{after_script}",
                nest("{ a: ", "1", " }")
            ),
        ),
        (
            "types.ts",
            &format!(
                "function deep(x: {}) {{}}\n{after_script}",
                nest("Array<", "number", ">")
            ),
        ),
        (
            "patterns.ts",
            &format!(
                "function deep() {{ const {} = y; }}\n{after_script}",
                nest("{ a: ", "x", " }")
            ),
        ),
        (
            "spaces.ts",
            &format!("{}\n{after_script}", nest("namespace n {", " ", "}")),
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
fn g02_a_very_long_chain_on_one_line_is_read_to_its_end() {
    let links = 50_000;
    let chain = ".b()".repeat(links);
    let text = format!("package p\nfunc deep() {{ x := a{chain} }}\nfunc after() {{ deep() }}\n");
    let snapshot = load(tree(&[("p.go", &text)]).path());
    assert_eq!(snapshot.graph.sites().len(), links + 1);
    let longest = snapshot.graph.sites().iter().map(|s| s.callee.len()).max();
    assert!(
        longest.is_some_and(|longest| longest < 1_000),
        "{longest:?}"
    );
    assert!(has(&snapshot, "p.after"));
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
