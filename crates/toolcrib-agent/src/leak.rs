//! Tool markup that a model wrote as text.
//!
//! Some chat templates teach a model a markup for calls, and when calls are not
//! possible it writes that markup into its answer. Such text is never an answer.
//! An answer about such markup is one: what stands in a code span or a fenced
//! block is not looked at.

/// How the markups begin, in lower case.
const MARKUP: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<tool_calls>",
    "<tool_response>",
    "<tool_code>",
    "<|tool_call",
    "<|tool_response",
    "<|tool_outputs",
    "<tool_call|>",
    "<\u{ff5c}tool",
    "<function=",
    "<function_call>",
    "<function_calls>",
    "<function_response>",
    "<start_function_call>",
    "<invoke name=",
    "<parameter=",
    "<minimax:tool_call>",
    "<arg_key>",
    "<|python_tag|>",
    "<|recipient|>",
    "<|start|>functions.",
    "<|channel|>commentary to=",
    "[tool_calls]",
    "[tool_call]",
];

/// The first tool markup outside code spans and fences, as it is written.
pub(crate) fn leaked_markup(text: &str) -> Option<&str> {
    // Nearly every answer ends here.
    if !text.contains(['<', '[']) {
        return None;
    }
    let mut fence: Option<(u8, usize)> = None;
    let mut paragraph = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match (fence, fence_of(line)) {
            (Some((mark, len)), Some((m, l, bare))) if m == mark && l >= len && bare => {
                fence = None;
                paragraph = end;
            }
            (Some(_), _) => {}
            (None, Some((mark, len, bare)))
                if mark == b'~' || bare || !line.trim_start()[len..].contains('`') =>
            {
                if let Some(found) = in_paragraph(&text[paragraph..at]) {
                    return Some(found);
                }
                fence = Some((mark, len));
            }
            (None, _) if line.trim().is_empty() => {
                if let Some(found) = in_paragraph(&text[paragraph..at]) {
                    return Some(found);
                }
                paragraph = end;
            }
            (None, _) => {}
        }
        at = end;
    }
    match fence {
        Some(_) => None,
        None => in_paragraph(&text[paragraph..]),
    }
}

/// Mark, length and whether nothing follows, when a line can open or close a
/// fenced block.
fn fence_of(line: &str) -> Option<(u8, usize, bool)> {
    let body = line.trim_start_matches(' ');
    if line.len() - body.len() > 3 {
        return None;
    }
    let mark = *body
        .as_bytes()
        .first()
        .filter(|b| matches!(b, b'`' | b'~'))?;
    let len = body.bytes().take_while(|&b| b == mark).count();
    (len >= 3).then(|| (mark, len, body[len..].trim().is_empty()))
}

/// Looks at one paragraph, leaving out code spans: a run of backticks up to the
/// next run of the same length. A run without a partner is plain text.
fn in_paragraph(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut plain = 0;
    while at < bytes.len() {
        if bytes[at] != b'`' {
            at += 1;
            continue;
        }
        let ticks = run(bytes, at);
        match closing(bytes, at + ticks, ticks) {
            Some(end) => {
                if let Some(found) = in_plain(&text[plain..at]) {
                    return Some(found);
                }
                at = end;
                plain = end;
            }
            None => at += ticks,
        }
    }
    in_plain(&text[plain..])
}

fn run(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|&&b| b == b'`').count()
}

/// Where the span ends, if a run of exactly `ticks` backticks closes it.
fn closing(bytes: &[u8], mut at: usize, ticks: usize) -> Option<usize> {
    while at < bytes.len() {
        if bytes[at] != b'`' {
            at += 1;
            continue;
        }
        let found = run(bytes, at);
        at += found;
        if found == ticks {
            return Some(at);
        }
    }
    None
}

fn in_plain(text: &str) -> Option<&str> {
    text.char_indices()
        .filter(|(_, c)| matches!(c, '<' | '['))
        .find_map(|(at, _)| {
            let rest = &text.as_bytes()[at..];
            MARKUP
                .iter()
                .find(|mark| {
                    rest.get(..mark.len())
                        .is_some_and(|head| head.eq_ignore_ascii_case(mark.as_bytes()))
                })
                .map(|mark| &text[at..at + mark.len()])
        })
}

#[cfg(test)]
mod tests;
