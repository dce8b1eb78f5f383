//! What the gateway says of itself, with what its servers say of themselves.

use serde_json::value::RawValue;

use crate::backend::Backend;
use crate::gateway::{Gateway, Mode};
use crate::wire;

/// Most bytes of instructions beside a searched surface, which is kept small, and
/// beside a list of everything.
const SMALL: usize = 1_600;
const LARGE: usize = 12_000;
/// Most bytes of one server's instructions beside a searched surface.
const ONE: usize = 400;

/// Begins the addresses of what the gateway itself can be read for.
pub(crate) const OWN: &str = "toolcrib://";

const SEARCHED: &str = "Tools of several servers stand behind tool_search: describe what is needed, then run what it finds. \
A tool's name begins with its server's.";

/// What a client is told at the handshake.
pub(crate) struct About {
    pub(crate) capabilities: Box<RawValue>,
    pub(crate) info: Box<RawValue>,
    pub(crate) instructions: Option<String>,
}

impl About {
    pub(crate) fn instructions_member(&self) -> String {
        match &self.instructions {
            Some(text) => format!(r#","instructions":{}"#, wire::quoted(text)),
            None => String::new(),
        }
    }
}

impl Gateway {
    pub(crate) fn about(&self, backend: &Backend) -> About {
        if let Some(server) = self.only_server()
            && let Some(manifest) = backend.manifest(&server.name)
        {
            let or_empty = |raw: &RawValue, otherwise: Box<RawValue>| match raw.get() {
                "null" => otherwise,
                _ => raw.to_owned(),
            };
            return About {
                capabilities: or_empty(&manifest.capabilities, wire::raw("{}".to_owned())),
                info: or_empty(&manifest.server_info, info()),
                instructions: manifest.instructions.clone(),
            };
        }
        let capabilities = r#"{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"logging":{},"completions":{}}"#;
        About {
            capabilities: wire::raw(capabilities.to_owned()),
            info: info(),
            instructions: self.instructions(backend),
        }
    }

    fn instructions(&self, backend: &Backend) -> Option<String> {
        let catalog = backend.catalog(&self.options);
        let searched = matches!(self.options.mode, Mode::Search | Mode::ListChanged);
        let mut text = String::new();
        let (most, one) = match searched {
            true => (SMALL, ONE),
            false => (LARGE, LARGE),
        };
        if searched {
            text.push_str(SEARCHED);
        }
        let mut left = Vec::new();
        for (server, instructions) in &catalog.instructions {
            let instructions = instructions.trim();
            let shown = cut(instructions, one);
            let whole = shown.len() == instructions.len();
            let entry = format!(
                "\n\n<{server}>\n{shown}{}\n</{server}>",
                if whole { "" } else { " …" }
            );
            if text.len() + entry.len() > most {
                left.push(&**server);
                continue;
            }
            text.push_str(&entry);
            if !whole {
                left.push(server);
            }
        }
        if !left.is_empty() {
            text.push_str(&format!(
                "\n\nWhole instructions of each server are the resource {OWN}instructions/NAME."
            ));
        }
        let text = text.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

fn info() -> Box<RawValue> {
    let version = env!("CARGO_PKG_VERSION");
    wire::raw(format!(r#"{{"name":"toolcrib","version":"{version}"}}"#))
}

/// At most `most` bytes, cut behind a sentence or a line where there is one.
fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let at = head.rfind(['\n']).max(head.rfind(". ").map(|at| at + 1));
    head[..at.filter(|at| *at > most / 2).unwrap_or(end)].trim_end()
}
