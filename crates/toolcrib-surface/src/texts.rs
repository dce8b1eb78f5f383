//! What is read of a tool for its meaning, by table or by encoder.
//!
//! Three texts: what the tool is called and does in a sentence, its longer text with its arguments, and its source,
//! without which names like `get_data` say nothing.

use crate::ToolDoc;
use crate::sentence::first_sentence;
use crate::tokenize::{Piece, words};

/// Words of a description and names of arguments that count for the longer text.
pub(crate) const BODY_WORDS: usize = 60;
const ARGUMENTS: usize = 12;

/// A source's name and first sentence.
pub(crate) fn of_source(doc: &ToolDoc) -> String {
    let mut text = String::new();
    spaced(&doc.source, &mut text);
    text.push_str(": ");
    text.push_str(first_sentence(&doc.source_description));
    text
}

/// Replaces `text` by the names of a tool and its source and the tool's first sentence, in the way an encoder
/// reads them.
pub(crate) fn short_of_source(doc: &ToolDoc, text: &mut String) {
    text.clear();
    spaced(&doc.source, text);
    if !text.is_empty() {
        text.push(' ');
    }
    spaced(doc.spoken_name(), text);
    text.push_str(": ");
    text.push_str(first_sentence(&doc.description));
}

/// Replaces `text` by a tool's name, the beginning of its description and its arguments.
pub(crate) fn long(doc: &ToolDoc, text: &mut String) {
    name(doc, text);
    for word in doc.description.split_whitespace().take(BODY_WORDS) {
        text.push_str(word);
        text.push(' ');
    }
    arguments(doc, text);
}

/// Appends the names of a tool's first arguments.
pub(crate) fn arguments(doc: &ToolDoc, text: &mut String) {
    for argument in doc.argument_names().take(ARGUMENTS) {
        spaced(argument, text);
        text.push(' ');
    }
}

/// Replaces `text` by a tool's name, as each of its texts begins.
pub(crate) fn name(doc: &ToolDoc, text: &mut String) {
    text.clear();
    spaced(doc.spoken_name(), text);
    text.push_str(": ");
}

/// Appends the words of a name, separated by spaces. Numbers are left out: they tell
/// names apart but mean nothing, and tools that differ in them alone rank as equals.
fn spaced(name: &str, to: &mut String) {
    let start = to.len();
    words(name, |word, piece| {
        let number = word.bytes().all(|b| b.is_ascii_digit());
        if matches!(piece, Piece::Whole(false) | Piece::Part) && !number {
            if to.len() > start {
                to.push(' ');
            }
            to.push_str(word);
        }
    });
}
