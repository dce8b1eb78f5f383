//! JSON as people write it in configuration files, with the place of everything.
//!
//! Comments, trailing commas and a byte order mark are read over. Edits are made
//! on the text by these places, so that what is not edited keeps every byte; no
//! value is ever written anew from a parsed form.

use std::ops::Range;

use serde_json::{Map, Number, Value};

/// Deepest nesting that is read.
const DEEPEST: usize = 128;

/// A value and where it stands in the text, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    /// Of the key with its quotes.
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
    /// The comma behind the value.
    pub(crate) comma: Option<usize>,
}

/// What is wrong with a text, and where: lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub(crate) struct JsonError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: &'static str,
}

/// Reads a whole text.
pub(crate) fn parse(text: &str) -> Result<Node, JsonError> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.blank()?;
    let node = reader.value(0)?;
    reader.blank()?;
    if reader.at < text.len() {
        return Err(reader.wrong("there is more after the value"));
    }
    Ok(node)
}

impl Node {
    /// The members of an object.
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The member of that key; of several the last, as parsers have it.
    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        self.members()?
            .iter()
            .rev()
            .find(|member| member.key == key)
    }

    /// The node at the end of a path of keys.
    pub(crate) fn at(&self, path: &[String]) -> Option<&Node> {
        path.iter()
            .try_fold(self, |node, key| Some(&node.member(key)?.value))
    }

    /// The value without its places.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Array(items) => items.iter().map(Node::value).collect(),
            Kind::Object(members) => {
                let mut map = Map::new();
                for member in members {
                    map.insert(member.key.clone(), member.value.value());
                }
                Value::Object(map)
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, what: &'static str) -> JsonError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        JsonError { line, column, what }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and comments.
    fn blank(&mut self) -> Result<(), JsonError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') => {
                    let rest = &self.text[self.at..];
                    if rest.starts_with("//") {
                        self.at += rest.find('\n').unwrap_or(rest.len());
                    } else if rest.starts_with("/*") {
                        let Some(end) = rest.find("*/") else {
                            return Err(self.wrong("the comment has no end"));
                        };
                        self.at += end + 2;
                    } else {
                        return Err(self.wrong("a value or a comment was expected"));
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        if depth > DEEPEST {
            return Err(self.wrong("it is nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            Some(_) => Kind::Scalar(self.word()?),
            None => return Err(self.wrong("a value was expected")),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, JsonError> {
        let mut members: Vec<Member> = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Object(members));
                }
                Some(b'"') if members.last().is_none_or(|last| last.comma.is_some()) => {}
                Some(b'"') => return Err(self.wrong("a comma was expected")),
                _ => return Err(self.wrong("a key in double quotes or `}` was expected")),
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            self.blank()?;
            if self.peek() != Some(b':') {
                return Err(self.wrong("`:` was expected"));
            }
            self.at += 1;
            self.blank()?;
            let value = self.value(depth + 1)?;
            let end = self.at;
            self.blank()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at = comma.map_or(end, |comma| comma + 1);
            members.push(Member {
                key,
                key_span,
                value,
                comma,
            });
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, JsonError> {
        let mut items = Vec::new();
        let mut open = true;
        self.at += 1;
        loop {
            self.blank()?;
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::Array(items));
                }
                _ if open => {}
                _ => return Err(self.wrong("a comma or `]` was expected")),
            }
            items.push(self.value(depth + 1)?);
            self.blank()?;
            open = self.peek() == Some(b',');
            self.at += usize::from(open);
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.wrong("the text has no closing quote")),
                Some(_) => end += 1,
            }
        }
        let quoted = self.text.get(self.at..=end);
        let read = quoted.and_then(|quoted| serde_json::from_str(quoted).ok());
        let Some(read) = read else {
            return Err(self.wrong("the text has a bad escape or a control character"));
        };
        self.at = end + 1;
        Ok(read)
    }

    /// A number or one of the three words.
    fn word(&mut self) -> Result<Value, JsonError> {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let value = match &rest[..end] {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            number => number.parse::<Number>().ok().map(Value::Number),
        };
        let Some(value) = value else {
            return Err(self.wrong("a value was expected"));
        };
        self.at += end;
        Ok(value)
    }
}

/// Puts `entry` in the place of the first of the members named in `gone`, takes the
/// others out, or appends it where none is named. `object` is the node, within `text`,
/// that holds them. Everything else keeps its bytes, comments included.
pub(crate) fn replace(
    text: &str,
    object: &Node,
    gone: &[&str],
    key: &str,
    entry: &Value,
) -> Option<String> {
    let members = object.members()?;
    let layout = Layout::of(text, object, members);
    let written = format!("{}: {}", Value::from(key), layout.render(entry));
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut placed = false;
    for (at, member) in members.iter().enumerate() {
        if !gone.contains(&member.key.as_str()) {
            continue;
        }
        let whole = member.key_span.start..member.value.span.end;
        if !placed {
            placed = true;
            edits.push((whole, written.clone()));
            continue;
        }
        match member.comma {
            Some(comma) => {
                // A comment between value and comma is not the entry's.
                edits.push((blank_around(text, whole.clone(), comma), String::new()));
                edits.push((comma..comma + 1, String::new()));
            }
            None => {
                // The last one: the comma that is too many is that of the nearest
                // member that stays.
                edits.push((blank_around(text, whole, usize::MAX), String::new()));
                let stays = members[..at].iter().rev().find(|member| {
                    !gone.contains(&member.key.as_str()) || is_first(members, gone, member)
                });
                if let Some(comma) = stays.and_then(|member| member.comma) {
                    edits.push((comma..comma + 1, String::new()));
                }
            }
        }
    }
    if !placed {
        edits.push(layout.append(object, members, &written));
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (range, new) in edits {
        out.push_str(text.get(from..range.start.max(from))?);
        out.push_str(&new);
        from = range.end.max(from);
    }
    out.push_str(text.get(from..)?);
    Some(out)
}

fn is_first(members: &[Member], gone: &[&str], member: &Member) -> bool {
    let first = members
        .iter()
        .find(|member| gone.contains(&member.key.as_str()));
    first.is_some_and(|first| first.key_span == member.key_span)
}

/// The range with the indentation before it, and with the line's end where nothing
/// else is left on the line. A comma at `comma` counts as gone.
fn blank_around(text: &str, range: Range<usize>, comma: usize) -> Range<usize> {
    let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    if !text[line..range.start].trim().is_empty() {
        return range;
    }
    let rest = &text[range.end..];
    let end = rest.find('\n').unwrap_or(rest.len());
    let only_comma = range.end == comma;
    let behind = match only_comma {
        true => &rest[1.min(end)..end],
        false => &rest[..end],
    };
    if behind.trim().is_empty() && end < rest.len() && (only_comma || comma == usize::MAX) {
        return line..range.end + end + 1;
    }
    range
}

/// How the object is laid out: on one line, or with an indentation.
struct Layout {
    /// Before each member; `None` on one line.
    indent: Option<String>,
    step: String,
    newline: &'static str,
}

impl Layout {
    fn of(text: &str, object: &Node, members: &[Member]) -> Layout {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indent_at = |at: usize| {
            let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
            let lead = &text[line..at];
            let width = lead.len() - lead.trim_start_matches([' ', '\t']).len();
            (lead[..width].to_owned(), lead.trim().is_empty())
        };
        let (outer, _) = indent_at(object.span.start);
        let step = |inner: &str| match inner.strip_prefix(&outer) {
            Some(step) if !step.is_empty() => step.to_owned(),
            _ => "  ".to_owned(),
        };
        match members.first() {
            Some(member) => match indent_at(member.key_span.start) {
                (inner, true) => Layout {
                    step: step(&inner),
                    indent: Some(inner),
                    newline,
                },
                _ => Layout {
                    indent: None,
                    step: String::new(),
                    newline,
                },
            },
            None => {
                let step = if outer.contains('\t') { "\t" } else { "  " };
                Layout {
                    indent: Some(format!("{outer}{step}")),
                    step: step.to_owned(),
                    newline,
                }
            }
        }
    }

    fn render(&self, value: &Value) -> String {
        let Some(indent) = &self.indent else {
            return value.to_string();
        };
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.step.as_bytes());
        let mut writer = serde_json::Serializer::with_formatter(&mut out, formatter);
        if serde::Serialize::serialize(value, &mut writer).is_err() {
            return value.to_string();
        }
        let text = String::from_utf8(out).unwrap_or_default();
        text.replace('\n', &format!("{}{indent}", self.newline))
    }

    /// The edit that puts `written` behind the last member.
    fn append(&self, object: &Node, members: &[Member], written: &str) -> (Range<usize>, String) {
        let before = match &self.indent {
            Some(indent) => format!("{}{indent}", self.newline),
            None => " ".to_owned(),
        };
        match members.last() {
            Some(last) => match last.comma {
                Some(comma) => (comma + 1..comma + 1, format!("{before}{written}")),
                None => {
                    let end = last.value.span.end;
                    (end..end, format!(",{before}{written}"))
                }
            },
            None => {
                let inside = object.span.start + 1;
                let indent = self.indent.as_deref().unwrap_or("");
                let outer = indent.strip_suffix(self.step.as_str()).unwrap_or("");
                (
                    inside..inside,
                    format!("{before}{written}{}{outer}", self.newline),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests;
