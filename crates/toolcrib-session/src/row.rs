//! What one line of a session says, and the one place where it becomes bytes.
//!
//! Each line is a JSON object: `row` names its kind, `at` is when it was
//! written. Kinds and fields that this version does not know are kept.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_core::{Cost, Fingerprint, Message, Str, ToolErrorKind, ToolName, ToolResult, Usage};

use crate::SessionId;

/// The format that this version writes. It moves only when an older reader would
/// misunderstand a row; new kinds and fields do not move it.
pub const FORMAT: u32 = 1;

/// One line of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Row {
    /// The first row.
    Meta(Meta),
    /// A message of the user or the model.
    Message(MessageRow),
    /// The result of one tool call.
    ToolResult(ResultRow),
    /// Tokens and money of one model reply.
    Usage(UsageRow),
    /// A request failed before anything was shown and was sent again.
    Retry(RetryRow),
    /// The plan that requests are made from, written when it changes.
    Plan(PlanRow),
    /// What a prompt was taken to need.
    Reading(ReadingRow),
    /// Tools that are shown from now on.
    Activation(ActivationRow),
    /// The transcript was made shorter: from here on it is what this row holds.
    Compaction(CompactionRow),
    /// Something worth knowing afterwards.
    Note(NoteRow),
    /// The run ended.
    Finished(FinishedRow),
    /// A kind that this version does not know: the whole line, kept as it is.
    #[serde(skip)]
    Unknown(Box<str>),
}

/// What is known when a session begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Meta {
    /// See [`FORMAT`].
    pub format: u32,
    /// The session's name.
    pub id: SessionId,
    /// Milliseconds since 1970.
    pub created: u64,
    /// The model's profile id.
    pub model: Str,
    /// The directory the session is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What was asked first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Program and version that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Where it branched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<Fork>,
}

/// Where a session branched off another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fork {
    /// The other session.
    pub session: SessionId,
    /// Its last line that was copied, counted from 1.
    pub line: u64,
}

impl Meta {
    /// A session with `model` that begins now, under a new name.
    pub fn new(model: impl Into<Str>) -> Meta {
        let created = now();
        Meta {
            format: FORMAT,
            id: SessionId::at(std::time::Duration::from_millis(created)),
            created,
            model: model.into(),
            cwd: None,
            question: None,
            program: None,
            forked_from: None,
        }
    }
}

/// See [`Row::Message`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessageRow {
    /// As the transcript holds it.
    pub message: Message,
    /// The round it belongs to, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
}

/// See [`Row::ToolResult`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResultRow {
    /// As the transcript holds it.
    pub result: ToolResult,
    /// The class of the failure, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolErrorKind>,
    /// Bytes of the whole result.
    #[serde(default)]
    pub bytes: u64,
    /// Bytes that the model was shown, where the result was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_bytes: Option<u64>,
    /// The handle of the whole result, where it was cut and kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<Str>,
    /// Milliseconds it ran.
    #[serde(default)]
    pub ms: u64,
    /// What was changed in the call before it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// The tool's details for user interfaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl ResultRow {
    /// A result about which nothing else is known.
    pub fn new(result: ToolResult) -> ResultRow {
        ResultRow {
            result,
            kind: None,
            bytes: 0,
            shown_bytes: None,
            spill: None,
            ms: 0,
            repairs: Vec::new(),
            details: None,
        }
    }
}

/// See [`Row::Usage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageRow {
    /// The round, counted from 1.
    pub round: u32,
    /// Tokens of this reply.
    pub usage: Usage,
    /// Money for this reply, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Milliseconds that the model took.
    #[serde(default)]
    pub ms: u64,
}

/// See [`Row::Retry`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RetryRow {
    /// The round, counted from 1.
    pub round: u32,
    /// One line on what failed.
    pub reason: Str,
}

/// See [`Row::Plan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanRow {
    /// Of the requests from now on.
    pub fingerprint: Fingerprint,
    /// `initial`, or the sections that changed.
    pub reason: String,
}

/// See [`Row::Reading`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadingRow {
    /// Tools that it was taken to need, most certain first.
    pub tools: Vec<ToolName>,
    /// What it was taken to be about, if that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domains: Option<Vec<Str>>,
}

/// See [`Row::Activation`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActivationRow {
    /// In the order of loading.
    pub tools: Vec<ToolName>,
    /// The call that loaded them, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Str>,
    /// Those of them that the prompt's reading should have predicted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misread: Vec<ToolName>,
}

/// See [`Row::Compaction`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompactionRow {
    /// The whole transcript as it is now, results among them.
    pub messages: Vec<Message>,
    /// `full`, `overflow`, or `asked` when a person asked for it.
    pub reason: String,
    /// Bytes of the transcript before.
    pub bytes_before: u64,
    /// Bytes of it now.
    pub bytes_after: u64,
}

/// See [`Row::Note`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NoteRow {
    /// One line for people.
    pub text: String,
}

/// See [`Row::Finished`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FinishedRow {
    /// In one word: `answered`, `unanswered`, `stopped`, `cancelled`, `failed`.
    pub outcome: String,
    /// The limit or error behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Rounds used.
    #[serde(default)]
    pub rounds: u32,
}

impl Row {
    /// A message of no particular round.
    pub fn message(message: Message) -> Row {
        Row::Message(MessageRow {
            message,
            round: None,
        })
    }

    /// A message of a round, counted from 1.
    pub fn message_in(round: u32, message: Message) -> Row {
        Row::Message(MessageRow {
            message,
            round: Some(round),
        })
    }

    /// Tokens and money of the reply of a round.
    pub fn usage(round: u32, usage: Usage, cost: Option<Cost>, ms: u64) -> Row {
        Row::Usage(UsageRow {
            round,
            usage,
            cost,
            ms,
        })
    }

    /// A request of a round that was sent again, and why.
    pub fn retry(round: u32, reason: impl Into<Str>) -> Row {
        Row::Retry(RetryRow {
            round,
            reason: reason.into(),
        })
    }

    /// The plan of the requests from now on, and why it is new.
    pub fn plan(fingerprint: Fingerprint, reason: impl Into<String>) -> Row {
        Row::Plan(PlanRow {
            fingerprint,
            reason: reason.into(),
        })
    }

    /// What a prompt was taken to need.
    pub fn reading(tools: Vec<ToolName>, domains: Option<Vec<Str>>) -> Row {
        Row::Reading(ReadingRow { tools, domains })
    }

    /// Tools that are shown from now on, and which of them were misread.
    pub fn activation(tools: Vec<ToolName>, call_id: Option<Str>, misread: Vec<ToolName>) -> Row {
        Row::Activation(ActivationRow {
            tools,
            call_id,
            misread,
        })
    }

    /// The transcript as it is now that it was made shorter.
    pub fn compaction(messages: Vec<Message>, reason: &str, before: u64, after: u64) -> Row {
        Row::Compaction(CompactionRow {
            messages,
            reason: reason.to_owned(),
            bytes_before: before,
            bytes_after: after,
        })
    }

    /// Something worth knowing afterwards.
    pub fn note(text: impl Into<String>) -> Row {
        Row::Note(NoteRow { text: text.into() })
    }

    /// How the run ended.
    pub fn finished(outcome: impl Into<String>, reason: Option<String>, rounds: u32) -> Row {
        Row::Finished(FinishedRow {
            outcome: outcome.into(),
            reason,
            rounds,
        })
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

/// Appends the row as one complete line. Every row of every session is made here.
pub(crate) fn encode(row: &Row, at: u64, line: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    if let Row::Unknown(raw) = row {
        // One bad line would make the whole session unreadable.
        decode(raw)?;
        // A line break within would make two rows of one.
        line.extend(raw.bytes().map(|byte| match byte {
            b'\n' | b'\r' => b' ',
            other => other,
        }));
    } else {
        #[derive(Serialize)]
        struct Stamped<'a> {
            at: u64,
            #[serde(flatten)]
            row: &'a Row,
        }
        serde_json::to_writer(&mut *line, &Stamped { at, row })?;
    }
    line.push(b'\n');
    Ok(())
}

/// Reads one complete line without its line break.
pub(crate) fn decode(line: &str) -> Result<(Option<u64>, Row), serde_json::Error> {
    #[derive(Deserialize)]
    struct Head {
        row: Str,
        at: Option<u64>,
    }
    const KNOWN: [&str; 11] = [
        "meta",
        "message",
        "tool_result",
        "usage",
        "retry",
        "plan",
        "reading",
        "activation",
        "compaction",
        "note",
        "finished",
    ];
    let head: Head = serde_json::from_str(line)?;
    let row = if KNOWN.contains(&&*head.row) {
        serde_json::from_str(line)?
    } else {
        Row::Unknown(line.into())
    };
    Ok((head.at, row))
}

#[cfg(test)]
mod tests;
