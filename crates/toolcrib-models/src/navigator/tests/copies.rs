//! One thing in several places: which stands for the others.

use super::*;

/// One class in several source roots, and a neighbour of it.
fn several_roots(call: &ToolCall) -> String {
    match &*call.name {
        "search_symbols" => "\
5 results for \"q\"; 1-5 shown:
class org.util.Splitter  android/core/src/org/util/Splitter.java:3-30  public class Splitter
    Cuts text into pieces at a separator.
class org.util.Splitter~2  core/src/org/util/Splitter.java:3-40  public class Splitter
    Cuts text into pieces at a separator.
class org.util.Splitter~3  extra/core/src/org/util/Splitter.java:3-30  public class Splitter
    Cuts text into pieces at a separator.
class org.util.Separator  core/src/org/util/Separator.java:3-9  public class Separator
"
        .into(),
        "read_source" => "core/src/org/util/Splitter.java:3-4 of 60 lines (Java)\n3\tpublic class Splitter {\n4\t  private final String separator;\n".into(),
        _ => "0 results\n".into(),
    }
}

#[test]
fn the_copy_with_the_shorter_path_stands_for_the_others() {
    let (text, _) = run("Where is text cut at a separator?", several_roots);
    insta::assert_snapshot!(text);
    let first = text.lines().nth(1).unwrap();
    assert_eq!(
        first,
        "1. class `Splitter`, core/src/org/util/Splitter.java:3-40"
    );
    assert_eq!(text.matches("Splitter.java:3-30").count(), 2, "{text}");
    let (text, _) = run("Who calls `Splitter`?", several_roots);
    let at = |path: &str| text.find(&format!("Splitter`, {path}:3-")).unwrap();
    let [plain, extra, android] =
        ["", "extra/", "android/"].map(|dir| at(&format!("{dir}core/src/org/util/Splitter.java")));
    assert!(plain < extra && extra < android, "{text}");
}

#[test]
fn a_copy_that_answers_better_comes_first_whatever_its_path() {
    let (text, _) = run("Where is text cut at a separator?", |call| {
        match &*call.name {
            "search_symbols" => "\
2 results for \"q\"; 1-2 shown:
class org.util.Splitter  android/core/src/org/util/Splitter.java:3-30  public class Splitter implements Cut
    Cuts text into pieces at a separator.
class org.util.Splitter~2  core/src/org/util/Splitter.java:3-40  public class Splitter implements Cut
"
            .into(),
            _ => "0 results\n".into(),
        }
    });
    assert!(
        text.contains(
            "`org.util.Splitter`, android/core/src/org/util/Splitter.java:3-30\n   \
             also in core/src/org/util/Splitter.java:3-40\n"
        ),
        "{text}"
    );
}

#[test]
fn overloads_in_one_file_are_no_copies() {
    let (text, _) = run("Where are pieces joined?", |call| match &*call.name {
        "search_symbols" => "\
2 results for \"q\"; 1-2 shown:
method org.Joiner.join  src/org/Joiner.java:10-12  String join(List pieces)
    Joins pieces.
method org.Joiner.join~2  src/org/Joiner.java:20-22  String join(Set pieces)
    Joins pieces.
"
        .into(),
        _ => "0 results\n".into(),
    });
    assert!(text.contains("src/org/Joiner.java:10-12"), "{text}");
    assert!(!text.contains("also in"), "{text}");
}

#[test]
fn a_destructor_keeps_its_mark() {
    for (name, plain, bare) in [
        ("net::Pool::~Pool", "net::Pool::~Pool", "~Pool"),
        ("net::Pool::~Pool~2", "net::Pool::~Pool", "~Pool"),
        ("org.util.Lists~12", "org.util.Lists", "Lists"),
    ] {
        assert_eq!(super::super::rank::plain(name), plain);
        assert_eq!(super::super::rank::bare(name), bare);
    }
}

#[test]
fn what_something_is_its_type_says_before_its_namesakes() {
    let (text, _) = run("What is a Querier?", |call| match &*call.name {
        "search_symbols" => "\
3 results for \"q\"; 1-3 shown:
method tsdb.DB.Querier  tsdb/db.go:5-9  func (db *DB) Querier() Querier
    Querier returns a new querier over the data.
method main.readyStorage.Querier  main.go:5-9  func Querier() Querier
    Querier implements the Storage interface of a querier.
interface storage.Querier  storage/interface.go:107-114  type Querier interface
"
        .into(),
        _ => String::new(),
    });
    assert!(
        text.contains("1. interface `storage.Querier`, storage/interface.go:107-114"),
        "{text}"
    );
}
