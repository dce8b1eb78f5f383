//! Truncates tool results: bounds what one of them puts into the transcript.
//!
//! Applied to every result, so that no tool can bypass it, and a function of
//! that one result alone: an old result is never cut further because new ones
//! came, which would break the prefix that providers cache.

use toolcrib_core::{Content, ResultForm, Str};

use crate::DispatchLimits;
use crate::read_result::READ_RESULT;

/// What a cap left out of a result.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Cut {
    /// Bytes of text in the whole result.
    pub total_bytes: u64,
    /// Bytes of it that were kept, the marker not counted.
    pub shown_bytes: u64,
    /// The handle of the whole text, where it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<Str>,
}

/// Where the whole of a cut result is kept, if anywhere.
pub(crate) type Keep<'a> = dyn Fn(&str) -> Option<Str> + 'a;

/// Begins the last line of a listing that was cut.
const TRUNCATED: &str = "(truncated)";

/// Longest follow-up line of a tool that cuts its own listing.
const FOLLOW_UP: usize = 400;

/// Truncates the texts of a tool's result to the cap of its form; images stay
/// where they are.
pub(crate) fn cap(
    content: Vec<Content>,
    form: ResultForm,
    limits: &DispatchLimits,
    keep: &Keep<'_>,
) -> (Vec<Content>, Option<Cut>) {
    match form {
        ResultForm::Lookup => listing(content, limits.lookup_cap, keep),
        _ => head_and_tail(content, limits.result_cap, keep),
    }
}

fn whole(content: &[Content]) -> String {
    content.iter().map(as_text).collect()
}

/// The call that reads on from byte `offset`.
fn follow_up(handle: &str, offset: usize) -> String {
    format!(r#"{READ_RESULT} {{"id":"{handle}","offset":{offset}}}"#)
}

fn text_bytes(content: &[Content]) -> usize {
    content.iter().map(|piece| as_text(piece).len()).sum()
}

fn as_text(piece: &Content) -> &str {
    match piece {
        Content::Text(text) => text,
        _ => "",
    }
}

/// Keeps the first `cap` characters, whole lines.
fn listing(content: Vec<Content>, cap: usize, keep: &Keep<'_>) -> (Vec<Content>, Option<Cut>) {
    let total = text_bytes(&content);
    if total <= cap {
        return (content, None);
    }
    // A tool that cut its own listing ends it with the marker and a follow-up
    // call, which stand outside the cap.
    let marker = content
        .iter()
        .rev()
        .find_map(|piece| match piece {
            Content::Text(text) => Some(own_marker(text)),
            _ => None,
        })
        .flatten();
    let body = total - marker.as_ref().map_or(0, |marker| marker.len());
    let mut budget = cap;
    let mut passed = 0;
    let mut end = None;
    for piece in &content {
        let text = as_text(piece);
        let text = &text[..text.len().min(body - passed)];
        let characters = text.chars().count();
        if characters > budget {
            end = Some(passed + whole_lines(text, nth_boundary(text, budget)));
            break;
        }
        budget -= characters;
        passed += text.len();
    }
    let Some(end) = end else {
        return (content, None);
    };
    let spill = match &marker {
        Some(_) => None,
        None => keep(&whole(&content)),
    };
    let marker = marker.unwrap_or_else(|| match &spill {
        Some(handle) => format!("{TRUNCATED} {}", follow_up(handle, end)).into(),
        None => TRUNCATED.into(),
    });
    let mut kept = split(content, end, total, None);
    end_with_line(&mut kept, &marker);
    let cut = Cut {
        total_bytes: total as u64,
        shown_bytes: end as u64,
        spill,
    };
    (kept, Some(cut))
}

/// The last line of a text, if it is a marker of the tool's own.
fn own_marker(text: &str) -> Option<Str> {
    let start = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    (line.starts_with(TRUNCATED) && line.len() <= FOLLOW_UP).then(|| line.into())
}

/// Appends a line to the last text.
fn end_with_line(content: &mut Vec<Content>, line: &str) {
    if let Some(Content::Text(text)) = content.last_mut() {
        let gap = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        *text = format!("{text}{gap}{line}").into();
    } else {
        content.push(Content::text(line));
    }
}

/// Keeps head and tail within `cap` bytes, with a marker between them.
fn head_and_tail(
    content: Vec<Content>,
    cap: usize,
    keep: &Keep<'_>,
) -> (Vec<Content>, Option<Cut>) {
    let total = text_bytes(&content);
    if total <= cap {
        return (content, None);
    }
    let (mut head, mut tail) = (0, total);
    let (head_at, tail_at) = (cap / 2, total - (cap - cap / 2));
    let mut passed = 0;
    for piece in &content {
        let text = as_text(piece);
        let range = passed..passed + text.len();
        if range.start <= head_at && head_at < range.end {
            let at = text.floor_char_boundary(head_at - range.start);
            head = range.start + whole_lines(text, at);
        }
        if range.start <= tail_at && tail_at < range.end {
            let at = text.ceil_char_boundary(tail_at - range.start);
            tail = range.start + next_line(text, at);
        }
        passed = range.end;
    }
    let shown = head + (total - tail);
    let spill = keep(&whole(&content));
    let rest = match &spill {
        Some(handle) => format!("{} reads the rest", follow_up(handle, head)),
        None => "Narrow the call to see the rest".to_owned(),
    };
    let marker = format!(
        "[cut: {total} bytes in all; the first {head} and the last {} are shown. {rest}.]",
        total - tail
    );
    let kept = split(content, head, tail, Some(&marker));
    let cut = Cut {
        total_bytes: total as u64,
        shown_bytes: shown as u64,
        spill,
    };
    (kept, Some(cut))
}

/// Keeps the text before byte `head` and from byte `tail` on, counted over all
/// texts, with `marker` on a line of its own between them.
fn split(content: Vec<Content>, head: usize, tail: usize, marker: Option<&str>) -> Vec<Content> {
    let mut kept = Vec::with_capacity(content.len() + 1);
    let mut marker = marker;
    let mut passed = 0;
    for piece in content {
        let Content::Text(text) = &piece else {
            kept.push(piece);
            continue;
        };
        let range = passed..passed + text.len();
        passed = range.end;
        let before = &text[..head.clamp(range.start, range.end) - range.start];
        let after = &text[tail.clamp(range.start, range.end) - range.start..];
        let mut out = String::with_capacity(before.len() + after.len() + 128);
        out.push_str(before);
        if range.end > head
            && let Some(marker) = marker.take()
        {
            if !before.is_empty() && !before.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(marker);
            out.push('\n');
        }
        out.push_str(after);
        if !out.is_empty() {
            kept.push(Content::text(out));
        }
    }
    kept
}

/// Byte index of the `n`th character, or the end.
fn nth_boundary(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

/// Moves a cut back to the end of a line, unless more than half would go with it:
/// then the line is no record and its beginning is worth more.
fn whole_lines(text: &str, at: usize) -> usize {
    match text[..at].rfind('\n') {
        Some(newline) if newline + 1 >= at / 2 => newline + 1,
        _ => at,
    }
}

/// Moves the beginning of a tail forward to the start of a line, under the same rule.
fn next_line(text: &str, at: usize) -> usize {
    if at == 0 || text.as_bytes()[at - 1] == b'\n' {
        return at;
    }
    match text[at..].find('\n') {
        Some(newline) if newline < (text.len() - at) / 2 => at + newline + 1,
        _ => at,
    }
}

#[cfg(test)]
mod tests;
