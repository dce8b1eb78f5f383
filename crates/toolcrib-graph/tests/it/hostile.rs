//! G2: trees that nobody would write on purpose, one of everything a file system
//! can hold, and every language at its depth and width.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toolcrib_graph::{Exclusion, GraphError, ScanOptions, Snapshot, SymbolTier};

use crate::support::{load, tree};

/// Every reason that is given, one a path and reason.
fn said(snapshot: &Snapshot) -> Vec<String> {
    let excluded = snapshot.report.excluded.iter();
    excluded
        .flat_map(|(why, paths)| paths.iter().map(|p| format!("{p} {}", why.as_str())))
        .chain(snapshot.report.problems.iter().map(ToString::to_string))
        .collect()
}

fn paths(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.graph.files().iter().map(|f| &*f.path).collect()
}

/// One nested construct in each language: its file, then what is before, opens,
/// is inside, closes and comes after.
const NESTED: &[(&str, [&str; 5])] = &[
    (
        "calls.c",
        ["void deep() { ", "f(", "1", ")", "; }\nvoid after() {}\n"],
    ),
    (
        "blocks.c",
        ["void deep() { ", "{", "", "}", " }\nvoid after() {}\n"],
    ),
    (
        "spaces.cpp",
        ["", "namespace n { ", "", "}", "\nvoid after() {}\n"],
    ),
    (
        "classes.cpp",
        ["", "class A { ", "", "};", "\nvoid after() {}\n"],
    ),
    (
        "chain.cpp",
        ["void deep() { a", ".b()", ";", "", " }\nvoid after() {}\n"],
    ),
    (
        "classes.rb",
        ["", "class A\n", "", "end\n", "def after; end\n"],
    ),
    (
        "calls.rb",
        ["def deep\n", "f(", "1", ")", "\nend\ndef after; end\n"],
    ),
    ("arrays.rb", ["X = ", "[", "", "]", "\ndef after; end\n"]),
    (
        "classes.cs",
        ["", "class A { ", "", "}", "\nclass after {}\n"],
    ),
    (
        "blocks.cs",
        [
            "class A { void F() { ",
            "{",
            "",
            "}",
            "} }\nclass after {}\n",
        ],
    ),
    (
        "types.cs",
        ["class A { ", "L<", "int", ">", " x; }\nclass after {}\n"],
    ),
    (
        "calls.php",
        [
            "<?php\nfunction deep() { ",
            "f(",
            "1",
            ")",
            "; }\nfunction after() {}\n",
        ],
    ),
    (
        "blocks.php",
        [
            "<?php\nfunction deep() { ",
            "if (1) {",
            "",
            "}",
            " }\nfunction after() {}\n",
        ],
    ),
    (
        "classes.kt",
        ["", "class A {\n", "", "}\n", "\nfun after() {}\n"],
    ),
    (
        "calls.kt",
        ["fun deep() { ", "f(", "1", ")", " }\nfun after() {}\n"],
    ),
    (
        "types.swift",
        ["", "struct A { ", "", "}", "\nfunc after() {}\n"],
    ),
    (
        "calls.swift",
        ["func deep() { ", "f(", "1", ")", " }\nfunc after() {}\n"],
    ),
    (
        "objects.scala",
        ["", "object A { ", "", "}", "\nclass after\n"],
    ),
    (
        "calls.scala",
        ["class D { def deep = ", "f(", "1", ")", " }\nclass after\n"],
    ),
    (
        "groups.sh",
        ["deep() {\n", "{ ", "x;", " }", "\n}\nafter() { :; }\n"],
    ),
    (
        "commands.sh",
        ["deep() { x=", "$(f ", "", ")", "; }\nafter() { :; }\n"],
    ),
    (
        "functions.lua",
        ["", "function f() ", "", "end ", "\nfunction after() end\n"],
    ),
    (
        "tables.lua",
        ["x = ", "{", "", "}", "\nfunction after() end\n"],
    ),
    (
        "calls.lua",
        ["x = ", "f(", "1", ")", "\nfunction after() end\n"],
    ),
];

#[test]
fn g02_languages_bear_nesting_2000_deep() {
    let mut lost = Vec::new();
    for (path, [before, open, inside, close, after]) in NESTED {
        let text = [
            *before,
            &open.repeat(2_000),
            inside,
            &close.repeat(2_000),
            after,
        ]
        .concat();
        let dir = tree(&[(path, &text), ("good.py", "def good(): pass\n")]);
        let snapshot = load(dir.path());
        crate::states::check_invariants(&snapshot.graph);
        assert_eq!(snapshot.graph.files().len(), 2, "{path}");
        assert!(
            snapshot.graph.by_qualified_name("good.good").is_some(),
            "{path}"
        );
        let names: Vec<&str> = snapshot.graph.nodes().iter().map(|n| &*n.name).collect();
        if !names.contains(&"after") {
            lost.push(*path);
        }
    }
    assert_eq!(lost, [""; 0]);
}

/// Many definitions in a row, for files that are one line.
const REPEATED: &[(&str, &str)] = &[
    ("a.c", "void f() { g(1, \"x\"); } "),
    ("a.cpp", "class F { int f() { return g(1, \"x\"); } }; "),
    ("a.rs", "fn f() { g(1, \"x\") } "),
    ("a.py", "f(1, \"x\"); "),
    ("a.ts", "function f() { return g(1, \"x\") } "),
    ("a.jsx", "function f() { return g(1, \"x\") } "),
    ("a.go", "func f() { g(1, \"x\") }; "),
    ("A.java", "class F { int f() { return g(1, \"x\"); } } "),
    ("a.rb", "def f; g(1, \"x\"); end; attr_reader :a, :b; "),
    (
        "a.cs",
        "class F { int f() { return g(1, \"x\"); } int a, b; } ",
    ),
    ("a.php", "function f() { return g(1, \"x\"); } "),
    ("a.kt", "fun f() { g(1, \"x\") }; "),
    (
        "a.swift",
        "func f() { g(1, \"x\") }; enum E { case a, b }; ",
    ),
    ("a.scala", "class F { def f = g(1, \"x\") }; "),
    ("a.sh", "f() { g 1 \"x\"; }; "),
    ("a.lua", "function f() return g(1, \"x\") end "),
];

#[test]
fn g02_a_long_line_of_any_language_is_read_and_5_mb_of_it_left_out() {
    for (path, text) in REPEATED {
        let start = if path.ends_with(".php") { "<?php " } else { "" };
        let start = if path.ends_with(".go") {
            "package a; "
        } else {
            start
        };
        let long = format!("{start}{}", text.repeat(60_000 / text.len()));
        let huge = format!("{start}{}", text.repeat(5 * 1024 * 1024 / text.len()));
        let huge_path = format!("huge/{path}");
        let dir = tree(&[(path, &long), (&huge_path, &huge)]);
        let snapshot = load(dir.path());
        assert_eq!(paths(&snapshot), [*path]);
        assert_eq!(said(&snapshot), [format!("{huge_path} too_large")]);
        crate::states::check_invariants(&snapshot.graph);
        let file = &snapshot.graph.files()[0];
        assert_ne!(file.language.unwrap().tier, SymbolTier::Text, "{path}");
        assert!(
            *path == "a.py" || snapshot.graph.nodes().len() > 500,
            "{path}: {}",
            snapshot.graph.nodes().len()
        );
    }
}

#[test]
fn g02_other_encodings_and_nul_bytes_in_every_language() {
    for (path, text) in REPEATED {
        let dir = tree(&[("good.py", "def good(): pass\n")]);
        let name = |kind: &str| dir.path().join(format!("{kind}_{path}"));
        let mut latin = text.as_bytes().to_vec();
        latin.extend(b"\n\xe9\xff\xfe\n");
        fs::write(name("latin"), &latin).unwrap();
        fs::write(name("nul"), [text.as_bytes(), b"\0"].concat()).unwrap();
        let late = [
            &text.as_bytes().repeat(9_000 / text.len() + 1),
            b"\0\0".as_slice(),
        ]
        .concat();
        fs::write(name("late"), late).unwrap();
        fs::write(name("empty"), "").unwrap();
        let snapshot = load(dir.path());
        crate::states::check_invariants(&snapshot.graph);
        assert_eq!(snapshot.graph.files().len(), 5, "{path}");
        assert!(snapshot.graph.by_qualified_name("good.good").is_some());
        let said = said(&snapshot);
        let blanked = format!("nul_{path} has NUL bytes, which were read as blanks");
        assert!(said.contains(&blanked), "{said:?}");
        let replaced = format!("latin_{path} is not UTF-8; the bad bytes were replaced");
        assert!(said.contains(&replaced), "{said:?}");
        let unique: BTreeSet<&String> = said.iter().collect();
        assert_eq!(unique.len(), said.len(), "{said:?}");
    }
}

#[cfg(unix)]
#[test]
fn g02_pipes_sockets_devices_and_empty_directories_are_passed_by() {
    use std::os::unix::net::UnixListener;
    use std::process::Command;
    let dir = tree(&[("src/a.py", "def a(): pass\n")]);
    let at = |name: &str| dir.path().join(name);
    assert!(
        Command::new("mkfifo")
            .arg(at("pipe.py"))
            .status()
            .unwrap()
            .success()
    );
    let socket = UnixListener::bind(at("socket.py")).unwrap();
    // Only a privileged user can make a device.
    let device = Command::new("mknod")
        .arg(at("zero.py"))
        .args(["c", "1", "5"])
        .stderr(std::process::Stdio::null())
        .status();
    let device = device.is_ok_and(|status| status.success());
    fs::create_dir_all(at("empty/inner")).unwrap();
    let snapshot = load(dir.path());
    let mut expected = vec!["pipe.py special", "socket.py special"];
    if device {
        expected.push("zero.py special");
    }
    assert_eq!(said(&snapshot), expected);
    assert_eq!(paths(&snapshot), ["src/a.py"]);
    drop(socket);
}

#[test]
fn g02_nothing_but_empty_directories_is_an_error_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
    let error = Snapshot::load(dir.path(), &ScanOptions::default())
        .err()
        .unwrap();
    assert!(matches!(error, GraphError::NoFiles { .. }), "{error}");
    assert!(error.to_string().contains("no readable file"), "{error}");
}

#[test]
fn g02_submodules_worktrees_and_no_git_at_all() {
    let ignored = [
        (".gitignore", "skipped.py\n"),
        ("a.py", "def a(): pass\n"),
        ("skipped.py", "def skipped(): pass\n"),
        ("lib/.gitignore", "also.py\n"),
        ("lib/b.py", "def b(): pass\n"),
        ("lib/also.py", "def also(): pass\n"),
    ];
    let expected = [".gitignore", "a.py", "lib/.gitignore", "lib/b.py"];
    // Without git.
    let plain = tree(&ignored);
    let snapshot = load(plain.path());
    assert_eq!(paths(&snapshot), expected);
    assert_eq!(said(&snapshot), Vec::<String>::new());
    // A worktree, whose `.git` is a file, with a submodule, whose is too.
    let linked = tree(&ignored);
    for (path, text) in [
        (".git", "gitdir: /nowhere/repo/.git/worktrees/linked\n"),
        ("lib/.git", "gitdir: ../.git/modules/lib\n"),
        (
            ".gitmodules",
            "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib\n",
        ),
    ] {
        fs::write(linked.path().join(path), text).unwrap();
    }
    let snapshot = load(linked.path());
    let with_modules = [
        ".gitignore",
        ".gitmodules",
        "a.py",
        "lib/.gitignore",
        "lib/b.py",
    ];
    assert_eq!(paths(&snapshot), with_modules);
    assert_eq!(said(&snapshot), Vec::<String>::new());
    // A repository with its own excludes, and one inside it that is no submodule.
    let whole = tree(&ignored);
    for (path, text) in [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/info/exclude", "a.py\n"),
        (".git/hooks/hook.py", "def hook(): pass\n"),
        ("lib/.git/HEAD", "ref: refs/heads/main\n"),
        ("lib/.git/config.py", "def config(): pass\n"),
    ] {
        let path = whole.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let snapshot = load(whole.path());
    assert_eq!(
        paths(&snapshot),
        [".gitignore", "lib/.gitignore", "lib/b.py"]
    );
}

#[cfg(unix)]
#[test]
fn g02_names_that_differ_by_case_or_hold_any_byte_are_all_read() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = tree(&[
        ("A.py", "def upper(): pass\n"),
        ("a.py", "def lower(): pass\n"),
        ("Dir/x.rb", "def x; end\n"),
        ("dir/x.rb", "def y; end\n"),
        ("two words/with space.lua", "function spaced() end\n"),
        ("line\nbreak/tab\there.sh", "broken() { :; }\n"),
        ("quote'\"s.swift", "func quoted() {}\n"),
        ("-rf", "text\n"),
    ]);
    for bytes in [b"bad\xff.cs".as_slice(), b"bad\xfe.cs"] {
        let path = dir.path().join(OsStr::from_bytes(bytes));
        fs::write(path, "class Bad {}\n").unwrap();
    }
    let snapshot = load(dir.path());
    crate::states::check_invariants(&snapshot.graph);
    assert_eq!(snapshot.graph.files().len(), 10);
    for name in [
        "upper", "lower", "x", "y", "spaced", "broken", "quoted", "Bad",
    ] {
        let found = snapshot.graph.nodes().iter().any(|n| &*n.name == name);
        assert!(found, "{name}");
    }
    assert_eq!(
        said(&snapshot),
        [
            "a.py differs from another path by case alone (A.py)",
            "bad\\xFE.cs has a path that is not UTF-8; its bytes are written as \\xFF",
            "bad\\xFF.cs has a path that is not UTF-8; its bytes are written as \\xFF",
            "dir/x.rb differs from another path by case alone (Dir/x.rb)",
        ]
    );
}

#[cfg(unix)]
#[test]
fn g02_paths_that_are_not_utf8_are_read_by_the_spelling_that_is_listed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::sync::Arc;
    use toolcrib_graph::{ListFiles, Lookup, ReadSource};
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        (b"odd\xff/a\\b.py".as_slice(), "def one(): ...\n"),
        (b"odd\xfe/a\\b.py", "def two(): ...\n"),
        (b"plain/a\\b.py", "def three(): ...\n"),
    ] {
        let path = dir.path().join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let snapshot = load(dir.path());
    let paths: Vec<String> = snapshot
        .graph
        .files()
        .iter()
        .map(|file| file.path.to_string())
        .collect();
    assert_eq!(
        paths,
        ["odd\\xFE/a\\\\b.py", "odd\\xFF/a\\\\b.py", "plain/a\\b.py"]
    );
    let lookup = Lookup::new(Arc::new(snapshot.graph));
    let listed = lookup.list_files(&ListFiles::default()).unwrap().text;
    for (path, name) in paths.iter().zip(["two", "one", "three"]) {
        assert!(listed.contains(path.as_str()), "{listed}");
        let path = path.clone();
        let read = ReadSource {
            path,
            ..ReadSource::default()
        };
        let text = lookup.read_source(&read).unwrap().text;
        assert!(text.contains(name), "{text}");
    }
    // As it is typed where a shell gives the bytes themselves.
    let typed = toolcrib_graph::path_text(OsStr::from_bytes(b"odd\xff/a\\b.py"));
    assert_eq!(typed, "odd\\xFF/a\\\\b.py");
}

#[cfg(unix)]
#[test]
fn g02_an_odd_path_is_printed_in_one_way_that_reads_and_cites_back() {
    use std::sync::Arc;
    use toolcrib_graph::{ListFiles, Lookup, ReadSource};
    let odd = [
        ("new\nline.py", "new\\nline.py"),
        ("ta\tb.py", "ta\\tb.py"),
        ("e\u{1b}[31msc.py", "e\\x1B[31msc.py"),
        ("ti`ck.py", "ti\\x60ck.py"),
        ("co:12-3.py", "co:12-3.py"),
        ("sp ace.py", "sp ace.py"),
    ];
    let files: Vec<(&str, String)> = odd
        .iter()
        .enumerate()
        .map(|(i, (path, _))| (*path, format!("def odd{i}():\n    return 1\n")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (*p, t.as_str())).collect();
    let dir = tree(&files);
    let lookup = Lookup::new(Arc::new(load(dir.path()).graph));
    let listed = lookup.list_files(&ListFiles::default()).unwrap().text;
    for (i, (raw, printed)) in odd.iter().enumerate() {
        assert!(listed.contains(&format!("{printed}  ")), "{listed}");
        for path in [
            printed.to_string(),
            format!("{printed}:1-2"),
            raw.to_string(),
        ] {
            let read = ReadSource {
                path,
                ..ReadSource::default()
            };
            let text = lookup.read_source(&read).unwrap().text;
            assert!(text.starts_with(&format!("{printed}:1-2 of")), "{text}");
        }
        let name = format!("odd{i}");
        for text in [
            format!("1. function `{name}`, {printed}:1-2"),
            format!("`{name}` is in `{printed}:1`."),
        ] {
            let check = lookup.check_answer(&text);
            assert_eq!(check.citations.len(), 1, "{text}");
            let cited = &check.citations[0];
            assert_eq!(&cited.cited.place.path, printed);
            assert!(
                cited.citation.is_some() && check.unknown.is_empty(),
                "{check:?}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn g02_links_in_circles_and_out_of_the_root_are_never_followed() {
    use std::os::unix::fs::symlink;
    let outside = tree(&[("secret.rb", "def secret; end\n")]);
    let dir = tree(&[("a/b/c.rb", "def c; end\n")]);
    let at = |name: &str| dir.path().join(name);
    symlink("../..", at("a/b/up")).unwrap();
    symlink("two", at("one")).unwrap();
    symlink("one", at("two")).unwrap();
    symlink(outside.path(), at("out")).unwrap();
    symlink("a/b/../b/c.rb", at("alias.rb")).unwrap();
    symlink(at("a"), at("absolute")).unwrap();
    symlink("/dev/zero", at("zero.rb")).unwrap();
    let snapshot = load(dir.path());
    assert_eq!(paths(&snapshot), ["a/b/c.rb"]);
    assert_eq!(
        said(&snapshot),
        [
            "absolute link",
            "alias.rb link",
            "a/b/up is a link that leads back to itself",
            "one is a link that leads back to itself",
            "out is a link that leaves the directory",
            "two is a link that leads back to itself",
            "zero.rb is a link that leaves the directory",
        ]
    );
    // The root itself may be a link.
    let link = outside.path().join("root");
    symlink(dir.path(), &link).unwrap();
    assert_eq!(paths(&load(&link)), ["a/b/c.rb"]);
}

/// What an ordinary user sees.
#[cfg(unix)]
fn as_an_ordinary_user(root: &Path) {
    let snapshot = load(root);
    assert_eq!(paths(&snapshot), ["good.py"]);
    assert_eq!(
        said(&snapshot),
        [
            "closed could not be listed (permission denied)",
            "secret.py could not be read (permission denied)",
        ]
    );
}

#[cfg(unix)]
#[test]
fn g02_what_may_not_be_read_is_said_and_the_rest_is_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::process::Command;
    // This very test, started again below under another account.
    if let Some(root) = std::env::var_os("TOOLCRIB_TEST_ROOT") {
        return as_an_ordinary_user(Path::new(&root));
    }
    let dir = tree(&[
        ("good.py", "def good(): pass\n"),
        ("secret.py", "def secret(): pass\n"),
        ("closed/inner.py", "def inner(): pass\n"),
    ]);
    let allow = |name: &str, mode: u32| {
        let path = dir.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    allow("", 0o755);
    allow("secret.py", 0o000);
    allow("closed", 0o000);
    // A copy that another account can reach and run.
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = place.path().join("it");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let privileged = fs::metadata(&program).unwrap().uid() == 0;
    let mut command = if privileged {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command.arg(&program);
        command
    } else {
        Command::new(&program)
    };
    let ran = command
        .args([
            "--exact",
            "hostile::g02_what_may_not_be_read_is_said_and_the_rest_is_read",
        ])
        .env("TOOLCRIB_TEST_ROOT", dir.path())
        .current_dir("/")
        .output();
    allow("closed", 0o755);
    let ran = ran.unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && shown.contains("1 passed"),
        "{shown}"
    );
}

#[test]
fn g02_nothing_is_excluded_twice() {
    let dir = tree(&[
        ("a.py", "x = 1\n"),
        ("vendor/x.min.js", "a()\n"),
        ("b.min.js", "\0"),
    ]);
    let snapshot = load(dir.path());
    assert_eq!(said(&snapshot), ["vendor/ vendored", "b.min.js minified"]);
    assert_eq!(snapshot.report.excluded_count(Exclusion::Binary), 0);
}
