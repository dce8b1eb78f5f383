//! What came of one call.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;
use toolcrib_core::{
    Content, ResultForm, ToolError, ToolErrorKind, ToolName, ToolOutput, ToolResult,
};

use crate::cap::cap;
use crate::supervise::Ended;
use crate::{Cut, DispatchLimits, Dispatcher, Prepared, Redactor, Repair};

/// What the model reads of a call that ran and gave nothing: providers refuse
/// empty texts.
const NO_OUTPUT: &str = "(no output)";

/// The outcome of one call, whether it ran or not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallOutcome {
    /// What the model reads, capped.
    pub result: ToolResult,
    /// The class of the failure, if it is one.
    pub kind: Option<ToolErrorKind>,
    /// Tools to be shown from now on, all of them known and visible.
    pub activated: Vec<ToolName>,
    /// Tools that the result named for showing and that were ignored: unknown,
    /// not visible, or named by a tool that did not declare that it activates.
    pub ignored: Vec<ToolName>,
    /// For user interfaces and logs; the model never reads it.
    pub details: Option<Value>,
    /// What the cap left out, if anything.
    pub cut: Option<Cut>,
    /// Size of the whole result in bytes, before the cap.
    pub bytes: u64,
    /// How long it ran; zero if it did not.
    pub elapsed: Duration,
    /// What was changed in the call before it ran.
    pub repairs: Vec<Repair>,
}

impl CallOutcome {
    /// The outcome of a call that did not run, for a caller that gives up a batch
    /// before or instead of running it.
    pub fn not_run(prepared: &Prepared, error: &ToolError) -> CallOutcome {
        let text = error_text(error);
        let bytes = text.len() as u64;
        let limits = DispatchLimits::default();
        let content = vec![Content::text(text)];
        let (content, cut) = cap(content, ResultForm::Whole, &limits, &|_| None);
        CallOutcome {
            bytes,
            result: ToolResult {
                call_id: prepared.call.id.clone(),
                name: prepared.call.name.clone(),
                content,
                is_error: true,
                loaded: Vec::new(),
            },
            kind: Some(error.kind),
            activated: Vec::new(),
            ignored: Vec::new(),
            details: None,
            cut,
            elapsed: Duration::ZERO,
            repairs: prepared.repairs.clone(),
        }
    }

    /// The outcome of a call that ended one way or another.
    pub(crate) fn of(dispatcher: &Dispatcher, prepared: &Prepared, ended: Ended) -> CallOutcome {
        let mut kind = ended.stopped;
        let output = match ended.output {
            Ok(output) => output,
            Err(error) => {
                kind = Some(error.kind);
                let cause = dispatcher.redactor().text(&error.operator).into_owned();
                let tool = dispatcher.redactor().text(&prepared.call.name);
                tracing::debug!(tool = &*tool, cause, "tool error");
                ToolOutput::error(error_text(&error))
            }
        };
        if output.is_error {
            kind = kind.or(Some(ToolErrorKind::Failed));
        }
        let spec = prepared.parts().map(|ready| ready.tool.spec());
        let form = spec.map_or(ResultForm::Whole, |spec| spec.result_form);
        let mut content = presentable(output.content, output.is_error);
        // Before anything is kept, shown or logged.
        for piece in &mut content {
            if let Content::Text(text) = piece
                && let Cow::Owned(clean) = dispatcher.redactor().text(text)
            {
                *text = clean.into();
            }
        }
        let mut details = output.details;
        if let Some(details) = &mut details {
            dispatcher.redactor().value(details);
        }
        let bytes = content.iter().map(size).sum();
        let keep = |text: &str| dispatcher.keep(text);
        let (content, cut) = cap(content, form, dispatcher.limits(), &keep);
        let activates = spec.is_some_and(|spec| spec.activates);
        let (activated, ignored) = output
            .activate
            .into_iter()
            .partition(|name| activates && dispatcher.knows(name));
        let outcome = CallOutcome {
            result: ToolResult {
                call_id: prepared.call.id.clone(),
                name: prepared.call.name.clone(),
                content,
                is_error: output.is_error,
                loaded: Vec::new(),
            },
            kind,
            activated,
            ignored,
            details,
            cut,
            bytes,
            elapsed: ended.elapsed,
            repairs: prepared.repairs.clone(),
        };
        log(prepared, &outcome, dispatcher.redactor());
        outcome
    }
}

fn error_text(error: &ToolError) -> String {
    if error.model.trim().is_empty() {
        return "error: the tool failed and gave no reason".to_owned();
    }
    error.for_model()
}

/// Blank texts dropped, a placeholder where nothing is left, and errors that
/// say so in their first word, since not every wire carries a flag for it.
fn presentable(mut content: Vec<Content>, is_error: bool) -> Vec<Content> {
    content.retain(|piece| !matches!(piece, Content::Text(text) if text.trim().is_empty()));
    if content.is_empty() {
        content.push(Content::text(NO_OUTPUT));
    }
    const ERROR: &str = "error:";
    if is_error {
        match content.first_mut() {
            Some(Content::Text(text)) if text.starts_with(ERROR) => {}
            Some(Content::Text(text)) => *text = format!("{ERROR} {text}").into(),
            _ => content.insert(0, Content::text("error: the call failed")),
        }
    }
    content
}

fn size(piece: &Content) -> u64 {
    match piece {
        Content::Text(text) => text.len() as u64,
        Content::Image { data, .. } => data.len() as u64,
        _ => 0,
    }
}

/// One line a call. Sizes alone would hide a broken tool, so it has excerpts.
fn log(prepared: &Prepared, outcome: &CallOutcome, redactor: &Redactor) {
    const ARGUMENTS: usize = 200;
    const RESULT: usize = 120;
    tracing::info!(
        tool = &*redactor.text(&prepared.call.name),
        call = %prepared.call.id,
        arguments = excerpt(&redactor.text(&prepared.call.arguments), ARGUMENTS),
        result = excerpt(first_text(&outcome.result.content), RESULT),
        error = outcome.kind.map(tracing::field::debug),
        bytes = outcome.bytes,
        truncated = outcome.cut.is_some(),
        ms = outcome.elapsed.as_millis() as u64,
        "tool call"
    );
}

fn first_text(content: &[Content]) -> &str {
    content
        .iter()
        .find_map(|piece| match piece {
            Content::Text(text) => Some(&**text),
            _ => None,
        })
        .unwrap_or_default()
}

/// The first characters on one line, without control characters.
fn excerpt(text: &str, characters: usize) -> String {
    let mut out: String = text
        .chars()
        .take(characters)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(characters).is_some() {
        out.push('…');
    }
    out
}
