//! G2: broken input never panics and never loses the rest.

use std::fs;

use proptest::prelude::*;
use toolcrib_graph::{Exclusion, Snapshot, SymbolTier};

use crate::support::{edges, fixture, has, load, tree};

fn problems(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .report
        .problems
        .iter()
        .map(|p| format!("{} {:?}", p.path, p.kind))
        .collect()
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
fn g02_a_bracket_that_go_leaves_open_does_not_cost_what_follows() {
    for broken in [
        "func (t T) broken() {\n\tif x {\n\t\tbefore()\n\n}\n",
        "func (t T) broken() {\n\tbefore(1, \"}\", '{'\n\n",
        "func (t T) broken() {\n\tbefore()\n\n",
        "func (t T) broken() {\n\tgo func() {\n\t\tbefore([]int{1, 2)\n\t}()\n}\n",
        "func (t T) broken() {\n\tx := `{`\n\tfor {\n\t\tif x {\n\t\t\tbefore()\n}\n",
    ] {
        let text = format!(
            "package c\n\ntype T struct{{}}\n\nfunc before() {{}}\n\n{broken}\n\
             func after() {{ before() }}\n\nfunc (t *T) last() {{ after() }}\n"
        );
        let snapshot = load(tree(&[("c.go", &text)]).path());
        let names: Vec<String> = names(&snapshot);
        for name in ["c.before", "c.T.broken", "c.after", "c.T.last"] {
            assert!(names.contains(&name.to_string()), "{broken}: {names:?}");
        }
        assert_eq!(problems(&snapshot), ["c.go SyntaxErrors"]);
        let edges = edges(&snapshot.graph);
        assert!(edges.contains("c.T.last --calls--> c.after"), "{edges}");
    }
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
    fs::write(
        dir.path().join("nul.py"),
        b"# a \0 b\ndef nul(): pass\n\0def after(): nul()\n",
    )
    .unwrap();
    fs::write(dir.path().join("nul.dat"), b"def data(): pass\n\0").unwrap();
    let object: Vec<u8> = (0..4096u32).map(|i| (i * i % 251) as u8).collect();
    fs::write(dir.path().join("video.ts"), object).unwrap();
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
        "late.last",
        "nul.nul",
        "nul.after",
    ] {
        assert!(has(&snapshot, name), "{name}");
    }
    assert_eq!(
        snapshot.report.excluded[&Exclusion::Binary],
        ["nul.dat".into(), "video.ts".into()]
    );
    let nul = snapshot.graph.by_path("nul.py").unwrap();
    let nul = snapshot.graph.file(nul);
    assert_eq!(nul.line(1), Some("# a   b"));
    let said = problems(&snapshot);
    assert!(
        said.contains(&"latin.py ReplacedBytes".to_string()),
        "{said:?}"
    );
    assert!(said.contains(&"wide.py Utf16".to_string()), "{said:?}");
    let of_nul: Vec<&String> = said.iter().filter(|s| s.ends_with(" NulBytes")).collect();
    assert_eq!(of_nul, ["late.py NulBytes", "nul.py NulBytes"]);
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
