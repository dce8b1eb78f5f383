//! The `[mcp]` table of a configuration: servers, policy, and how they are served.
//!
//! Texts may name variables as `${NAME}` or `${NAME:-otherwise}`; they are read when
//! the gateway starts and never written anywhere. `$${` stands for `${` itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a configuration says about MCP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct McpSettings {
    /// Files of clients, written by `toolcrib import`, in whose gateway entry
    /// variables are looked up, before the environment; relative ones from the root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables_from: Vec<String>,
    /// By the name that prefixes their tools.
    pub servers: BTreeMap<String, ServerSettings>,
    /// What calls may do.
    #[serde(skip_serializing_if = "PolicySettings::is_empty")]
    pub policy: PolicySettings,
}

/// One server: a `command` that speaks MCP on its standard streams, or a `url`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ServerSettings {
    /// The program to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Its environment, besides the few variables that every program needs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// A file of `NAME=value` lines for its environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_file: Option<String>,
    /// Where it starts; by default where the gateway does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The address of a server over streamable HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of every request to it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Longest start, such as `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_timeout: Option<String>,
    /// Longest silence of a call, such as `60s`; progress begins it anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<String>,
    /// When not empty, only these of its tools, by their own names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enabled_tools: Vec<String>,
    /// None of these of its tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
    /// Whether it is left out altogether.
    #[serde(skip_serializing_if = "is_false")]
    pub disabled: bool,
    /// Keys that only the client side of servers reads, such as `oauth`.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// Which calls run, by tool. A tool is meant by its name (`github__merge_pull_request`),
/// by a pattern with `*` and `?`, by `source:SERVER`, or by `read-only`, `write` and
/// `destructive`. Of several that fit, deny wins over ask and ask over allow, except
/// that an exact name wins over everything that is not one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PolicySettings {
    /// Run unasked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Run after the person behind the client has said yes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Never run, and are shown nowhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl McpSettings {
    /// The `[mcp]` table of a configuration; nothing where there is none.
    pub(crate) fn from_toml(text: &str) -> Result<McpSettings, String> {
        let document: toml_edit::DocumentMut = text
            .parse()
            .map_err(|error: toml_edit::TomlError| error.message().replace('\n', " "))?;
        match document.get("mcp") {
            Some(item) => serde_json::from_value(crate::import::toml_value(item))
                .map_err(|error| error.to_string()),
            None => Ok(McpSettings::default()),
        }
    }

    /// The same with the entries of servers that cannot be read left out, and what is
    /// wrong with each of them by its name.
    pub(crate) fn each_from_toml(
        text: &str,
    ) -> Result<(McpSettings, BTreeMap<String, String>), String> {
        let document: toml_edit::DocumentMut = text
            .parse()
            .map_err(|error: toml_edit::TomlError| error.message().replace('\n', " "))?;
        let mut bad = BTreeMap::new();
        let Some(item) = document.get("mcp") else {
            return Ok((McpSettings::default(), bad));
        };
        let mut value = crate::import::toml_value(item);
        if let Some(servers) = value.get_mut("servers").and_then(|s| s.as_object_mut()) {
            servers.retain(|name, entry| {
                let read = serde_json::from_value::<ServerSettings>(entry.clone());
                if let Err(error) = &read {
                    bad.insert(name.clone(), error.to_string());
                }
                read.is_ok()
            });
        }
        let settings = serde_json::from_value(value).map_err(|error| error.to_string())?;
        Ok((settings, bad))
    }
}

impl PolicySettings {
    pub(crate) fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.ask.is_empty() && self.deny.is_empty()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !value
}

/// A text whose variables cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// A variable has no value and the text gives none.
    #[error("the variable {0} is not set")]
    Unset(String),
    /// `${` without an end or with something else than a name.
    #[error(
        "`${{` is not followed by a variable's name and `}}`; write `$${{` for the two characters"
    )]
    Malformed,
}

/// The text with its variables filled in by `look_up`.
///
/// # Errors
/// [`FillError`] names the variable, never a value.
pub fn fill(text: &str, look_up: &dyn Fn(&str) -> Option<String>) -> Result<String, FillError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            out.push_str(&rest[..at - 1]);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let Some(end) = inside.find('}') else {
            return Err(FillError::Malformed);
        };
        let (name, otherwise) = match inside[..end].split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (&inside[..end], None),
        };
        if !is_name(name) {
            return Err(FillError::Malformed);
        }
        let value = look_up(name).filter(|value| !value.is_empty() || otherwise.is_none());
        match (value, otherwise) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(otherwise)) => out.push_str(otherwise),
            (None, None) => return Err(FillError::Unset(name.to_owned())),
        }
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Whether a variable may be called so.
pub(crate) fn is_name(name: &str) -> bool {
    let head = name.bytes().next();
    head.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, FillError> {
        fill(text, &|name| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn variables_are_filled_in_and_what_is_missing_is_named() {
        assert_eq!(filled("x${A}y${A}").unwrap(), "x1y1");
        assert_eq!(filled("${B:-b}${EMPTY:-e}${EMPTY}").unwrap(), "be");
        assert_eq!(filled("$${A} $A 5$").unwrap(), "${A} $A 5$");
        assert_eq!(filled("a${B}"), Err(FillError::Unset("B".to_owned())));
        for bad in ["${", "${A", "${}", "${a b}"] {
            assert!(filled(bad) == Err(FillError::Malformed), "{bad}");
        }
    }
}
