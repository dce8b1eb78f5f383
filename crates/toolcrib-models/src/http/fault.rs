//! What went wrong, sorted by what a caller can do about it.
//!
//! Servers report the same fault in a status, in a 200 body or in the middle of a
//! stream, under codes and phrases of their own. The phrases are a table, so that a
//! new one is a line.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;
use toolcrib_core::ModelErrorKind as Kind;

/// A fault that does not know its endpoint yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) retryable: bool,
    pub(crate) retry_after: Option<Duration>,
    /// What happened, as a predicate of the endpoint: "sent …".
    pub(crate) what: String,
    /// What to do next; may be empty.
    pub(crate) next: Cow<'static, str>,
}

/// How compressed bodies begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Longest excerpt of a foreign text in a message, in characters.
const EXCERPT: usize = 200;

/// Stands for the advice of the endpoint's wire.
pub(super) const CHECK_URL: &str = "check the base URL, which usually ends in /v1";
const NO_UTF8: &str = "ask again; if it stays, update the server, which cuts characters apart or uses another encoding";
const ASK_AGAIN: &str = "ask again";
const WAIT: &str = "wait a little and ask again";
const CHECK_KEY: &str = "check the API key and what it may use";
const REFUSED: &str = "check the model's name and its settings, or choose another model";
const NO_TOOLS: &str =
    "choose a model that calls tools, or set tools = \"text\" for it in models.toml";

impl Fault {
    pub(crate) fn new(
        kind: Kind,
        what: impl Into<String>,
        next: impl Into<Cow<'static, str>>,
    ) -> Fault {
        let retryable = matches!(kind, Kind::Connect | Kind::RateLimited | Kind::Unavailable);
        Fault {
            kind,
            retryable,
            retry_after: None,
            what: what.into(),
            next: next.into(),
        }
    }

    /// The same fault; final once something was shown, since what was shown cannot
    /// be taken back and a second reply would double it.
    pub(super) fn after(mut self, delivered: bool) -> Fault {
        self.retryable &= !delivered;
        self
    }

    /// The same fault of a server that asks to be left alone for so long; `most` is
    /// the longest wait that is made for one. Says when to ask again.
    pub(super) fn asks_to_wait(mut self, asked: Duration, most: Duration) -> Fault {
        self.retry_after = Some(asked);
        if self.next == WAIT && !asked.is_zero() {
            self.next = if asked > most {
                let (asked, most) = (spoken(asked), spoken(most));
                format!(
                    "it asks for a wait of {asked}, and at most {most} are waited: ask again then"
                )
                .into()
            } else {
                format!("wait {} and ask again", spoken(asked)).into()
            };
        }
        self
    }

    fn retryable(mut self, retryable: bool) -> Fault {
        self.retryable = retryable;
        self
    }

    pub(crate) fn malformed(what: impl Into<String>) -> Fault {
        Fault::new(Kind::Malformed, what, CHECK_URL)
    }

    /// A body or frame that is not of the wire.
    pub(crate) fn not_the_wire(verb: &str, data: &[u8]) -> Fault {
        let text = String::from_utf8_lossy(data);
        let trimmed = text.trim_start_matches('\u{feff}').trim();
        let lower = trimmed.to_ascii_lowercase();
        if trimmed.starts_with(['{', '[']) && std::str::from_utf8(data).is_err() {
            let what = format!("{verb} JSON that is no UTF-8: {}", excerpt(trimmed));
            return Fault::new(Kind::Malformed, what, NO_UTF8);
        }
        Fault::malformed(if trimmed.is_empty() {
            format!("{verb} an empty body")
        } else if data.starts_with(&GZIP) {
            format!("{verb} a compressed body, which was not asked for")
        } else if lower.starts_with('<') {
            match title(trimmed) {
                Some(title) => format!("{verb} a web page titled \"{}\"", excerpt(title)),
                None => format!("{verb} a web page instead of JSON: {}", excerpt(trimmed)),
            }
        } else {
            format!("{verb} what is no reply of a model: {}", excerpt(trimmed))
        })
    }

    /// The connection or stream ended before the reply did.
    pub(crate) fn broken_off() -> Fault {
        Fault::new(
            Kind::Interrupted,
            "ended the stream before the reply was complete",
            ASK_AGAIN,
        )
        .retryable(true)
    }

    /// A finish reason that says no more than "error".
    pub(crate) fn said_error() -> Fault {
        Fault::new(
            Kind::Interrupted,
            "gave up in the middle of the reply (finish reason \"error\")",
            ASK_AGAIN,
        )
        .retryable(true)
    }

    /// A reply had begun, and then nothing came for too long.
    pub(crate) fn stalled(limit: Duration) -> Fault {
        Fault::idle(limit).retryable(true)
    }

    /// Nothing came for too long.
    pub(crate) fn idle(limit: Duration) -> Fault {
        Fault::new(
            Kind::Idle,
            format!("sent nothing for {} s", limit.as_secs_f64()),
            "ask again, or raise the idle limit for a slow model",
        )
    }

    /// A status other than success, with its body.
    pub(crate) fn of_status(status: u16, body: &[u8]) -> Fault {
        if (300..400).contains(&status) {
            return Fault::new(
                Kind::BadRequest,
                format!("answered HTTP {status}, a redirect"),
                "use the address it points to as base URL",
            );
        }
        let report = Report::read(body);
        let (kind, retryable, next) = report.classify(Some(status));
        let text = match report.message.as_str() {
            "" => Fault::not_the_wire("with", body)
                .what
                .replacen("with ", "", 1),
            message => excerpt(message),
        };
        Fault::new(kind, format!("answered HTTP {status}: {text}"), next).retryable(retryable)
    }

    /// An error inside a body or stream that began as a success.
    pub(crate) fn in_reply(error: &str) -> Fault {
        let report = Report::read(error.as_bytes());
        let (kind, retryable, next) = report.classify(None);
        let what = format!(
            "reported an error inside its answer: {}",
            report.text(error)
        );
        Fault::new(kind, what, next).retryable(retryable)
    }
}

/// A wait as it is said: seconds up to two minutes, then whole minutes or hours.
fn spoken(wait: Duration) -> String {
    let seconds = wait.as_secs_f64().ceil() as u64;
    match seconds {
        0..=120 => format!("{seconds} s"),
        121..=7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// A text on one line, cut at a character.
pub(crate) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for (n, word) in text.split_whitespace().enumerate() {
        if n > 0 {
            out.push(' ');
        }
        out.extend(word.chars().filter(|c| !c.is_control()));
        if out.len() > 4 * EXCERPT {
            break;
        }
    }
    match out.char_indices().nth(EXCERPT) {
        Some((at, _)) => format!("{}…", out[..at].trim_end()),
        None => out,
    }
}

fn title(html: &str) -> Option<&str> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let open = start + lower[start..].find('>')? + 1;
    let end = open + lower[open..].find("</title")?;
    let title = html[open..end].trim();
    (!title.is_empty()).then_some(title)
}

/// What a server's error says, whatever its shape.
#[derive(Debug, Default)]
struct Report {
    message: String,
    /// All words that classify: code, type, status, the upstream's own code.
    words: Vec<String>,
    status: Option<u16>,
    needed: Option<u64>,
    allowed: Option<u64>,
}

const OVERFLOW_WORDS: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "string_above_max_length",
];

const OVERFLOW_PHRASES: [&str; 13] = [
    "maximum context length",
    "context length exceeded",
    "exceeds the available context size",
    "exceeds the context window",
    "exceed context limit",
    "prompt is too long",
    "input is too long",
    "context window exceeded",
    "exceeds the maximum number of tokens allowed",
    "greater than the context length",
    "exceeds the context length",
    "longer than the maximum model length",
    "model is loaded with context length",
];

const QUOTA_WORDS: [&str; 6] = [
    "insufficient_quota",
    "insufficient_credits",
    "insufficient_balance",
    "billing_hard_limit_reached",
    "billing_not_active",
    "quota_exceeded",
];

const QUOTA_PHRASES: [&str; 5] = [
    "credit balance is too low",
    "exceeded your current quota",
    "insufficient credits",
    "insufficient balance",
    "requires more credits",
];

const KEY_WORDS: [&str; 3] = ["invalid_api_key", "authentication_error", "api_key_invalid"];

/// Of servers that refuse a key with a status for any bad request.
const KEY_PHRASES: [&str; 2] = ["api key not valid", "api key expired"];

/// The model or its server takes no tools.
const TOOL_PHRASES: [&str; 8] = [
    "does not support tools",
    "does not support function calling",
    "no endpoints found that support tool use",
    "function calling is not enabled",
    "tools are not supported",
    "tool calling` is not supported",
    // Servers that were started without their parser of calls.
    "requires --jinja",
    "requires --enable-auto-tool-choice",
];

/// The model does not fit into the machine, and will not a moment later.
const MEMORY_PHRASES: [&str; 1] = ["model requires more system memory"];

/// The model wrote something that its own server could not read.
const MODEL_WORDS: [&str; 3] = ["truncated", "tool_use_failed", "model_output_invalid"];

const MODEL_PHRASES: [&str; 5] = [
    "the model produced output",
    "does not match the expected peg",
    "failed to parse input at pos",
    "failed to parse model output",
    "failed to call a function",
];

/// Statuses of 500 that are faults of the request all the same.
const REQUEST_PHRASES: [&str; 4] = [
    "failed to parse tool call arguments",
    "failed to parse messages",
    "failed to parse tools",
    "unable to generate parser",
];

impl Report {
    fn read(body: &[u8]) -> Report {
        let mut report = Report::default();
        if let Ok(value) = serde_json::from_slice::<Value>(body) {
            report.collect(&value, 0);
        }
        if report.needed.is_none() {
            report.numbers();
        }
        report
    }

    fn collect(&mut self, value: &Value, depth: usize) {
        let object = match value {
            Value::String(text) if self.message.is_empty() => {
                self.message.clone_from(text);
                return;
            }
            Value::Array(list) => {
                // One gateway wraps its error in a list.
                if let (Some(first), true) = (list.first(), depth < 4) {
                    self.collect(first, depth + 1);
                }
                return;
            }
            Value::Object(object) => object,
            _ => return,
        };
        for key in ["message", "detail", "error_description", "msg"] {
            if let (true, Some(Value::String(text))) = (self.message.is_empty(), object.get(key)) {
                self.message.clone_from(text);
            }
        }
        for key in ["code", "type", "status"] {
            match object.get(key) {
                Some(Value::String(word)) => self.words.push(word.to_ascii_lowercase()),
                Some(Value::Number(number)) => {
                    let code = number.as_u64().and_then(|n| u16::try_from(n).ok());
                    self.status = self.status.or(code.filter(|c| (400..600).contains(c)));
                }
                _ => {}
            }
        }
        let count = |key| object.get(key).and_then(Value::as_u64);
        self.needed = self.needed.or(count("n_prompt_tokens"));
        self.allowed = self.allowed.or(count("n_ctx"));
        if let Some(metadata) = object.get("metadata") {
            self.upstream(metadata);
        }
        for key in ["error", "errors", "detail"] {
            if let (Some(inner), true) = (object.get(key), depth < 4) {
                self.collect(inner, depth + 1);
            }
        }
    }

    /// A router's own message says little; what its provider said says why.
    fn upstream(&mut self, metadata: &Value) {
        let Some(raw) = metadata.get("raw").and_then(Value::as_str) else {
            return;
        };
        let inner = Report::read(raw.as_bytes());
        let cause = if inner.message.is_empty() {
            raw
        } else {
            &inner.message
        };
        self.message = match metadata.get("provider_name").and_then(Value::as_str) {
            Some(provider) => format!("{} ({provider}: {cause})", self.message),
            None => format!("{} ({cause})", self.message),
        };
        self.words.extend(inner.words);
    }

    /// Counts out of phrases such as "maximum context length is 8192 tokens. However,
    /// you requested 9000 tokens" and "prompt is too long: 210000 tokens > 200000".
    fn numbers(&mut self) {
        let lower = self.message.to_ascii_lowercase();
        let after = |phrase: &str| {
            let rest = &lower[lower.find(phrase)? + phrase.len()..];
            let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.');
            let end = digits.find(|c: char| !c.is_ascii_digit() && c != ',');
            let number = digits[..end.unwrap_or(digits.len())].replace(',', "");
            number.parse::<u64>().ok()
        };
        let first = |phrases: &[&str]| phrases.iter().find_map(|phrase| after(phrase));
        self.allowed = first(&[
            "maximum context length",
            "context size (",
            "tokens >",
            "number of tokens allowed (",
            "maximum model length of",
            "context length of only",
        ]);
        self.needed = first(&[
            "resulted in",
            "requested",
            "too long:",
            "request (",
            "token count (",
            "prompt (length",
            "prompt contains",
            "keep the first",
        ]);
    }

    fn says(&self, words: &[&str], phrases: &[&str]) -> bool {
        let message = self.message.to_ascii_lowercase();
        self.words.iter().any(|word| words.contains(&word.as_str()))
            || phrases.iter().any(|phrase| message.contains(phrase))
    }

    fn text(&self, whole: &str) -> String {
        match self.message.as_str() {
            "" => excerpt(whole),
            message => excerpt(message),
        }
    }

    /// Class, whether the same request can succeed later, and advice.
    fn classify(&self, http: Option<u16>) -> (Kind, bool, &'static str) {
        let status = http.or(self.status).unwrap_or(0);
        if self.says(&OVERFLOW_WORDS, &OVERFLOW_PHRASES) && status != 429 {
            let (needed, allowed) = (self.needed, self.allowed);
            let next = "shorten the conversation or choose a model with a larger window";
            return (Kind::ContextOverflow { needed, allowed }, false, next);
        }
        if status == 402 || self.says(&QUOTA_WORDS, &QUOTA_PHRASES) {
            return (Kind::Quota, false, "add credit or choose another model");
        }
        if matches!(status, 401 | 403) || self.says(&KEY_WORDS, &KEY_PHRASES) {
            return (Kind::Auth, false, CHECK_KEY);
        }
        if status == 407 {
            let next = "put the proxy's user and password into its address";
            return (Kind::Auth, false, next);
        }
        if self.says(&[], &TOOL_PHRASES) {
            return (Kind::Unsupported, false, NO_TOOLS);
        }
        if self.says(&[], &MEMORY_PHRASES) {
            let next = "free memory on the server's machine, or choose a smaller model";
            return (Kind::Unavailable, false, next);
        }
        if self.says(&MODEL_WORDS, &MODEL_PHRASES) {
            return (
                Kind::ModelFault,
                false,
                "ask in another way or choose another model",
            );
        }
        if self.says(&[], &REQUEST_PHRASES) {
            return (
                Kind::BadRequest,
                false,
                "the server's chat template refuses this request",
            );
        }
        match status {
            404 | 405 | 410 => {
                let next = "check the model's name and the base URL, which usually ends in /v1";
                (Kind::BadRequest, false, next)
            }
            429 => (Kind::RateLimited, true, WAIT),
            501 | 505 => (Kind::Unsupported, false, CHECK_URL),
            408 | 500..=599 => (Kind::Unavailable, true, WAIT),
            413 => (
                Kind::BadRequest,
                false,
                "send less, or choose another model",
            ),
            400..=499 => (Kind::BadRequest, false, REFUSED),
            _ if self.says(&["rate_limit_exceeded", "rate_limit_error"], &[]) => {
                (Kind::RateLimited, true, WAIT)
            }
            _ if self
                .words
                .iter()
                .any(|word| word.contains("invalid_request")) =>
            {
                (Kind::BadRequest, false, REFUSED)
            }
            _ => (Kind::Unavailable, true, WAIT),
        }
    }
}

#[cfg(test)]
mod tests;
