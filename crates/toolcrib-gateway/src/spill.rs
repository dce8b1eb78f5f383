//! Results that are too long to be given at once.
//!
//! A client's context is what a gateway is to protect: what passes the limit is cut
//! at a character, says how long the whole is, and can be read on piece by piece.
//! Anything below the limit keeps its bytes.

use std::collections::VecDeque;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::wire;

/// The name under which the rest is read.
pub(crate) const READ_RESULT: &str = "read_result";

/// Most results kept for one client, and their bytes together.
const MOST: usize = 64;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Kept whole texts, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Spill {
    kept: VecDeque<(u64, String)>,
    last: u64,
}

impl Spill {
    fn keep(&mut self, text: String) -> String {
        self.last += 1;
        self.kept.push_back((self.last, text));
        let bytes = |kept: &VecDeque<(u64, String)>| kept.iter().map(|k| k.1.len()).sum::<usize>();
        while self.kept.len() > MOST || (self.kept.len() > 1 && bytes(&self.kept) > MOST_BYTES) {
            self.kept.pop_front();
        }
        format!("r{}", self.last)
    }

    /// The piece of a kept result that the arguments name, as a result.
    pub(crate) fn read(&self, arguments: &Value, cap: usize) -> Value {
        let failed =
            |text: String| json!({"content": [{"type": "text", "text": text}], "isError": true});
        let Some(id) = arguments.get("id").and_then(Value::as_str) else {
            return failed(
                "`id` must be the id that a cut result named, such as \"r1\"".to_owned(),
            );
        };
        let number = id.strip_prefix('r').and_then(|n| n.parse::<u64>().ok());
        let found = self.kept.iter().find(|(known, _)| Some(*known) == number);
        let Some((_, text)) = found else {
            return failed(format!(
                "there is no kept result {id:?}; call the tool again"
            ));
        };
        let offset = match arguments.get("offset") {
            None | Some(Value::Null) => 0,
            Some(value) => match value.as_u64().and_then(|n| usize::try_from(n).ok()) {
                Some(offset) => offset,
                None => return failed("`offset` must be a whole number from 0".to_owned()),
            },
        };
        let from = ceil(text, offset);
        let to = floor(text, from.saturating_add(cap));
        let mut piece = text[from..to].to_owned();
        if to < text.len() {
            piece.push_str(&more(id, to, text.len()));
        }
        json!({"content": [{"type": "text", "text": piece}]})
    }

    /// The result, cut where its texts are longer than `cap` bytes.
    pub(crate) fn cut(&mut self, result: Box<RawValue>, cap: usize) -> Box<RawValue> {
        if result.get().len() <= cap {
            return result;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(result.get()) else {
            return result;
        };
        let structured = value.get("structuredContent").filter(|v| !v.is_null());
        let structured = structured.map(Value::to_string);
        let Some(content) = value.get_mut("content").and_then(Value::as_array_mut) else {
            return result;
        };
        let long = |item: &Value| text_of(item).map_or(0, str::len);
        let total: usize = content.iter().map(long).sum();
        let all = total + structured.as_ref().map_or(0, String::len);
        if all <= cap {
            return result;
        }
        let mut whole: Vec<&str> = content.iter().filter_map(text_of).collect();
        // Structured content says the same again, or it stands in for missing text.
        if whole.is_empty()
            && let Some(structured) = &structured
        {
            whole.push(structured);
        }
        let whole = whole.join("\n");
        let id = self.keep(whole.clone());
        let to = floor(&whole, cap);
        let mut text = whole[..to].to_owned();
        if to < whole.len() {
            text.push_str(&more(&id, to, whole.len()));
        }
        let mut kept: Vec<Value> = vec![json!({"type": "text", "text": text})];
        kept.extend(content.drain(..).filter(|item| text_of(item).is_none()));
        let kept = Value::Array(kept).to_string();
        wire::with(result.get(), &[("content", &kept)], &["structuredContent"])
    }
}

fn text_of(item: &Value) -> Option<&str> {
    match item.get("type").and_then(Value::as_str) {
        Some("text") => item.get("text").and_then(Value::as_str),
        Some("resource") => item.get("resource")?.get("text").and_then(Value::as_str),
        _ => None,
    }
}

fn more(id: &str, at: usize, of: usize) -> String {
    format!(
        "\n[cut at byte {at} of {of}; read on with `{READ_RESULT}` and {{\"id\":\"{id}\",\"offset\":{at}}}]"
    )
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> Box<RawValue> {
        wire::raw(json!({"content": [{"type": "text", "text": text}, {"type": "image", "data": "x", "mimeType": "image/png"}], "structuredContent": {"a": text}, "isError": false, "_meta": {"k": 1}}).to_string())
    }

    #[test]
    fn m11_a_short_result_keeps_its_bytes() {
        let short = wire::raw("{ \"content\" : [] , \"x\": 1.0 }".to_owned());
        let mut spill = Spill::default();
        assert_eq!(spill.cut(short.clone(), 100).get(), short.get());
    }

    #[test]
    fn m11_a_long_result_is_cut_at_a_character_and_can_be_read_to_its_end() {
        let text = "äöü€".repeat(500);
        let mut spill = Spill::default();
        let cut: Value = serde_json::from_str(spill.cut(result(&text), 1001).get()).unwrap();
        assert!(cut.get("structuredContent").is_none());
        assert_eq!(cut["_meta"]["k"], 1);
        assert_eq!(cut["content"][1]["type"], "image");
        let mut read = String::new();
        let mut piece = cut["content"][0]["text"].as_str().unwrap().to_owned();
        while let Some((head, note)) = piece.split_once("\n[cut at byte ") {
            read.push_str(head);
            let at: u64 = note.split(' ').next().unwrap().parse().unwrap();
            let next = spill.read(&json!({"id": "r1", "offset": at}), 1000);
            piece = next["content"][0]["text"].as_str().unwrap().to_owned();
        }
        read.push_str(&piece);
        assert_eq!(read, text);
    }

    #[test]
    fn unknown_results_and_bad_offsets_are_named() {
        let spill = Spill::default();
        for arguments in [json!({}), json!({"id": "r9"}), json!({"id": 1})] {
            assert_eq!(spill.read(&arguments, 10)["isError"], true);
        }
        let mut spill = Spill::default();
        spill.cut(result(&"x".repeat(2000)), 100);
        let bad = spill.read(&json!({"id": "r1", "offset": -1}), 10);
        assert_eq!(bad["isError"], true);
        let past = spill.read(&json!({"id": "r1", "offset": 1_000_000}), 10);
        assert_eq!(past["content"][0]["text"], "");
    }

    #[test]
    fn old_results_make_room_for_new_ones() {
        let mut spill = Spill::default();
        for _ in 0..100 {
            spill.keep("x".to_owned());
        }
        assert_eq!(spill.kept.len(), MOST);
        assert_eq!(spill.kept.back().unwrap().0, 100);
    }
}
