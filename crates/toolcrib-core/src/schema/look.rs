//! What the text of a schema shows at one look, without building its values.
//!
//! Thousands of schemas are taken in for every one that is used, and nearly all of them
//! are plain objects whose bytes stay as they are. Not a parser: the text is known to be
//! JSON, and whatever is out of the ordinary is left to one.

/// See the module's head.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Objects and arrays within one another.
    pub(super) depth: usize,
    /// Whether the root says that it is an object, has properties and nothing that makes
    /// it more than that, and all values in the text are certain to be read.
    pub(super) plain: bool,
}

/// Looks at `text`, which is JSON. A root with one of the keys `beyond` is not plain.
pub(super) fn look(text: &str, beyond: &[&str]) -> Look {
    let bytes = text.as_bytes();
    let mut look = Look {
        depth: 0,
        plain: true,
    };
    let (mut at, mut depth, mut key_is_due) = (0, 0usize, false);
    let (mut types, mut properties) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                look.depth = look.depth.max(depth);
                key_is_due = depth == 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => key_is_due = depth == 1,
            b'"' => {
                let (end, odd) = string(bytes, at);
                let inside = &text[at..end];
                at = end + 1;
                look.plain &= !odd;
                if !std::mem::take(&mut key_is_due) {
                    continue;
                }
                match inside {
                    "type" => {
                        types += 1;
                        look.plain &= value(&text[at.min(text.len())..]).starts_with("\"object\"");
                    }
                    "properties" => properties = true,
                    key => look.plain &= !key.contains('\\') && !beyond.contains(&key),
                }
            }
            b'-' | b'0'..=b'9' => {
                let rest = &bytes[at..];
                let of_number =
                    |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let length = rest.iter().take_while(|byte| of_number(byte)).count();
                // One that is out of range would be no value.
                look.plain &= length < 64 && !rest[..length].iter().any(u8::is_ascii_alphabetic);
                at += length;
            }
            _ => {}
        }
    }
    look.plain &= types == 1 && properties && text.starts_with('{');
    look
}

/// Where the string that begins at `at` ends, and whether it has half a character.
fn string(bytes: &[u8], mut at: usize) -> (usize, bool) {
    let mut odd = false;
    while let Some(more) = bytes[at.min(bytes.len())..]
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\'))
    {
        at += more;
        if bytes[at] == b'"' {
            return (at, odd);
        }
        // Surrogates come in pairs, which a look does not match up.
        odd |= matches!(
            bytes.get(at + 1..at + 4),
            Some([b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F'])
        );
        at += 2;
    }
    (bytes.len(), true)
}

/// The text from the value on that follows a key.
fn value(text: &str) -> &str {
    let text = text.trim_start();
    text.strip_prefix(':').unwrap_or(text).trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_certainly_an_object_is_plain() {
        for (text, depth, plain) in [
            (r#"{"type":"object","properties":{}}"#, 2, true),
            (
                r#"{ "properties" : {"type":{"type":"array"}}, "type" : "object" }"#,
                3,
                true,
            ),
            (
                r#"{"type":"object","properties":{"a":{"enum":[1.5,-2,"{[\"}"]}}}"#,
                4,
                true,
            ),
            (r#"{"type":"object","properties":{"$ref":{}}}"#, 3, true),
            (
                r##"{"type":"object","properties":{},"$ref":"#/a"}"##,
                2,
                false,
            ),
            (r#"{"type":"object"}"#, 1, false),
            (r#"{"properties":{"type":"object"}}"#, 2, false),
            (r#"{"type":"array","properties":{}}"#, 2, false),
            (r#"{"type":["object"],"properties":{}}"#, 2, false),
            (
                r#"{"type":"object","type":"array","properties":{}}"#,
                2,
                false,
            ),
            (
                r#"{"type":"object","properties":{},"\u0024ref":""}"#,
                2,
                false,
            ),
            (r#"{"type":"object","properties":{"a":"\ud83d"}}"#, 2, false),
            (r#"{"type":"object","properties":{"a":1e999}}"#, 2, false),
            (r#"["type","object","properties"]"#, 1, false),
            (r#""type""#, 0, false),
            ("7", 0, false),
        ] {
            assert_eq!(look(text, &["$ref"]), Look { depth, plain }, "{text}");
        }
    }
}
