//! The navigator on transcripts made by hand, whole rounds at a time.

use std::sync::Arc;

use toolcrib_core::{
    Finish, History, Message, Model as _, Reply, Request, Schema, ToolCall, ToolChoice, ToolName,
    ToolResult, ToolSpec, TurnPlan,
};

use super::Navigator;

fn plan(tools: &[&str]) -> TurnPlan {
    let spec = |name: &&str| {
        Arc::new(ToolSpec::new(
            ToolName::parse(name).unwrap(),
            "x",
            Schema::empty(),
        ))
    };
    TurnPlan::new("", tools.iter().map(spec).collect())
}

const LOOKUPS: [&str; 3] = ["read_source", "search_symbols", "symbol_neighbors"];

fn ask(plan: &TurnPlan, history: &History, choice: &ToolChoice) -> Reply {
    let navigator = Navigator::new();
    let request = Request {
        plan,
        history,
        tool_choice: choice,
        max_output_tokens: None,
    };
    let mut ignore = |_: toolcrib_core::ReplyEvent<'_>| {};
    let mut future = navigator.stream(request, &mut ignore);
    let waker = std::task::Waker::noop();
    match future
        .as_mut()
        .poll(&mut std::task::Context::from_waker(waker))
    {
        std::task::Poll::Ready(reply) => reply.unwrap(),
        std::task::Poll::Pending => panic!("the navigator never waits"),
    }
}

/// Runs the loop against a fake that answers each call.
fn run(question: &str, answer: impl Fn(&ToolCall) -> String) -> (String, usize) {
    run_with(&LOOKUPS, question, answer)
}

fn run_with(
    tools: &[&str],
    question: &str,
    answer: impl Fn(&ToolCall) -> String,
) -> (String, usize) {
    let plan = plan(tools);
    let mut history: History = [Message::user(question)].into_iter().collect();
    for round in 0..10 {
        let reply = ask(&plan, &history, &ToolChoice::Auto);
        let calls: Vec<ToolCall> = reply.message.calls().cloned().collect();
        if calls.is_empty() {
            return (reply.message.text(), round);
        }
        assert_eq!(reply.finish, Finish::ToolCalls);
        history.push(Message::Assistant(reply.message));
        for call in &calls {
            history.push(Message::Tool(ToolResult::text(call, answer(call), false)));
        }
    }
    panic!("the navigator never answered");
}

fn small_repository(call: &ToolCall) -> String {
    match &*call.name {
        "search_symbols" if call.arguments.contains("truncat") => "\
2 results for \"q\"; 1-2 shown:
function cut::truncate_result  src/cut.rs:3-9  pub fn truncate_result(text: &str) -> String
    Truncates one tool result to the cap.
test cut::tests::truncates  src/cut.rs:40-50
"
        .into(),
        "search_symbols" => "0 results for \"q\"\n".into(),
        "read_source" => "src/cut.rs:3-5 of 60 lines (Rust)\n3\tpub fn truncate_result(text: &str) -> String {\n4\t    let result = text;\n5\t}\n".into(),
        _ => "\
function cut::truncate_result  src/cut.rs:3-9
1 caller
1 edge; 1-1 shown:
<- calls function run::dispatch  src/run.rs:10-80  at src/run.rs:31
"
        .into(),
    }
}

#[test]
fn answers_with_places_lines_and_callers() {
    let (text, rounds) = run("Where are tool results truncated?", small_repository);
    insta::assert_snapshot!(text);
    assert!((2..=4).contains(&rounds), "{rounds}");
}

#[test]
fn who_calls_lists_the_callers() {
    let (text, _) = run("Who calls `truncate_result`?", small_repository);
    assert!(
        text.contains("called by `run::dispatch` at src/run.rs:31"),
        "{text}"
    );
}

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
fn a_final_round_is_answered_from_what_is_there() {
    let plan = plan(&LOOKUPS);
    let mut history: History = [Message::user("Where are tool results truncated?")]
        .into_iter()
        .collect();
    for choice in [ToolChoice::None, ToolChoice::Withhold] {
        let reply = ask(&plan, &history, &choice);
        assert!(
            reply.message.blocks.is_empty(),
            "it says something it cannot know"
        );
    }
    let looks = ask(&plan, &history, &ToolChoice::Auto).message;
    history.push(Message::Assistant(looks.clone()));
    for call in looks.calls() {
        history.push(Message::Tool(ToolResult::text(
            call,
            small_repository(call),
            false,
        )));
    }
    for choice in [ToolChoice::None, ToolChoice::Withhold] {
        let reply = ask(&plan, &history, &choice);
        assert!(
            reply.message.text().contains("src/cut.rs:3-9"),
            "{}",
            reply.message.text()
        );
    }
}

#[test]
fn without_its_lookups_it_says_what_is_missing() {
    let history: History = [Message::user("Where is it cut?")].into_iter().collect();
    let reply = ask(&plan(&["search_symbols"]), &history, &ToolChoice::Auto);
    assert!(reply.message.text().contains("none of search_symbols"));
}

#[test]
fn a_question_without_words_is_told_what_to_ask() {
    for question in ["", "???", "what is it", "1 2 3"] {
        let (text, rounds) = run(question, |_| String::new());
        assert!(
            text.starts_with("Nothing found: the question has no word"),
            "{text}"
        );
        assert_eq!(rounds, 0);
    }
}

#[test]
fn errors_and_foreign_results_do_not_stop_it() {
    let (text, _) = run("Where is retry handled?", |call| {
        format!("error: {} is broken", call.name)
    });
    assert!(text.starts_with("Nothing found"), "{text}");
}

#[test]
fn the_same_transcript_gives_the_same_bytes_and_ids_do_not_repeat() {
    let plan = plan(&LOOKUPS);
    let mut history: History = [Message::user("Where are results cut?")]
        .into_iter()
        .collect();
    let first = ask(&plan, &history, &ToolChoice::Auto);
    assert_eq!(first, ask(&plan, &history, &ToolChoice::Auto));
    let ids: Vec<_> = first.message.calls().map(|c| c.id.clone()).collect();
    history.push(Message::Assistant(first.message.clone()));
    for call in first.message.calls() {
        history.push(Message::Tool(ToolResult::text(
            call,
            small_repository(call),
            false,
        )));
    }
    let second = ask(&plan, &history, &ToolChoice::Auto);
    assert!(second.message.calls().all(|call| !ids.contains(&call.id)));
}

#[test]
fn a_fault_found_in_the_answer_is_left_out_and_nothing_new_is_asked() {
    let plan = plan(&LOOKUPS);
    let mut history: History = [Message::user("Where are tool results truncated?")]
        .into_iter()
        .collect();
    let answer = loop {
        let reply = ask(&plan, &history, &ToolChoice::Auto);
        history.push(Message::Assistant(reply.message.clone()));
        let calls: Vec<ToolCall> = reply.message.calls().cloned().collect();
        if calls.is_empty() {
            break reply.message.text();
        }
        for call in &calls {
            history.push(Message::Tool(ToolResult::text(
                call,
                small_repository(call),
                false,
            )));
        }
    };
    assert!(answer.contains("`run::dispatch`"), "{answer}");
    history.push(Message::user(
        "That was not accepted:\nsrc/run.rs:31: these lines do not contain \"x\"\nWrite it again.",
    ));
    let again = ask(&plan, &history, &ToolChoice::Auto).message;
    assert!(again.calls().next().is_none());
    assert!(!again.text().contains("src/run.rs:31"), "{}", again.text());
    assert!(again.text().contains("src/cut.rs:3-9"));
}

const ALL: [&str; 5] = [
    "explore_area",
    "list_files",
    "read_source",
    "search_symbols",
    "symbol_neighbors",
];

/// As [`run`], with all five lookups.
fn run_all(question: &str, answer: impl Fn(&ToolCall) -> String) -> (String, usize) {
    run_with(&ALL, question, answer)
}

#[test]
fn a_way_is_shown_call_by_call() {
    let (text, _) = run_all("How does `serve` reach `write`?", |call| {
        match &*call.name {
            "explore_area" => "\
1 shortest path of 2 calls from a::serve to b::write:
function a::serve  src/a.rs:1-9
function b::write  src/b.rs:3-6
path 1:
a::serve -calls-> a::handle  src/a.rs:4
a::handle -calls-> b::write  src/a.rs:14  [dynamic]
"
            .into(),
            "read_source" if call.arguments.contains("14") => {
                "src/a.rs:14 of 20 lines (Rust)\n14\t    sink.write(x);\n".into()
            }
            _ => "0 results for \"q\"\n".into(),
        }
    });
    insta::assert_snapshot!(text);
}

#[test]
fn a_way_is_asked_again_with_the_symbols_found() {
    let (text, _) = run_all("from serve to `write_all`", |call| match &*call.name {
        "search_symbols" => "\
2 results for \"q\"; 1-2 shown:
function a::serve  src/a.rs:1-9
function b::write_all  src/b.rs:3-6
"
        .into(),
        "explore_area" if call.arguments.contains("a::serve -> b::write_all") => "\
no call path from a::serve to b::write_all:
function a::serve  src/a.rs:1-9
function b::write_all  src/b.rs:3-6
note: proven calls from a::serve reach 7 definitions; 2 call sites there could not be resolved
"
        .into(),
        _ => "error: ambiguous".into(),
    });
    assert!(
        text.starts_with("No chain of proven calls connects `a::serve` src/a.rs:1-9"),
        "{text}"
    );
    assert!(
        text.contains("reach 7 definitions; 2 call sites there could not be resolved."),
        "{text}"
    );
}

#[test]
fn all_pages_of_callers_are_listed() {
    let (text, _) = run("Who calls `cap`?", |call| match &*call.name {
        "search_symbols" => {
            "1 result for \"cap\"; 1-1 shown:\nfunction a::cap  src/a.rs:3-9\n".into()
        }
        "symbol_neighbors" => {
            let second = call.arguments.contains("\"offset\":1");
            let third = call.arguments.contains("\"offset\":2");
            let (file, more) = match (second, third) {
                (true, _) => (
                    "src/b.rs",
                    "1 more; next: symbol_neighbors {\"name\":\"a::cap\",\"offset\":2}\n",
                ),
                (_, true) => ("tests/c.rs", ""),
                _ => (
                    "tests/d.rs",
                    "2 more; next: symbol_neighbors {\"name\":\"a::cap\",\"offset\":1}\n",
                ),
            };
            format!(
                "function a::cap  src/a.rs:3-9\n3 callers; 2 more sites use this name on receivers that could not be typed\n3 edges; 1-1 shown:\n<- calls function x::f  {file}:1-5  at {file}:2\n{more}"
            )
        }
        _ => String::new(),
    });
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(text.contains("2 more sites use this name"), "{text}");
    // The product's own callers come first.
    assert!(at("src/b.rs:2") < at("tests/d.rs:2") && at("tests/d.rs:2") < at("tests/c.rs:2"));
    assert!(!text.contains("more\n"), "{text}");
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

#[test]
fn callers_of_a_name_that_nothing_has_are_those_of_no_other() {
    for question in ["Who calls cut_everything?", "What calls `Store.truncat`?"] {
        let (text, _) = run(question, |call| match &*call.name {
            "search_symbols" => small_repository(&ToolCall {
                arguments: "truncat".into(),
                ..call.clone()
            }),
            _ => small_repository(call),
        });
        assert!(text.starts_with("Nothing found"), "{text}");
        assert!(text.contains("o symbol is named "), "{text}");
        assert!(
            !text.contains("called by") && !text.contains("callers"),
            "{text}"
        );
    }
    let (text, _) = run("Who calls TruncateResult?", small_repository);
    assert!(text.contains("truncate_result"), "{text}");
}

#[test]
fn languages_read_for_definitions_only_claim_no_callers() {
    let (text, _) = run("Who calls `deploy`?", |call| {
        match &*call.name {
        "search_symbols" => "1 result for \"q\"; 1-1 shown:\nfunction deploy  run.sh:3-9\n".into(),
        "symbol_neighbors" => "function deploy  run.sh:3-9\n0 callers\n0 edges\nnote: Bash is read for definitions only: its calls and references are not in the graph\n".into(),
        _ => String::new(),
    }
    });
    assert!(text.contains("who calls what cannot be told"), "{text}");
    assert!(
        !text.contains("0 callers") && !text.contains("No use"),
        "{text}"
    );
}

#[test]
fn a_file_is_found_by_its_name_and_by_what_is_in_it() {
    let (text, _) = run_all("Which file has the default settings?", |call| {
        match &*call.name {
            "list_files" if call.arguments.contains("default") => {
                "2 files:\nsrc/default_settings.py  Python  900 bytes\ntests/test_default.py  Python  90 bytes\n".into()
            }
            "search_symbols" if call.arguments.contains("path") => "0 results for \"q\"\n".into(),
            "search_symbols" => "\
2 results for \"q\"; 1-2 shown:
function load.iter_settings  src/load.py:3-9
constant default_settings.DEFAULT_DELAY  src/default_settings.py:4
"
            .into(),
            _ => String::new(),
        }
    });
    assert!(
        text.starts_with("Best match:\n1. src/default_settings.py:1\n"),
        "{text}"
    );
    assert!(
        text.contains("In it: `default_settings.DEFAULT_DELAY` src/default_settings.py:4."),
        "{text}"
    );
}

#[test]
fn a_question_in_another_language_finds_its_identifiers() {
    for question in [
        "Wo wird truncate_result aufgerufen?",
        "Qui appelle truncate_result ?",
        "truncate_result在哪里被调用?",
    ] {
        let (text, _) = run(question, small_repository);
        assert!(
            text.contains("called by `run::dispatch` at src/run.rs:31"),
            "{question}: {text}"
        );
    }
}

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
        assert_eq!(super::rank::plain(name), plain);
        assert_eq!(super::rank::bare(name), bare);
    }
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

/// Two overloads, a function of the same name elsewhere, and who calls each.
fn namesakes(call: &ToolCall) -> String {
    let query = &*call.arguments;
    match &*call.name {
        "search_symbols" => "\
3 results for \"slug\"; 1-3 shown:
method app.Text.slug  src/Text.java:3-5  String slug(int n)
method app.Text.slug~2  src/Text.java:7-9  String slug(String s)
function web.slug  src/web.js:1-4  function slug(text)
"
        .into(),
        "symbol_neighbors" if query.contains("slug~2") => "\
method app.Text.slug~2  src/Text.java:7-9
1 caller; 1 site may mean it or another definition
2 edges; 1-2 shown:
<- calls method app.Page.title  src/Page.java:3-9  at src/Page.java:4
<- calls method app.Page.link  src/Page.java:20-29  at src/Page.java:21  [ambiguous: one of 2]
"
        .into(),
        "symbol_neighbors" if query.contains("app.Text.slug") => "\
method app.Text.slug  src/Text.java:3-5
0 callers; 1 site may mean it or another definition
1 edge; 1-1 shown:
<- calls method app.Page.link  src/Page.java:20-29  at src/Page.java:21  [ambiguous: one of 2]
"
        .into(),
        "symbol_neighbors" => "\
function web.slug  src/web.js:1-4
1 caller
1 edge; 1-1 shown:
<- calls function web.show  src/web.js:6-9  at src/web.js:7
"
        .into(),
        _ => String::new(),
    }
}

#[test]
fn callers_of_every_namesake_are_listed_and_open_calls_are_marked() {
    let (text, _) = run("Who calls slug?", namesakes);
    insta::assert_snapshot!(text);
    for place in ["src/Text.java:3-5", "src/Text.java:7-9", "src/web.js:1-4"] {
        assert!(text.contains(place), "{text}");
    }
    assert!(
        text.contains("called by `app.Page.title` at src/Page.java:4\n"),
        "{text}"
    );
    assert!(text.contains("may be called by `app.Page.link`"), "{text}");
    assert!(text.contains("called by `web.show`"), "{text}");
}

/// A small server with its routes.
fn server(call: &ToolCall) -> String {
    let query = &*call.arguments;
    let of = |route: &str| query.contains(&format!("\"name\":\"{route}\""));
    match &*call.name {
        "search_symbols" if query.contains("\"kind\":\"route\"") => "\
3 results for \"q\"; 1-3 shown:
route app.GET /users  app.py:9  @app.get('/users')
route app.GET /users/{id}  app.py:20  @app.get('/users/{id}')
route app.POST /login  app.py:30  @app.post('/login')
"
        .into(),
        "symbol_neighbors" if of("app.GET /users") => "\
route app.GET /users  app.py:9
1 edge; 1-1 shown:
-> routes_to function app.list_users  app.py:10-14  at app.py:9
"
        .into(),
        "symbol_neighbors" if of("app.POST /login") => "\
route app.POST /login  app.py:30
1 edge; 1-1 shown:
-> routes_to function app.sign_in  app.py:31-34  at app.py:30
"
        .into(),
        "read_source" if query.contains("10") => {
            "app.py:10-14 of 50 lines (Python)\n10\tdef list_users():\n11\t    return db.users()\n"
                .into()
        }
        _ => "0 results for \"q\"\n".into(),
    }
}

#[test]
fn a_question_about_a_route_names_its_handler() {
    let (text, _) = run("Who handles GET /users?", server);
    insta::assert_snapshot!(text);
    assert!(
        text.starts_with(
            "1. `app.list_users` on app.py:10-14 handles GET /users, declared on app.py:9\n"
        ),
        "{text}"
    );
    let (text, _) = run("Where is the login route handled?", server);
    assert!(
        text.starts_with("1. `app.sign_in` on app.py:31-34 handles POST /login"),
        "{text}"
    );
    let (text, _) = run("Which function serves /users/42?", server);
    assert!(
        text.starts_with("1. app.py:20 declares GET /users/{id};"),
        "{text}"
    );
    let (text, _) = run("Who handles GET /api/v2/users?", server);
    assert!(
        text.starts_with("1. `app.list_users` on app.py:10-14"),
        "{text}"
    );
    let (text, _) = run("Who handles DELETE /users?", server);
    assert!(text.starts_with("Nothing found"), "{text}");
}

#[test]
fn who_implements_lists_no_callers_and_types_before_functions() {
    let (text, _) = run("Who implements Shape?", |call| match &*call.name {
        "search_symbols" => "\
2 results for \"shape\"; 1-2 shown:
method draw.Canvas.Shape  src/canvas.go:3-5
interface draw.Shape  src/shape.go:3-9
"
        .into(),
        "symbol_neighbors" if call.arguments.contains("Canvas") => "\
method draw.Canvas.Shape  src/canvas.go:3-5
1 caller
1 edge; 1-1 shown:
<- calls function draw.main  src/main.go:3-9  at src/main.go:4
"
        .into(),
        "symbol_neighbors" => "\
interface draw.Shape  src/shape.go:3-9
3 callers
2 edges; 1-2 shown:
<- references function draw.show  src/main.go:20-29  at src/main.go:21
<- implements struct draw.Circle  src/circle.go:3-5  at src/circle.go:3
"
        .into(),
        _ => String::new(),
    });
    assert!(
        text.starts_with(
            "interface `draw.Shape`, src/shape.go:3-9\n- implemented by `draw.Circle`"
        ),
        "{text}"
    );
    assert!(
        !text.contains("caller") && !text.contains("draw.show"),
        "{text}"
    );
}

#[test]
fn a_way_from_what_does_not_exist_is_none() {
    let (text, _) = run_all(
        "How does run_nowhere reach `truncate_result`?",
        small_repository,
    );
    assert!(
        text.starts_with("Nothing found: no symbol is named run_nowhere,"),
        "{text}"
    );
}

#[test]
fn all_routes_are_listed_with_what_answers_them() {
    let (text, _) = run("What URLs does it serve?", |call| match &*call.name {
        "search_symbols" if call.arguments.contains("\"route\"") => "\
2 results for \"/\"; 1-2 shown:
route app.GET /  app.py:6  @app.route(\"/\")
route app.POST /login  app.py:10  @app.route(\"/login\")
"
        .into(),
        "symbol_neighbors" if call.arguments.contains("login") => "\
route app.POST /login  app.py:10
1 edge; 1-1 shown:
-> routes_to function app.login  app.py:11-12  at app.py:10
"
        .into(),
        _ => "0 results for \"q\"\n".into(),
    });
    assert_eq!(
        text,
        "2 routes:\n\
         - GET /, declared on app.py:6\n\
         - POST /login, handled by `app.login` on app.py:11-12, declared on app.py:10\n"
    );
}

#[test]
fn the_routes_of_one_part_are_those_declared_there() {
    let (text, _) = run("what routes does the admin docs app have?", |call| {
        if call.arguments.contains("\"route\"") {
            "2 results for \"q\"; 1-2 shown:\n\
             route contrib.admindocs.urls.ANY /tags/  contrib/admindocs/urls.py:5\n\
             route admin.urls.ANY /x/  admin/urls.py:7\n"
                .into()
        } else {
            "0 results for \"q\"\n".into()
        }
    });
    assert_eq!(
        text,
        "1 route:\n- ANY /tags/, declared on contrib/admindocs/urls.py:5\n"
    );
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

#[test]
fn both_halves_of_a_question_about_calls_are_answered() {
    let (text, _) = run(
        "who calls grow and what does it call?",
        |call| match &*call.name {
            "search_symbols" => {
                "1 result for \"q\"; 1-1 shown:\nfunction a.grow  a.rs:5-9  fn grow()\n".into()
            }
            "symbol_neighbors" => {
                assert!(call.arguments.contains("\"both\""), "{}", call.arguments);
                "function a.grow  a.rs:5-9\n1 caller\n2 edges; 1-2 shown:\n\
             <- calls function a.main  a.rs:20-30  at a.rs:21\n\
             -> calls function a.alloc  a.rs:40-50  at a.rs:6\n"
                    .into()
            }
            _ => String::new(),
        },
    );
    assert!(text.contains("called by `a.main` at a.rs:21"), "{text}");
    assert!(text.contains("calls `a.alloc` on a.rs:6"), "{text}");
}

#[test]
fn an_answer_whose_places_all_failed_says_so() {
    let answer = "Best match:\n1. function `f`, a.py:1-3\n   > Does it.\n";
    let held = super::answer::held(answer, &["a.py:1-3".to_owned()]);
    assert!(held.starts_with("Nothing found"), "{held}");
    assert_eq!(super::answer::held(answer, &[]), answer);
}
