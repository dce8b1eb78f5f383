//! What is answered where nothing, or only a part of the words, fits.

use super::*;

#[test]
fn says_so_when_nothing_is_worth_citing() {
    let (text, rounds) = run("Where is the flux capacitor charged?", |_| {
        "0 results for \"q\"\n".into()
    });
    assert!(
        text.starts_with("Nothing found: nothing in the repository's symbols"),
        "{text}"
    );
    assert!(rounds <= 2);
}

#[test]
fn an_unknown_name_is_answered_with_near_ones() {
    let (text, _) = run("Who calls `trunkate_result`?", |call| match &*call.name {
        "search_symbols" if call.arguments.contains("trunkate_result") => "\
0 results for \"q\"
note: nearest names:
  function cut::truncate_result  src/cut.rs:3-9
"
        .into(),
        _ => "0 results for \"q\"\n".into(),
    });
    assert!(
        text.starts_with(
            "Nothing found. No symbol is named trunkate_result. The nearest names: `cut::truncate_result` src/cut.rs:3-9."
        ),
        "{text}"
    );
}

#[test]
fn a_misspelt_name_whose_words_are_known_is_told_apart() {
    let (text, _) = run("trunkate_result", |call| match &*call.name {
        "search_symbols" => small_repository(&ToolCall {
            arguments: "truncat".into(),
            ..call.clone()
        }),
        _ => small_repository(call),
    });
    assert!(
        text.starts_with(
            "No symbol is named trunkate_result. The nearest names: `cut::truncate_result`"
        ),
        "{text}"
    );
}

/// A repository about records in blocks, in which nothing is ever mailed.
fn blocks(call: &ToolCall) -> String {
    let query = &*call.arguments;
    match &*call.name {
        "search_symbols" if query.contains("mail") || query.contains("passw") => {
            "0 results for \"q\"\n".into()
        }
        "search_symbols" => "\
40 results for \"q\"; 1-3 shown:
method log.Writer.emit_record  src/log.py:3-9  def emit_record(self, record)
    Emits one record to the block.
method log.Writer.send_block  src/log.py:11-19  def send_block(self, block)
    Sends a full block to the file.
method log.Reader.hash_block  src/log.py:30-39  def hash_block(self, block)
    Hashes a block, so that a torn one is noticed.
"
        .into(),
        _ => "0 results\n".into(),
    }
}

#[test]
fn single_words_that_fit_are_no_answer() {
    for (question, unheard) in [
        ("Where is the email sent?", "\"email\""),
        ("How is the password hashed?", "\"password\""),
    ] {
        let (text, _) = run(question, blocks);
        assert!(text.starts_with("Nothing found: "), "{text}");
        assert!(
            text.contains(&format!("Nothing at all has {unheard}.")),
            "{text}"
        );
        assert!(
            text.contains("Nearest by single words, no answer: `log.") && !text.contains("```"),
            "{text}"
        );
    }
}

#[test]
fn what_has_all_that_is_asked_is_an_answer() {
    for question in [
        "Where is a full block sent to the file?",
        "How is a torn block noticed?",
        "Where are blocks hashed?",
        "Where is emit defined?",
    ] {
        let (text, _) = run(question, blocks);
        assert!(text.starts_with("Best match"), "{question}: {text}");
    }
}

#[test]
fn a_part_of_a_name_that_nothing_has_is_no_answer() {
    let (text, _) = run("Where is the MongoDB backend?", |call| match &*call.name {
        "search_symbols" if call.arguments.contains("\"mongodb\"") => {
            "0 results for \"q\"\n".into()
        }
        "search_symbols" => "\
2 results for \"q\"; 1-2 shown:
constant conf.MONGO_BACKEND  conf.py:5  MONGO_BACKEND = \"Mongolian db\"
function conf.mongo_db_backend_of  conf.py:9-12
"
        .into(),
        _ => String::new(),
    });
    // With underscores or not, it is there.
    assert!(text.starts_with("Best match"), "{text}");
    let (text, _) = run("Where is the MongoDB backend?", |call| match &*call.name {
        "search_symbols" if call.arguments.contains("\"mongodb\"") => {
            "0 results for \"q\"\n".into()
        }
        "search_symbols" => "\
1 result for \"q\"; 1-1 shown:
constant conf.MONGOLIAN_BACKEND  conf.py:5  MONGOLIAN_BACKEND = \"db\"
"
        .into(),
        _ => String::new(),
    });
    assert!(text.starts_with("Nothing found"), "{text}");
}

#[test]
fn a_word_in_capitals_is_not_the_beginning_of_another_and_no_constant_acts() {
    let found = |line: &'static str| {
        move |call: &ToolCall| match &*call.name {
            "search_symbols" => format!("1 result for \"q\"; 1-1 shown:\n{line}\n"),
            _ => String::new(),
        }
    };
    let restart =
        "method block::Api::SeekToRestartPoint  block.cc:5-9  void SeekToRestartPoint(api)";
    let (text, _) = run("where is the REST API?", found(restart));
    assert!(text.starts_with("Nothing found"), "{text}");
    let (text, _) = run(
        "where is the REST API?",
        found("class web::RestApi  web.cc:5-9  class RestApi"),
    );
    assert!(text.starts_with("Best match"), "{text}");
    let header = "constant net::HttpHeaders.SERVER  net/HttpHeaders.java:3  String SERVER";
    let (text, _) = run("where is the HTTP server?", found(header));
    assert!(text.starts_with("Nothing found"), "{text}");
    let (text, _) = run(
        "where is the HTTP server?",
        found("class net::HttpServer  net/HttpServer.java:3-9  class HttpServer"),
    );
    assert!(text.starts_with("Best match"), "{text}");
}

#[test]
fn an_answer_whose_places_all_failed_says_so() {
    let answer = "Best match:\n1. function `f`, a.py:1-3\n   > Does it.\n";
    let held = super::super::answer::held(answer, &["a.py:1-3".to_owned()]);
    assert!(held.starts_with("Nothing found"), "{held}");
    assert_eq!(super::super::answer::held(answer, &[]), answer);
}
