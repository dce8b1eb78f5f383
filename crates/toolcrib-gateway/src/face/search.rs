//! `tool_search` for clients: the surface's own search, with what a person would want
//! to know of each find before it is called, and which servers are missing.

use std::sync::Arc;

use serde_json::value::RawValue;
use toolcrib_core::{Arguments, LoadRoute, Tool as _, ToolContext};
use toolcrib_surface::{SurfaceState, ToolSearch};

use super::call::refusal;
use super::{Answer, Cx};
use crate::catalog::Catalog;
use crate::client::lock;
use crate::gateway::{Gateway, Mode};
use crate::wire;

/// Servers out of reach that one answer names, and the bytes of each reason.
const OUT_OF_REACH: usize = 4;
const REASON: usize = 120;

impl Gateway {
    pub(crate) async fn search_tools(
        self: &Arc<Self>,
        cx: &Cx,
        arguments: Option<&RawValue>,
    ) -> Answer {
        // A client of the newest revision may begin with a search.
        cx.backend.learn(&self.options);
        let text = arguments.map_or("{}", RawValue::get);
        // As with any call: a text that holds the object is taken for it.
        let unwrapped = serde_json::from_str::<String>(text).ok();
        let text = unwrapped.as_deref().unwrap_or(text);
        let arguments = match Arguments::parse(text) {
            Ok(arguments) => arguments,
            Err(error) => return Ok(Some(refusal(&error.model))),
        };
        let catalog = cx.backend.catalog(&self.options);
        let route = match self.options.mode {
            Mode::ListChanged => LoadRoute::Append,
            _ => LoadRoute::Bridge,
        };
        let loaded = lock(&cx.client.loaded).clone();
        let state = SurfaceState::restored(loaded);
        let shelf = cx.client.shelf.clone();
        shelf.show(catalog.inventory(route), &state);
        let search = ToolSearch::new(shelf);
        let context = ToolContext::detached(cx.id.as_str());
        let output = match search.call(&arguments, &context).await {
            Ok(output) => output,
            Err(error) => return Ok(Some(refusal(&error.model))),
        };
        let text: Vec<&str> = output
            .content
            .iter()
            .filter_map(|content| match content {
                toolcrib_core::Content::Text(text) => Some(&**text),
                _ => None,
            })
            .collect();
        let mut text = remarked(&catalog, &text.join("\n"));
        if !text.contains("\n- ") {
            text.push_str(&self.out_of_reach(cx));
        }
        if route == LoadRoute::Append && !output.activate.is_empty() {
            {
                let mut loaded = lock(&cx.client.loaded);
                for name in output.activate {
                    if !loaded.contains(&name) {
                        loaded.push(name);
                    }
                }
            }
            self.tell_tools(cx, &catalog);
        }
        let flag = if output.is_error {
            r#","isError":true"#
        } else {
            ""
        };
        Ok(Some(wire::raw(format!(
            r#"{{"content":[{{"type":"text","text":{}}}]{flag}}}"#,
            wire::quoted(&text)
        ))))
    }

    /// Which servers cannot be searched, and why.
    fn out_of_reach(&self, cx: &Cx) -> String {
        let trouble: Vec<String> = self
            .trouble(&cx.backend)
            .into_iter()
            .map(|(name, why)| {
                let why: String = why
                    .lines()
                    .next()
                    .unwrap_or("")
                    .chars()
                    .take(REASON)
                    .collect();
                format!("{name} ({why})")
            })
            .collect();
        if trouble.is_empty() {
            return String::new();
        }
        let more = trouble.len().saturating_sub(OUT_OF_REACH);
        let shown = trouble[..trouble.len() - more].join("; ");
        let more = match more {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        format!("\nNot searched, since not available now: {shown}{more}.")
    }
}

/// The answer with each find's effect behind it.
fn remarked(catalog: &Catalog, text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 256);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&visible(line));
        let name = line
            .strip_prefix("- ")
            .and_then(|rest| rest.split('(').next());
        if let Some(offered) = name.and_then(|name| catalog.find(name)) {
            out.push_str(&format!(" [{}]", offered.remark()));
        }
    }
    out
}

/// A line of strangers' texts with what cannot be seen written out: it may be meant for
/// models alone.
fn visible(line: &str) -> std::borrow::Cow<'_, str> {
    let hidden = |c: char| {
        matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}')
            || c.is_control() && c != '\t'
    };
    if !line.contains(hidden) {
        return line.into();
    }
    let mut out = String::with_capacity(line.len() + 16);
    for c in line.chars() {
        match hidden(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn m24_what_cannot_be_seen_is_written_out() {
        assert_eq!(
            visible("a\u{200b}b\u{e0041}\u{1b}c"),
            "a\\u{200b}b\\u{e0041}\\u{1b}c"
        );
        assert_eq!(visible("é 日\t"), "é 日\t");
    }
}
