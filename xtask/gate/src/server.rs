//! A chat endpoint that wants a number of tool calls and then answers.
//!
//! How many is part of the model's name, and how many were made is read off the
//! request, so the server keeps no state and any number of runs may use it. A reply
//! is late unless the name says otherwise, so that the client always waits for it, and
//! is written at once, so that the client reads it in one piece: what is counted does
//! not depend on timing.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// What it says at last.
pub const ANSWER: &str = "Every key is defined in `src/lib.rs:12`.";

/// Longer than a counted client takes from its request to its wait.
const LATE: Duration = Duration::from_millis(25);

const PREFIX: &str = "after-";
/// Stands before the prefix where the first call is a search.
const SEARCH: &str = "search-";
/// Stands before all where nothing is counted and replies need not be late.
const PROMPT: &str = "prompt-";

/// What a model of the server does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Script {
    /// Calls of the tool `lookup`, one a reply, before the answer.
    pub calls: usize,
    /// The first call is one of `tool_search` instead.
    pub searching: bool,
    /// Replies are not late.
    pub prompt: bool,
}

impl Script {
    /// The name of the model that does it.
    pub fn model(self) -> String {
        let prompt = if self.prompt { PROMPT } else { "" };
        let search = if self.searching { SEARCH } else { "" };
        format!("{prompt}{search}{PREFIX}{}", self.calls)
    }
}

/// Serves from now on, as long as the process lives; returns the base address, which
/// ends in `/v1`.
///
/// # Errors
/// When no port can be had.
pub fn start() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || connection(stream));
        }
    });
    Ok(url)
}

/// Answers the requests of one connection until it closes.
fn connection(stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let body = request(&mut reader)?;
        if !body.contains(&format!("\"{PROMPT}")) {
            std::thread::sleep(LATE);
        }
        writer.write_all(response(&body).as_bytes()).ok()?;
    }
}

/// The body of the next request.
fn request(reader: &mut impl BufRead) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

fn response(body: &str) -> String {
    let made = body.matches("\"role\":\"tool\"").count();
    let wanted = body
        .split_once(PREFIX)
        .and_then(|(_, rest)| rest.split('"').next()?.parse().ok())
        .unwrap_or(0);
    let searching = body.contains(&format!("{SEARCH}{PREFIX}"));
    let events = if made == 0 && searching && wanted > 0 {
        search()
    } else if made < wanted {
        call(made)
    } else {
        answer()
    };
    let mut response = String::from(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    for event in events {
        let event = format!("data: {event}\n\n");
        response.push_str(&format!("{:x}\r\n{event}\r\n", event.len()));
    }
    response.push_str("0\r\n\r\n");
    response
}

/// A piece of a call.
fn part(inner: &str) -> String {
    delta(&format!(r#"{{"tool_calls":[{{"index":0,{inner}}}]}}"#))
}

fn search() -> Vec<String> {
    let begin =
        r#""id":"call_search","type":"function","function":{"name":"tool_search","arguments":""}"#;
    let arguments =
        r#""function":{"arguments":"{\"query\":\"export the invoices of a customer\"}"}"#;
    vec![
        delta(r#"{"role":"assistant","content":null}"#),
        part(begin),
        part(arguments),
        finish("tool_calls"),
        USAGE.to_owned(),
        "[DONE]".to_owned(),
    ]
}

fn call(number: usize) -> Vec<String> {
    let begin = format!(
        r#""id":"call_{number:03}","type":"function","function":{{"name":"lookup","arguments":""}}"#
    );
    vec![
        delta(r#"{"role":"assistant","content":null}"#),
        part(&begin),
        part(r#""function":{"arguments":"{\"key\":"}"#),
        part(&format!(
            r#""function":{{"arguments":"\"entry_{number:03}\""}}"#
        )),
        part(r#""function":{"arguments":",\"limit\":10}"}"#),
        finish("tool_calls"),
        USAGE.to_owned(),
        "[DONE]".to_owned(),
    ]
}

fn answer() -> Vec<String> {
    vec![
        delta(r#"{"role":"assistant","content":""}"#),
        delta(&format!(r#"{{"content":"{ANSWER}"}}"#)),
        finish("stop"),
        USAGE.to_owned(),
        "[DONE]".to_owned(),
    ]
}

const USAGE: &str = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gate","choices":[],"usage":{"prompt_tokens":900,"completion_tokens":20,"total_tokens":920}}"#;

fn delta(delta: &str) -> String {
    chunk(delta, "null")
}

fn finish(reason: &str) -> String {
    chunk("{}", &format!("\"{reason}\""))
}

fn chunk(delta: &str, finish: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gate","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}"#
    )
}
