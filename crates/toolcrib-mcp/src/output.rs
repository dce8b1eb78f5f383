//! What a server's answer to a tool call is for a model.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib_core::{Content, ToolOutput};

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    content: Vec<Value>,
    #[serde(rename = "structuredContent", default)]
    structured: Option<Box<RawValue>>,
    #[serde(rename = "isError", default)]
    is_error: Option<bool>,
}

/// Longest text that can be an "unknown tool" and nothing else, in characters.
const SHORT: usize = 300;

/// The result of `tools/call` as a tool's output. Texts and images are kept;
/// structured content stands in for missing content; the whole answer is in the
/// details. A server that says in plain words that it does not know the tool has
/// failed, whatever its flag says.
pub fn output_of(tool: &str, result: &RawValue) -> ToolOutput {
    let mut output = ToolOutput::default();
    output.details = serde_json::from_str(result.get()).ok();
    let Ok(answer) = serde_json::from_str::<Answer>(result.get()) else {
        output.content.push(Content::text(result.get()));
        return output;
    };
    output.content = answer.content.iter().map(content).collect();
    if output.content.is_empty()
        && let Some(structured) = &answer.structured
    {
        output.content.push(Content::text(structured.get()));
    }
    output.is_error = answer.is_error == Some(true) || denies(tool, &output.content);
    output
}

fn content(block: &Value) -> Content {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => Content::text(text("text")),
        "image" => image(text("mimeType"), text("data")),
        "audio" => left_out("audio", text("mimeType"), text("data")),
        "resource_link" => {
            let mut line = format!("[resource {}]", text("uri"));
            for part in [text("name"), text("description")] {
                if !part.is_empty() {
                    line.push(' ');
                    line.push_str(part);
                }
            }
            Content::text(line)
        }
        "resource" => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            let text = |key: &str| resource.get(key).and_then(Value::as_str);
            let kind = text("mimeType").unwrap_or_default();
            match (text("text"), text("blob")) {
                (Some(body), _) => Content::text(format!(
                    "[resource {}]\n{body}",
                    text("uri").unwrap_or_default()
                )),
                (None, Some(blob)) if kind.starts_with("image/") => image(kind, blob),
                (None, blob) => left_out("resource", kind, blob.unwrap_or_default()),
            }
        }
        _ => Content::text(block.to_string()),
    }
}

fn image(media_type: &str, data: &str) -> Content {
    Content::Image {
        media_type: media_type.into(),
        data: data.into(),
    }
}

fn left_out(what: &str, kind: &str, data: &str) -> Content {
    let kind = if kind.is_empty() {
        "unknown type"
    } else {
        kind
    };
    Content::text(format!(
        "[{what} of {kind}, {} bytes, left out: it cannot be shown as text]",
        data.len() / 4 * 3
    ))
}

/// Whether a result says that the tool does not exist.
fn denies(tool: &str, content: &[Content]) -> bool {
    let [Content::Text(text)] = content else {
        return false;
    };
    if text.chars().count() > SHORT {
        return false;
    }
    let text = text.to_lowercase();
    let tool = tool.to_lowercase();
    let said = |phrase: &str| text.contains(phrase);
    let names = text.contains(&tool);
    let unknown = [
        "unknown tool",
        "no such tool",
        "tool not found",
        "invalid tool name",
    ];
    unknown.iter().any(|phrase| said(phrase))
        || names
            && (said(&format!("tool {tool} not found"))
                || said(&format!("tool '{tool}' not found"))
                || said(&format!("tool \"{tool}\" not found"))
                || said(&format!("tool `{tool}` not found"))
                || said(&format!("tool {tool} does not exist"))
                || said(&format!("unknown operation: {tool}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> ToolOutput {
        output_of("echo", &RawValue::from_string(json.to_owned()).unwrap())
    }

    fn texts(output: &ToolOutput) -> Vec<String> {
        let text = |content: &Content| match content {
            Content::Text(text) => text.to_string(),
            Content::Image { media_type, data } => format!("image {media_type} {data}"),
            _ => String::new(),
        };
        output.content.iter().map(text).collect()
    }

    #[test]
    fn every_kind_of_content_is_kept_or_named() {
        let output = of(r#"{"content":[
            {"type":"text","text":"a"},
            {"type":"image","mimeType":"image/png","data":"QUJD"},
            {"type":"audio","mimeType":"audio/wav","data":"QUJD"},
            {"type":"resource_link","uri":"x:1","name":"one","description":"The one."},
            {"type":"resource","resource":{"uri":"x:2","mimeType":"text/plain","text":"two"}},
            {"type":"resource","resource":{"uri":"x:3","mimeType":"image/gif","blob":"R0lG"}},
            {"type":"resource","resource":{"uri":"x:4","blob":"QUJD"}},
            {"type":"hologram","x":1.0}
        ],"structuredContent":{"n":1}}"#);
        insta::assert_snapshot!(texts(&output).join("\n"));
        assert_eq!(output.details.unwrap()["structuredContent"]["n"], 1);
        assert!(!output.is_error);
    }

    #[test]
    fn structured_content_alone_is_shown_as_received() {
        let output = of(r#"{"content":[],"structuredContent":{ "n": 1.00 }}"#);
        assert_eq!(texts(&output), [r#"{ "n": 1.00 }"#]);
    }

    #[test]
    fn m11_every_way_to_not_know_a_tool_is_an_error() {
        let text = |flag: &str, text: &str| {
            of(&format!(
                r#"{{"content":[{{"type":"text","text":{}}}]{flag}}}"#,
                crate::raw::quoted(text)
            ))
        };
        for (flag, said) in [
            (r#","isError":true"#, "anything"),
            ("", "Unknown tool: echo"),
            (r#","isError":false"#, "Unknown tool: echo"),
            ("", "Error: Tool echo not found"),
            (r#","isError":false"#, "Error: Tool 'echo' not found"),
            ("", "No such tool"),
        ] {
            assert!(text(flag, said).is_error, "{flag} {said}");
        }
        for said in ["echo: file not found", "the echo was not found", "unknown"] {
            assert!(!text("", said).is_error, "{said}");
        }
        // The other forms are JSON-RPC errors, which never become a result.
    }
}
