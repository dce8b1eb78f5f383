//! A chat endpoint that wants a number of tool calls and then answers.
//!
//! How many is part of the model's name, and how many were made is read off the
//! request, so that it keeps no state. A model named `late-…` answers late, so that a
//! client always waits for it and what is counted does not depend on timing.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use toolcrib_compare::{ANSWER, Error, LOOKUP};

/// Longer than a counted client takes from its request to its wait.
const LATE: Duration = Duration::from_millis(25);

/// Serves from now on; returns the base address.
pub(crate) fn start() -> Result<String, Error> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1/", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || connection(stream));
        }
    });
    Ok(url)
}

/// The name of the model that makes this many calls.
pub(crate) fn model(calls: usize, late: bool) -> String {
    format!("{}after-{calls}", if late { "late-" } else { "" })
}

fn connection(stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let body = request(&mut reader)?;
        if body.contains("\"late-after-") {
            std::thread::sleep(LATE);
        }
        writer.write_all(response(&body).as_bytes()).ok()?;
    }
}

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
        .split_once("after-")
        .and_then(|(_, rest)| rest.split('"').next()?.parse().ok())
        .unwrap_or(0);
    let events = if made < wanted { call(made) } else { answer() };
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

fn call(number: usize) -> Vec<String> {
    let part = |inner: &str| delta(&format!(r#"{{"tool_calls":[{{"index":0,{inner}}}]}}"#));
    let begin = format!(
        r#""id":"call_{number:03}","type":"function","function":{{"name":"{LOOKUP}","arguments":""}}"#
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

const USAGE: &str = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":900,"completion_tokens":20,"total_tokens":920}}"#;

fn delta(delta: &str) -> String {
    chunk(delta, "null")
}

fn finish(reason: &str) -> String {
    chunk("{}", &format!("\"{reason}\""))
}

fn chunk(delta: &str, finish: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}"#
    )
}
