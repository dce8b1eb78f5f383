//! Lines, files and directories.

use super::*;

/// A file of a class with a method, and another of the same name elsewhere.
fn pages(call: &ToolCall) -> String {
    let asked = &*call.arguments;
    match &*call.name {
        "explore_area" if asked.contains("\"offset\":3") => "\
area core/pages.py: 5 nodes in 1 file; 4-5 shown:
method core.pages.Pages.count  core/pages.py:20-24  def count(self)
function core.pages.parse  core/pages.py:30-31  def parse(text)
1 edge; 1-1 shown:
core.pages.Pages.count -calls-> core.pages.parse  core/pages.py:22
"
        .into(),
        "explore_area" if asked.contains("\"core/pages.py\"") => "\
area core/pages.py: 5 nodes in 1 file; 1-3 shown:
file core/pages.py  Python, 40 lines
class core.pages.Pages  core/pages.py:3-26  class Pages
method core.pages.Pages.get  core/pages.py:5-9  def get(self, number)
(truncated) 2 more; next: explore_area {\"query\":\"core/pages.py\",\"offset\":3}
1 edge; 1-1 shown:
core.pages.Pages.get -calls-> core.pages.Pages.count  core/pages.py:7
"
        .into(),
        "explore_area" if asked.contains("\"core\"") => "\
area core: 4 nodes in 2 files; 1-4 shown:
file core/a.py  Python, 9 lines
function core.a.run  core/a.py:1-9  def run()
file core/pages.py  Python, 40 lines
class core.pages.Pages  core/pages.py:3-26  class Pages
"
        .into(),
        "explore_area" if asked.contains("page.py") => "nothing is at `page.py`: no\n\
             nearest names:\n  function core.page  core/a.py:3\nnear paths:\n  core/pages.py\n  docs/pages.txt\n"
            .into(),
        "explore_area" => "nothing is at `x`: no\n".into(),
        "list_files" if asked.contains("/pages.py") => {
            "1 files:\ncore/pages.py  Python  900 bytes\n".into()
        }
        "list_files" => "0 files:\n".into(),
        "read_source" if asked.contains("\"start\":1,") => {
            "core/pages.py:1-2 of 40 lines (Python)\n1\t# Lists in pages.\n2\timport math\n".into()
        }
        "read_source" => "core/pages.py:21-22 of 40 lines (Python)\n21\t        n = 0\n22\t        return parse(n)\n".into(),
        "symbol_neighbors" => "\
method core.pages.Pages.count  core/pages.py:20-24  def count(self)
    Counts the pages.
1 caller
2 edges; 1-2 shown:
<- calls method core.pages.Pages.get  core/pages.py:5-9  at core/pages.py:7
-> calls function core.pages.parse  core/pages.py:30-31  at core/pages.py:22
"
        .into(),
        _ => "0 results for \"q\"\n".into(),
    }
}

#[test]
fn a_line_is_answered_with_the_definitions_around_it() {
    for question in [
        "what is at core/pages.py:22?",
        "What does line 22 of pages.py do?",
        "Who calls the method at core/pages.py:22?",
    ] {
        let (text, _) = run_all(question, pages);
        assert!(
            text.starts_with(
                "core/pages.py:22 is in:\n\
                 1. method `core.pages.Pages.count`, core/pages.py:20-24\n   > Counts the pages.\n\
                 2. class `core.pages.Pages`, core/pages.py:3-26\n"
            ),
            "{question}: {text}"
        );
        assert!(text.contains("22\t        return parse(n)"), "{text}");
        assert!(
            text.contains("Used on core/pages.py:22: `core.pages.parse`."),
            "{text}"
        );
        assert!(
            text.contains("Called by `core.pages.Pages.get` core/pages.py:7."),
            "{text}"
        );
    }
}

#[test]
fn a_line_that_is_not_there_or_in_nothing_is_said_so() {
    let (text, _) = run_all("What is at core/pages.py:900?", pages);
    assert_eq!(
        text,
        "Nothing found: core/pages.py has 40 lines, so there is no line 900.\n"
    );
    let (text, _) = run_all("What is at core/pages.py:28?", pages);
    assert!(
        text.starts_with("core/pages.py:28 is in no definition.\n"),
        "{text}"
    );
}

#[test]
fn a_file_is_answered_with_its_outline() {
    for question in ["What does core/pages.py contain?", "what is in pages.py"] {
        let (text, _) = run_all(question, pages);
        assert!(
            text.starts_with(
                "core/pages.py:1-40 has 4 definitions:\n\
                 1. class `core.pages.Pages`, core/pages.py:3-26\n\
                 2. method `core.pages.Pages.get`, core/pages.py:5-9\n\
                 3. method `core.pages.Pages.count`, core/pages.py:20-24\n\
                 4. function `core.pages.parse`, core/pages.py:30-31\n"
            ),
            "{question}: {text}"
        );
        assert!(
            text.contains("It begins, core/pages.py:1:\n```\n1\t# Lists in pages.\n```"),
            "{text}"
        );
    }
    let (text, _) = run_all("What is in core/?", pages);
    assert!(
        text.contains("1. core/a.py:1-9: `core.a.run` core/a.py:1-9\n2. core/pages.py:1-40: "),
        "{text}"
    );
}

#[test]
fn a_path_that_is_not_there_is_said_so_with_the_nearest() {
    let (text, _) = run_all("What is in core/page.py?", pages);
    assert_eq!(
        text,
        "Nothing found: no file or directory is called core/page.py. The nearest paths: core/pages.py, docs/pages.txt.\n"
    );
    // What may be prose is asked as prose.
    let (text, _) = run_all("What is client/server?", pages);
    assert!(text.contains("is worth citing for \"client\""), "{text}");
}
