//! A model that replays recorded replies: for tests, demos and bug reports.
//!
//! A script is JSON Lines, one reply a line, easy to write by hand:
//!
//! ```text
//! {"calls": [{"name": "search", "arguments": {"query": "cap"}}]}
//! {"text": "It is cut in `cap.rs`.", "usage": {"input": 900, "output": 12}}
//! {"error": "the server went away"}
//! ```
//!
//! | key | value |
//! |---|---|
//! | `text` | what the model says |
//! | `reasoning` | what it thought first |
//! | `calls` | `name`, `arguments` (an object, kept as written; or a string, for broken text), and `id` where it matters |
//! | `finish` | `stop`, `tool_calls`, `length`, `refusal`, `content_filter`, `paused`, or any other word |
//! | `usage` | `input`, `cached`, `cache_write`, `output`, `reasoning` |
//! | `cost` | US dollars |
//! | `error` | a text, or `{"kind": …, "message": …}`; the request then fails |
//!
//! Every key is optional; blank lines and lines that begin with `//` are skipped. A
//! reply with calls finishes with `tool_calls` unless it says otherwise. Each
//! request takes the next line, whatever it asks: a script does not listen.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcrib_core::{
    AssistantMessage, Block, BoxFuture, Cost, Finish, Model, ModelError, ModelErrorKind as Kind,
    ModelProfile, Reply, ReplyEvent, Request, ToolCall, Usage,
};

use crate::chat::Ids;
use crate::from_file;

/// Replays the lines of a script, one a request.
#[derive(Debug)]
pub struct ScriptModel {
    profile: ModelProfile,
    file: String,
    lines: Vec<(usize, Line)>,
    next: AtomicUsize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Line {
    text: Option<String>,
    reasoning: Option<String>,
    calls: Vec<Call>,
    finish: Option<String>,
    usage: Tokens,
    cost: Option<f64>,
    error: Option<Failure>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    #[serde(default)]
    id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tokens {
    input: Option<u64>,
    cached: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Failure {
    Text(String),
    Typed(TypedFailure),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedFailure {
    #[serde(default)]
    kind: ErrorWord,
    message: String,
    #[serde(default)]
    needed: Option<u64>,
    #[serde(default)]
    allowed: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ErrorWord {
    Connect,
    Idle,
    Auth,
    Quota,
    RateLimited,
    #[default]
    Unavailable,
    BadRequest,
    ContextOverflow,
    ModelFault,
    Malformed,
    Interrupted,
    Unsupported,
}

impl ScriptModel {
    /// Reads the script in `path`.
    ///
    /// # Errors
    /// [`Kind::Script`], naming the file and, for a line that is no reply, the line.
    pub fn open(path: impl AsRef<Path>) -> Result<ScriptModel, ModelError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            ModelError::new(
                Kind::Script,
                format!("cannot read the script {file}: {error}"),
            )
        })?;
        let mut model = ScriptModel::parse(file, &text)?;
        model.profile.id = from_file::id("script", path).into();
        Ok(model)
    }

    /// Reads a script that is at hand; `file` is what errors call it.
    ///
    /// # Errors
    /// [`Kind::Script`] for a line that is no reply, or when there is none at all.
    pub fn parse(file: impl Into<String>, text: &str) -> Result<ScriptModel, ModelError> {
        let file = file.into();
        let mut lines = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.trim_start().starts_with("//") {
                continue;
            }
            let parsed: Line = serde_json::from_str(line).map_err(|error| {
                let cause = error.to_string();
                // The parser counts lines within this one.
                let cause = cause.replace(" at line 1 column ", " at column ");
                let message = format!("{file}:{}: not a scripted reply: {cause}", at + 1);
                ModelError::new(Kind::Script, message)
            })?;
            lines.push((at + 1, parsed));
        }
        if lines.is_empty() {
            let message = format!("the script {file} holds no reply; write one JSON object a line");
            return Err(ModelError::new(Kind::Script, message));
        }
        Ok(ScriptModel {
            profile: ModelProfile::new(format!("script:{file}")),
            file,
            lines,
            next: AtomicUsize::new(0),
        })
    }

    fn play(
        &self,
        request: &Request<'_>,
        on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let Some((number, line)) = self.lines.get(at) else {
            let message = format!(
                "the script {} ran out: it holds {} replies and this is request {}; add a line",
                self.file,
                self.lines.len(),
                at + 1
            );
            return Err(ModelError::new(Kind::Script, message));
        };
        if let Some(failure) = &line.error {
            return Err(failure.error(&format!("{}:{number}", self.file)));
        }
        let mut blocks = Vec::new();
        if let Some(text) = line.reasoning.as_deref().filter(|text| !text.is_empty()) {
            for piece in pieces(text) {
                on_event(ReplyEvent::Reasoning(piece));
            }
            blocks.push(Block::Reasoning {
                text: text.into(),
                raw: None,
            });
        }
        if let Some(text) = line.text.as_deref().filter(|text| !text.is_empty()) {
            for piece in pieces(text) {
                on_event(ReplyEvent::Text(piece));
            }
            blocks.push(Block::Text(text.into()));
        }
        let mut ids = Ids::new(request.history);
        for call in &line.calls {
            on_event(ReplyEvent::CallStarted(&call.name));
            blocks.push(Block::Call(ToolCall {
                id: ids.unique(call.id.clone()),
                name: call.name.as_str().into(),
                arguments: call.arguments().into(),
                extra: None,
            }));
        }
        Ok(Reply {
            message: AssistantMessage {
                blocks,
                model: self.profile.id.clone(),
            },
            finish: line.finish(),
            usage: Usage {
                input: line.usage.input,
                cached: line.usage.cached,
                cache_write: line.usage.cache_write,
                output: line.usage.output,
                reasoning: line.usage.reasoning,
                raw: None,
            },
            cost: line.cost.map(Cost::reported),
        })
    }
}

impl Model for ScriptModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move { self.play(&request, on_event) })
    }
}

impl Line {
    fn finish(&self) -> Finish {
        match self.finish.as_deref() {
            None if self.calls.is_empty() => Finish::Stop,
            None | Some("tool_calls") => Finish::ToolCalls,
            Some("stop") => Finish::Stop,
            Some("length") => Finish::Length,
            Some("refusal") => Finish::Refusal,
            Some("content_filter") => Finish::ContentFilter,
            Some("paused") => Finish::Paused,
            Some(other) => Finish::Other(other.into()),
        }
    }
}

impl Call {
    /// A string stands for the text inside it; anything else for its own bytes.
    fn arguments(&self) -> String {
        let Some(raw) = &self.arguments else {
            return String::new();
        };
        serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
    }
}

impl Failure {
    fn error(&self, place: &str) -> ModelError {
        let (kind, message) = match self {
            Failure::Text(message) => (Kind::Unavailable, message),
            Failure::Typed(failure) => (failure.kind(), &failure.message),
        };
        // The script says when it fails; trying again would only take the next line.
        ModelError::new(kind, format!("{place}: {message}")).retryable(false)
    }
}

impl TypedFailure {
    fn kind(&self) -> Kind {
        match self.kind {
            ErrorWord::Connect => Kind::Connect,
            ErrorWord::Idle => Kind::Idle,
            ErrorWord::Auth => Kind::Auth,
            ErrorWord::Quota => Kind::Quota,
            ErrorWord::RateLimited => Kind::RateLimited,
            ErrorWord::Unavailable => Kind::Unavailable,
            ErrorWord::BadRequest => Kind::BadRequest,
            ErrorWord::ContextOverflow => Kind::ContextOverflow {
                needed: self.needed,
                allowed: self.allowed,
            },
            ErrorWord::ModelFault => Kind::ModelFault,
            ErrorWord::Malformed => Kind::Malformed,
            ErrorWord::Interrupted => Kind::Interrupted,
            ErrorWord::Unsupported => Kind::Unsupported,
        }
    }
}

/// Words with the white space after them, as a stream would bring them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

#[cfg(test)]
mod tests;
