//! G4: the same tree gives the same graph, byte for byte.

use toolcrib_graph::{ScanOptions, Snapshot};

use crate::support::{fixture, tree};

fn dump(root: &std::path::Path, threads: usize) -> String {
    let options = ScanOptions {
        threads: Some(threads),
        ..ScanOptions::default()
    };
    Snapshot::load(root, &options).unwrap().graph.dump()
}

#[test]
fn g04_two_builds_and_any_number_of_threads_are_equal() {
    for name in ["sample_rust", "sample_python", "sample_ts"] {
        let once = dump(&fixture(name), 1);
        assert!(once.len() > 10_000);
        for threads in [1, 2, 4] {
            assert_eq!(once, dump(&fixture(name), threads), "{name} {threads}");
        }
    }
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(dump(&own, 1), dump(&own, 3));
}

#[test]
fn g04_the_absolute_path_is_not_in_the_graph() {
    let files = [
        ("src/lib.rs", "pub mod a;\npub fn f() { a::g() }\n"),
        ("src/a.rs", "pub fn g() {}\n"),
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("p/__init__.py", "from .m import f\n"),
        ("p/m.py", "def f(): pass\n"),
    ];
    let mut backwards = files;
    backwards.reverse();
    let (one, two) = (tree(&files), tree(&backwards));
    assert_eq!(dump(one.path(), 1), dump(two.path(), 2));
}

#[test]
fn symbols_survive_lines_that_shift() {
    let before = "struct A;\nimpl A { fn f(&self) {} }\nimpl B for A { fn f(&self) {} }\n";
    let after = format!("// a line\n\n\n{before}");
    let symbols = |text: &str| -> Vec<String> {
        let dir = tree(&[("a.rs", text)]);
        let snapshot = Snapshot::load(dir.path(), &ScanOptions::default()).unwrap();
        let nodes = snapshot.graph.nodes();
        nodes.iter().map(|n| n.symbol.to_string()).collect()
    };
    assert_eq!(symbols(before), symbols(&after));
    assert_eq!(
        symbols(before),
        ["a.rs", "a.rs#A", "a.rs#A.f", "a.rs#A.f~2"]
    );
}
