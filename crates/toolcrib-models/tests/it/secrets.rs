//! Nothing that can be printed holds a key, a password or a query.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use toolcrib_core::Model as _;
use toolcrib_models::{ChatModel, ChatOptions, Key, Vendor};
use toolcrib_testkit::{Answer, ByteServer};

use crate::support::*;

const SECRETS: [&str; 3] = ["sk-hunter2-key", "hunter2-password", "hunter2-query"];

/// What is always the same of key and password in base64, whatever stands before them.
const IN_BASE64: [&str; 3] = ["aHVudGVyM", "h1bnRlcj", "odW50ZXIy"];

/// What a careless server tells of the headers it got.
fn in_base64(key: &str) -> String {
    let encode = |text: String| base64::engine::general_purpose::STANDARD.encode(text);
    let told = ["", "x", "xx"].map(|before| encode(format!("{before}{key}")));
    let basic = encode("me:hunter2-password".to_owned());
    format!(r#"{{"error":"{} {basic}"}}"#, told.join(" "))
}

/// Collects every span and event of every crate as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        span.record(&mut Fields(self));
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut Fields(self));
    }
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut Fields(self));
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

struct Fields<'a>(&'a Log);

impl tracing::field::Visit for Fields<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        let _ = writeln!(self.0.0.lock().unwrap(), "{field}={value:?}");
    }
}

fn options(address: std::net::SocketAddr, with_key: bool) -> ChatOptions {
    let url = format!("http://me:hunter2-password@{address}/v1?token=hunter2-query");
    let mut options = ChatOptions::new(Vendor::Generic, "m").base_url(url);
    if with_key {
        options = options.key(Key::new("sk-hunter2-key"));
    }
    options.retry.base = Duration::from_millis(1);
    options.idle = Duration::from_millis(200);
    options
}

#[test]
fn p36_no_key_password_or_query_in_errors_logs_or_debug_forms() {
    let answers = |key: &str| {
        let told = format!("{key} hunter2-password, hunter2-query");
        let echo = format!(r#"{{"error":{{"message":"Incorrect key {told}"}}}}"#);
        vec![
            good(),
            Answer::json(401, &*echo),
            Answer::json(401, in_base64(key)),
            Answer::json(400, format!(r#"{{"error":"{} {key}"}}"#, "x".repeat(190))),
            Answer::json(400, &*echo),
            Answer::json(200, &*echo),
            Answer::sse([&*echo]),
            Answer::whole(200, "text/html", format!("<title>{told}</title>")),
            Answer::whole(200, "text/plain", told),
            Answer::json(307, &*echo).header("location", "http://x/?hunter2-query"),
            Answer::json(503, echo),
            Answer::hang_up(),
            Answer::silence(),
            Answer::raw("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"),
        ]
    };
    let log = Log::default();
    let mut all = String::new();
    let mut failures = 0;
    tracing::subscriber::with_default(log.clone(), || {
        for with_key in [true, false] {
            // Without a key it is the password that goes along.
            for answer in answers(if with_key { "sk-hunter2-key" } else { "none" }) {
                let server = ByteServer::serve(move |_| answer.clone()).unwrap();
                let options = options(server.address(), with_key);
                let _ = writeln!(all, "{options:?}");
                let model = ChatModel::new(options).unwrap();
                let _ = writeln!(all, "{model:?} {:?}", model.profile());
                let seen = ask(&model);
                let _ = writeln!(all, "{:?} {:?}", seen.result, seen.events);
                if let Err(error) = &seen.result {
                    failures += 1;
                    let _ = writeln!(all, "{error}");
                }
                assert!(server.received()[0].header("authorization").is_some());
            }
            let down = ByteServer::unused_address().unwrap();
            let seen = ask(&ChatModel::new(options(down, with_key)).unwrap());
            let _ = writeln!(all, "{:?}", seen.error());
        }
    });
    let bad = ChatOptions::new(Vendor::Generic, "m")
        .base_url("http://me:hunter2-password@[x/?k=hunter2-query");
    let _ = writeln!(
        all,
        "{bad:?} {:?}",
        ChatModel::new(bad.clone()).unwrap_err()
    );
    let bad = ChatOptions::new(Vendor::Generic, "m").key(Key::new("sk-hunter2-key\nx"));
    let _ = writeln!(
        all,
        "{bad:?} {:?}",
        ChatModel::new(bad.clone()).unwrap_err()
    );
    assert_eq!(failures, 26);
    let logged = log.0.lock().unwrap().clone();
    assert!(
        logged.contains("sending again"),
        "the log was not collected"
    );
    assert!(all.contains("[secret]…"), "the key was not cut: {all}");
    for secret in SECRETS.into_iter().chain(IN_BASE64) {
        assert!(!all.contains(secret), "{all}");
        assert!(!logged.contains(secret), "{logged}");
    }
}
