//! The truth set: generated citations whose state is known.

use super::*;

const FILES: u32 = 12;
const FUNCTIONS: u32 = 6;

/// What was done to a file between the two graphs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edit {
    None,
    ShiftedBy(u32),
    RenamedFile,
    RenamedFunctions,
    DeletedFunctions,
    ChangedBodies,
    /// Each function now stands twice.
    Copied,
    /// The bodies stay where they are and the names trade places.
    SwappedNames,
}

const EDITS: [Edit; FILES as usize] = [
    Edit::None,
    Edit::None,
    Edit::ShiftedBy(1),
    Edit::ShiftedBy(7),
    Edit::RenamedFile,
    Edit::RenamedFile,
    Edit::RenamedFunctions,
    Edit::RenamedFunctions,
    Edit::DeletedFunctions,
    Edit::ChangedBodies,
    Edit::Copied,
    Edit::SwappedNames,
];

struct Generated {
    sample: Sample,
}

/// Lines of one function: a name line, three of body, an end, a gap.
const TALL: u32 = 6;

fn function(file: u32, i: u32, name: &str, twist: &str) -> String {
    format!(
        "pub fn {name}(input: u32) -> u32 {{\n    let step_{file}_{i} = input + {};\n    log(\"file {file} part {i}{twist}\");\n    step_{file}_{i} * {}\n}}\n\n",
        file * 1_000 + i,
        i + 2
    )
}

fn name(file: u32, i: u32) -> String {
    format!("part_{file}_{i}")
}

fn path(file: u32) -> String {
    format!("src/file_{file}.rs")
}

/// The repository before (`edited: false`) and after the edits.
fn generated(edited: bool) -> Generated {
    let mut sample = Sample::default();
    for file in 0..FILES {
        let edit = if edited {
            EDITS[file as usize]
        } else {
            Edit::None
        };
        let mut text = String::new();
        let mut symbols: Vec<(String, u32)> = Vec::new();
        let mut line = 1;
        if let Edit::ShiftedBy(n) = edit {
            text.push_str(&"// shifted\n".repeat(n as usize));
            line += n;
        }
        let mut path = path(file);
        if edit == Edit::RenamedFile {
            path = format!("src/moved/file_{file}.rs");
        }
        let copies = if edit == Edit::Copied { 2 } else { 1 };
        for copy in 0..copies {
            for i in 0..FUNCTIONS {
                let named = match edit {
                    Edit::RenamedFunctions => format!("other_{file}_{i}"),
                    Edit::SwappedNames => name(file, FUNCTIONS - 1 - i),
                    _ => name(file, i),
                };
                if edit == Edit::DeletedFunctions {
                    continue;
                }
                let twist = if edit == Edit::ChangedBodies {
                    " changed"
                } else {
                    ""
                };
                text.push_str(&function(file, i, &named, twist));
                let qualified = format!("crate::f{file}{}::{named}", "::copy".repeat(copy));
                symbols.push((qualified, line));
                line += TALL;
            }
        }
        text.push_str("// the end\n");
        sample = sample.file(&path, RUST, &text);
        for (qualified, line) in symbols {
            sample = sample.symbol(NodeKind::Function, &qualified, &path, line..=line + 4);
        }
    }
    Generated { sample }
}

fn place(file: u32, i: u32, from: u32, to: u32) -> Place {
    let first = 1 + i * TALL;
    Place {
        path: path(file),
        start: first + from,
        end: first + to,
    }
}

/// Windows of a function that are cited: whole, its name, two lines of body, one.
const WINDOWS: [(u32, u32); 4] = [(0, 4), (0, 0), (1, 2), (2, 2)];

#[test]
fn g15_older_citations_are_told_apart() {
    let before = generated(false).sample.graph();
    let after = generated(true).sample.graph();
    let mut count = 0;
    for file in 0..FILES {
        for i in 0..FUNCTIONS {
            for (from, to) in WINDOWS {
                count += 1;
                let cited = place(file, i, from, to);
                let state = trace(&cited, &before, &after);
                let edit = EDITS[file as usize];
                let moved = |path: String, by: u32| Recheck::Moved {
                    to: Place {
                        path,
                        start: cited.start + by,
                        end: cited.end + by,
                    },
                };
                let about = format!("{edit:?} {cited}: {state:?}");
                match edit {
                    Edit::None => assert_eq!(state, Recheck::Exact, "{about}"),
                    Edit::ShiftedBy(by) => {
                        assert_eq!(state, moved(cited.path.clone(), by), "{about}");
                    }
                    Edit::RenamedFile => {
                        let path = format!("src/moved/file_{file}.rs");
                        assert_eq!(state, moved(path, 0), "{about}");
                    }
                    Edit::RenamedFunctions => {
                        let Recheck::Changed { renamed_to, .. } = &state else {
                            panic!("{about}");
                        };
                        let renamed = format!("{}#other_{file}_{i}", path(file));
                        assert_eq!(renamed_to.as_ref(), Some(&renamed), "{about}");
                    }
                    Edit::DeletedFunctions => assert_eq!(state, Recheck::Gone, "{about}"),
                    Edit::ChangedBodies if (from, to) == (0, 0) => {
                        assert_eq!(state, Recheck::Exact, "{about}");
                    }
                    Edit::ChangedBodies => {
                        assert!(
                            matches!(
                                state,
                                Recheck::Changed {
                                    renamed_to: None,
                                    ..
                                }
                            ),
                            "{about}"
                        );
                    }
                    // The first copy still is where it was; nothing says "moved".
                    Edit::Copied => assert_eq!(state, Recheck::Exact, "{about}"),
                    Edit::SwappedNames => {
                        assert!(
                            matches!(state, Recheck::Changed { .. } | Recheck::Moved { .. }),
                            "{about}"
                        );
                        assert_ne!(state, Recheck::Exact, "{about}");
                    }
                }
            }
        }
    }
    assert!(count >= 200, "{count}");
}

#[test]
fn g15_invented_places_never_existed() {
    let before = generated(false).sample.graph();
    for (path, start, end) in [
        ("src/nope.rs", 1, 2),
        ("src/file_0.rs", 0, 1),
        ("src/file_0.rs", 9, 3),
        ("src/file_0.rs", 38, 38),
        ("src/file_0.rs", 37, 38),
        ("", 1, 1),
    ] {
        let place = Place {
            path: path.into(),
            start,
            end,
        };
        assert_eq!(
            trace(&place, &before, &before),
            Recheck::NeverExisted,
            "{place}"
        );
    }
    let last = Place {
        path: "src/file_0.rs".into(),
        start: 37,
        end: 37,
    };
    let mut citation = Citation::bind(&before, &last).unwrap();
    citation.sha256 = "made up".into();
    assert_eq!(citation.recheck(&before), Recheck::NeverExisted);
}

#[test]
fn g15_text_that_stands_twice_is_never_moved() {
    let one = |text: &str| Sample::default().file("a.rs", RUST, text).graph();
    let before = one("fn a() {}\nreturn 1\n");
    let place = Place {
        path: "a.rs".into(),
        start: 2,
        end: 2,
    };
    let state = |text: &str| trace(&place, &before, &one(text));
    assert_eq!(state("fn a() {}\nreturn 1\nreturn 1\n"), Recheck::Exact);
    assert!(matches!(
        state("return 1\nx\nreturn 1\n"),
        Recheck::Changed { .. }
    ));
    assert!(matches!(state("return 1\n"), Recheck::Moved { .. }));
    assert!(matches!(state("return 1\r\n"), Recheck::Moved { .. }));
    assert!(matches!(state("return 2\n"), Recheck::Changed { .. }));
}

/// What an answer may get wrong about a function.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Claim {
    Exact,
    OffBy(i64),
    WrongFile,
    RenamedSymbol,
    Deleted,
    InventedPath,
    InventedLine,
    WrongSymbol,
}

const CLAIMS: [Claim; 9] = [
    Claim::Exact,
    Claim::OffBy(7),
    Claim::OffBy(-6),
    Claim::WrongFile,
    Claim::RenamedSymbol,
    Claim::Deleted,
    Claim::InventedPath,
    Claim::InventedLine,
    Claim::WrongSymbol,
];

fn checked(lookup: &Lookup, text: &str) -> CitedState {
    let check = lookup.check_answer(text);
    assert_eq!(check.citations.len(), 1, "{text}");
    check.citations[0].state.clone()
}

#[test]
fn g15_citations_of_an_answer_are_told_apart() {
    let lookup = generated(true).sample.lookup();
    let mut count = 0;
    let mut false_exact = Vec::new();
    for file in [0, 1, 9] {
        for i in 1..FUNCTIONS - 1 {
            for claim in CLAIMS {
                for quoted in [false, true] {
                    count += 1;
                    let mut cited = place(file, i, 0, 4);
                    let mut named = format!("f{file}::{}", name(file, i));
                    let body = format!("step_{file}_{i} * {}", i + 2);
                    let mut quote = body.clone();
                    match claim {
                        Claim::Exact => {}
                        Claim::OffBy(n) => {
                            cited.start = (i64::from(cited.start) + n) as u32;
                            cited.end = (i64::from(cited.end) + n) as u32;
                        }
                        Claim::WrongFile => cited.path = path((file + 1) % 2),
                        Claim::RenamedSymbol => named = format!("old_{file}_{i}"),
                        Claim::Deleted => {
                            named = name(8, i);
                            quote = format!("step_8_{i} * {}", i + 2);
                        }
                        Claim::InventedPath => cited.path = "src/invented.rs".into(),
                        Claim::InventedLine => (cited.start, cited.end) = (9_000, 9_001),
                        Claim::WrongSymbol => named = name(file, i + 1),
                    }
                    let by_quote =
                        quoted && !matches!(claim, Claim::RenamedSymbol | Claim::WrongSymbol);
                    let text = match by_quote {
                        true => format!("It ends with `{quote}` ({cited})."),
                        false => format!("- `{named}` ({cited}) does it."),
                    };
                    let state = checked(&lookup, &text);
                    if claim != Claim::Exact && state == CitedState::Verified {
                        false_exact.push(text.clone());
                        continue;
                    }
                    let about = format!("{claim:?}: {text}\n{state:?}");
                    let there = Some(place(file, i, 0, 4));
                    match (claim, &state) {
                        (Claim::Exact, CitedState::Verified)
                        | (Claim::InventedPath, CitedState::UnknownPath { .. })
                        | (Claim::InventedLine, CitedState::OutOfRange { .. }) => {}
                        (
                            Claim::OffBy(_) | Claim::WrongFile,
                            CitedState::OtherSymbol { claimed_at, .. },
                        ) => {
                            assert_eq!(claimed_at, &there, "{about}");
                        }
                        (
                            Claim::OffBy(_) | Claim::WrongFile,
                            CitedState::QuoteMissing { stands_at, .. },
                        ) => {
                            let expected = place(file, i, 3, 3);
                            assert_eq!(stands_at.as_ref(), Some(&expected), "{about}");
                        }
                        (
                            Claim::RenamedSymbol | Claim::Deleted,
                            CitedState::OtherSymbol {
                                claimed_at: None, ..
                            },
                        )
                        | (
                            Claim::Deleted,
                            CitedState::QuoteMissing {
                                stands_at: None, ..
                            },
                        )
                        | (
                            Claim::WrongSymbol,
                            CitedState::OtherSymbol {
                                claimed_at: Some(_),
                                ..
                            },
                        ) => {}
                        _ => panic!("{about}"),
                    }
                }
            }
        }
    }
    assert!(false_exact.is_empty(), "{false_exact:#?}");
    assert!(count >= 200, "{count}");
}
