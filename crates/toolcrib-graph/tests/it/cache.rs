//! G3: what was read before is used again, and never changes the graph.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use toolcrib_graph::{CachedProvider, ScanOptions, Snapshot};

use crate::support::{fixture, tree};

fn plain(root: &Path) -> String {
    let snapshot = Snapshot::load(root, &ScanOptions::default()).unwrap();
    format!("{}{:?}", snapshot.graph.dump(), snapshot.report)
}

/// The graph by way of a cache, and how many files had to be parsed.
fn cached(dir: &Path, root: &Path) -> (String, usize) {
    let provider = CachedProvider::new(dir, root);
    let snapshot = Snapshot::load_with(root, &ScanOptions::default(), &provider).unwrap();
    let dump = format!("{}{:?}", snapshot.graph.dump(), snapshot.report);
    (dump, provider.parsed())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let at = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &at);
        } else {
            fs::copy(&path, &at).unwrap();
        }
    }
}

/// Sources of every language in one tree.
fn everything() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut names: Vec<_> = fs::read_dir(fixture(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names.len(), 15);
    for name in names {
        copy(&fixture(name.to_str().unwrap()), &dir.path().join(&name));
    }
    dir
}

fn sources(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut dirs = vec![root.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn g03_a_second_start_parses_only_what_changed() {
    let (dir, root) = (tempfile::tempdir().unwrap(), everything());
    let (first, parsed) = cached(dir.path(), root.path());
    assert_eq!(first, plain(root.path()));
    assert!(parsed > 60, "{parsed}");
    assert_eq!(cached(dir.path(), root.path()), (first, 0));
    let changed = root.path().join("sample_go/queue/null.go");
    let text = fs::read_to_string(&changed).unwrap();
    fs::write(&changed, format!("{text}\nfunc added() {{}}\n")).unwrap();
    let (second, parsed) = cached(dir.path(), root.path());
    assert_eq!(parsed, 1);
    assert_eq!(second, plain(root.path()));
    // Touched is not changed.
    fs::write(&changed, fs::read(&changed).unwrap()).unwrap();
    assert_eq!(cached(dir.path(), root.path()), (second, 0));
}

#[test]
fn g03_trees_do_not_share_a_cache() {
    let dir = tempfile::tempdir().unwrap();
    let one = tree(&[("a.py", "def one(): ...\n")]);
    let two = tree(&[("a.py", "def two(): ...\n")]);
    for root in [&one, &two, &one, &two] {
        assert_eq!(cached(dir.path(), root.path()).0, plain(root.path()));
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    assert_eq!(cached(dir.path(), one.path()).1, 0);
}

#[test]
fn g03_what_is_kept_is_the_users_alone_and_nothing_is_left_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = tree(&[("a.py", "def one(): ...\n")]);
    let kept = dir.path().join("new/graph");
    cached(&kept, root.path());
    let names: Vec<PathBuf> = sources(&kept);
    assert_eq!(names, [CachedProvider::new(&kept, root.path()).path()]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&kept), 0o700);
        assert_eq!(mode(&names[0]), 0o600);
    }
}

#[test]
fn g03_a_cache_that_cannot_be_used_is_done_without() {
    let root = tree(&[
        ("a.py", "def one(): ...\n"),
        ("b.rs", "fn two() { one() }\n"),
    ]);
    let expected = plain(root.path());
    // A file where its directory should be.
    let blocked = tempfile::tempdir().unwrap();
    fs::write(blocked.path().join("graph"), "").unwrap();
    let (dump, parsed) = cached(&blocked.path().join("graph"), root.path());
    assert_eq!((dump, parsed), (expected.clone(), 2));
    // A directory in its place.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(CachedProvider::new(dir.path(), root.path()).path()).unwrap();
    let (dump, parsed) = cached(dir.path(), root.path());
    assert_eq!((dump, parsed), (expected.clone(), 2));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    // Another build's, another program's, nothing at all.
    let dir = tempfile::tempdir().unwrap();
    cached(dir.path(), root.path());
    let path = CachedProvider::new(dir.path(), root.path())
        .path()
        .to_owned();
    let whole = fs::read(&path).unwrap();
    let mut older = whole.clone();
    older[20] ^= 1;
    for other in [older, b"SQLite format 3\0".to_vec(), Vec::new()] {
        fs::write(&path, other).unwrap();
        assert_eq!(cached(dir.path(), root.path()), (expected.clone(), 2));
        assert_eq!(fs::read(&path).unwrap(), whole);
        assert_eq!(cached(dir.path(), root.path()).1, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn g03_a_damaged_cache_never_changes_the_graph(
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let root = tree(&[
            ("a.py", "from b import two\ndef one(): two()\n"),
            ("b.py", "def two(): ...\n"),
            ("c.go", "package c\nfunc F() { G() }\nfunc G() {}\n"),
        ]);
        let dir = tempfile::tempdir().unwrap();
        let expected = cached(dir.path(), root.path()).0;
        let path = CachedProvider::new(dir.path(), root.path()).path().to_owned();
        let mut bytes = fs::read(&path).unwrap();
        let place = at.index(bytes.len());
        bytes[place] ^= 1 << bit;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&path, bytes).unwrap();
        let (dump, parsed) = cached(dir.path(), root.path());
        prop_assert_eq!(dump, expected);
        prop_assert!(parsed > 0);
        prop_assert_eq!(cached(dir.path(), root.path()).1, 0);
    }
}

/// One edit of a tree.
#[derive(Clone, Debug)]
enum Edit {
    Delete,
    Append(&'static str),
    Prepend(&'static str),
    Cut(prop::sample::Index),
    RenameSymbol,
    Move(&'static str),
    Copy(&'static str),
    Swap(prop::sample::Index),
}

fn edits() -> impl Strategy<Value = (prop::sample::Index, Edit)> {
    let edit = prop_oneof![
        Just(Edit::Delete),
        Just(Edit::Append("\n# a comment\n")),
        Just(Edit::Append("\nfn added() { restock() }\n")),
        Just(Edit::Append("\ndef added():\n    return load()\n")),
        Just(Edit::Append("\nfunc Added() { New() }\n")),
        Just(Edit::Prepend("\n\n")),
        Just(Edit::Prepend("// documentation only\n")),
        any::<prop::sample::Index>().prop_map(Edit::Cut),
        Just(Edit::RenameSymbol),
        Just(Edit::Move("moved")),
        Just(Edit::Copy("copied")),
        any::<prop::sample::Index>().prop_map(Edit::Swap),
    ];
    (any::<prop::sample::Index>(), edit)
}

fn apply(root: &Path, at: prop::sample::Index, edit: &Edit) {
    let files = sources(root);
    let path = &files[at.index(files.len())];
    let text = fs::read_to_string(path).unwrap();
    let renamed = |stem: &str| {
        let name = path.file_name().unwrap().to_str().unwrap();
        path.with_file_name(format!("{stem}_{name}"))
    };
    match edit {
        Edit::Delete if files.len() > 4 => fs::remove_file(path).unwrap(),
        Edit::Delete => {}
        Edit::Append(more) => fs::write(path, text + more).unwrap(),
        Edit::Prepend(more) => fs::write(path, format!("{more}{text}")).unwrap(),
        Edit::Cut(cut) => {
            let mut end = cut.index(text.len() + 1);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            fs::write(path, &text[..end]).unwrap();
        }
        Edit::RenameSymbol => fs::write(path, text.replace("load", "reload")).unwrap(),
        Edit::Move(stem) => fs::rename(path, renamed(stem)).unwrap(),
        Edit::Copy(stem) => fs::write(renamed(stem), text).unwrap(),
        Edit::Swap(other) => {
            let other = &files[other.index(files.len())];
            let theirs = fs::read(other).unwrap();
            fs::write(other, text).unwrap();
            fs::write(path, theirs).unwrap();
        }
    }
}

/// Three languages, each with files that lead to each other.
const SMALL: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"shop\"\n"),
    (
        "src/lib.rs",
        "mod stock;\npub use stock::Stock;\npub fn run() { Stock::load().restock() }\n",
    ),
    (
        "src/stock.rs",
        "/// Goods.\npub struct Stock;\nimpl Stock {\n    pub fn load() -> Stock { Stock }\n    pub fn restock(&self) {}\n}\n",
    ),
    ("shop/__init__.py", "from .store import load\n"),
    (
        "shop/store.py",
        "from . import base\n\nclass Store(base.Base):\n    def load(self):\n        return super().load()\n\ndef load() -> Store:\n    return Store()\n",
    ),
    (
        "shop/base.py",
        "class Base:\n    def load(self): ...\n    def use(self):\n        return self.load()\n",
    ),
    ("go.mod", "module shop\n"),
    (
        "main.go",
        "package main\n\nimport \"shop/queue\"\n\nfunc main() { queue.New().load() }\n",
    ),
    (
        "queue/queue.go",
        "package queue\n\ntype Queue struct{}\n\nfunc New() *Queue { return nil }\n\nfunc (q *Queue) load() {}\n",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn g03_after_any_edits_the_graph_is_that_of_a_full_build(
        steps in prop::collection::vec(edits(), 1..5),
    ) {
        let (dir, root) = (tempfile::tempdir().unwrap(), tree(SMALL));
        cached(dir.path(), root.path());
        for (at, edit) in steps {
            apply(root.path(), at, &edit);
            let (dump, parsed) = cached(dir.path(), root.path());
            prop_assert_eq!(dump, plain(root.path()));
            prop_assert!(parsed <= 2);
        }
    }
}
