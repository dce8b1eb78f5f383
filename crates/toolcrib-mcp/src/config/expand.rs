//! `${VAR}` at the moment of a start, and what must not be shown afterwards.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::redact::Redact;
use super::{ConfigError, ServerConfig, Transport};

/// A configuration with its variables put in, for one start.
pub(crate) struct Resolved {
    pub(crate) transport: ResolvedTransport,
    pub(crate) redact: Redact,
}

pub(crate) enum ResolvedTransport {
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        cwd: Option<PathBuf>,
    },
    Http {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

impl ServerConfig {
    /// Puts the environment's values in.
    ///
    /// # Errors
    /// [`ConfigError`] naming the key whose variable is not set.
    pub(crate) fn resolve(&self) -> Result<Resolved, ConfigError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let mut redact = Redact::default();
        let at = |key: &str, text: &str| -> Result<String, ConfigError> {
            self.expand(text)
                .map_err(|problem| self.error(key, problem))
        };
        let mut map = |key: &str, map: &BTreeMap<String, String>| {
            let mut out = BTreeMap::new();
            for (name, text) in map {
                let value = at(&format!("{key}.{name}"), text)?;
                redact.add(name, &value);
                out.insert(name.clone(), value);
            }
            Ok::<_, ConfigError>(out)
        };
        let mut own = BTreeMap::new();
        let transport = match &self.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                own = map("env", env)?;
                ResolvedTransport::Stdio {
                    env: own.clone(),
                    command: at("command", command)?,
                    // `mcp-remote` and its like name variables of their own entry.
                    args: args
                        .iter()
                        .map(|text| expand_with(text, |name| self.variable_or(name, &own)))
                        .collect::<Result<_, _>>()
                        .map_err(|problem| self.error("args", problem))?,
                    cwd: match cwd {
                        Some(cwd) => Some(at("cwd", &cwd.to_string_lossy())?.into()),
                        None => None,
                    },
                }
            }
            Transport::Http { url, headers } => ResolvedTransport::Http {
                headers: map("headers", headers)?,
                url: at("url", url)?,
            },
        };
        // What came from a variable is taken for a secret wherever it stands.
        let written: Vec<&String> = match &self.transport {
            Transport::Stdio { command, args, .. } => {
                std::iter::once(command).chain(args.iter()).collect()
            }
            Transport::Http { url, .. } => vec![url],
        };
        for text in written {
            let _ = expand_with(text, |name| {
                let value = self.variable_or(name, &own);
                if let Some(value) = value.as_ref().filter(|_| !is_ordinary(name)) {
                    redact.add(name, value);
                }
                value
            });
        }
        // Errors show an address without its parameters, which is another text than
        // the variable's value.
        if let (Transport::Http { url: written, .. }, ResolvedTransport::Http { url, .. }) =
            (&self.transport, &transport)
            && written != url
            && let Some((_, rest)) = super::shown_url(url).split_once("://")
            && let Some(at) = rest.find('/')
        {
            redact.add("", &rest[at..]);
        }
        Ok(Resolved { transport, redact })
    }

    /// The text with `${VAR}` and `${VAR:-default}` replaced.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        expand_with(text, |name| self.variable(name))
    }

    /// The value that is kept for a variable, or the environment's: one of the same
    /// name that is set for something else must not replace what was imported.
    fn variable(&self, name: &str) -> Option<String> {
        let kept = self.variables.get(name).cloned();
        kept.or_else(|| std::env::var(name).ok())
    }

    /// The same, or what the server's own environment will hold.
    fn variable_or(&self, name: &str, own: &BTreeMap<String, String>) -> Option<String> {
        self.variable(name).or_else(|| own.get(name).cloned())
    }
}

/// A text that stands for itself where variables are filled in: `${` becomes a
/// variable that is never set, with `$` in its place.
pub fn literal(text: &str) -> String {
    text.replace("${", "${TOOLCRIB_NEVER_SET:-$}{")
}

/// Variables that say where a person's files are and which language they speak. An
/// error without a path in it would help nobody.
fn is_ordinary(name: &str) -> bool {
    crate::stdio::BASE_ENV.contains(&name) || name == "PWD" || name.starts_with("LC_")
}

fn expand_with(
    text: &str,
    mut lookup: impl FnMut(&str) -> Option<String>,
) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let Some(end) = inner.find('}') else {
            return Err("a `${` is not closed".to_owned());
        };
        let (name, default) = match inner[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inner[..end], None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        let valid = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !valid {
            return Err(format!(
                "`${{{}}}` names no environment variable",
                &inner[..end]
            ));
        }
        match (lookup(name), default) {
            (Some(value), None) => out.push_str(&value),
            (Some(value), Some(_)) if !value.is_empty() => out.push_str(&value),
            (_, Some(default)) => out.push_str(default),
            (None, None) => {
                return Err(format!(
                    "the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
                ));
            }
        }
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "A" => Some("one".to_owned()),
            "E" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn values_kept_for_variables_fill_in_and_are_never_shown() {
        let args = ["--key=${CRIB_TEST_KEY}", "${HOME}/files"];
        let mut server = ServerConfig::stdio("s", "run", args);
        assert!(server.resolve().is_err());
        let before = server.fingerprint();
        let value = ("CRIB_TEST_KEY".to_owned(), "sesame-open".to_owned());
        server.variables = BTreeMap::from([value]);
        assert_ne!(server.fingerprint(), before);
        let resolved = server.resolve().unwrap();
        let ResolvedTransport::Stdio { args, .. } = &resolved.transport else {
            panic!("stdio");
        };
        assert_eq!(args[0], "--key=sesame-open");
        let said = format!("bad key sesame-open in {}", args[1]);
        let shown = resolved.redact.apply(&said);
        assert_eq!(shown, format!("bad key [redacted] in {}", args[1]));
        assert!(!format!("{server:?}").contains("sesame"), "{server:?}");
    }

    #[test]
    fn an_argument_may_name_a_variable_of_its_own_entry() {
        let args = ["X:${CRIB_TEST_OWN} ${CRIB_TEST_LATER}"];
        let mut server = ServerConfig::stdio("s", "run", args);
        let value = ("CRIB_TEST_LATER".to_owned(), "later-word".to_owned());
        server.variables = BTreeMap::from([value]);
        if let Transport::Stdio { env, .. } = &mut server.transport {
            env.insert("CRIB_TEST_OWN".to_owned(), "own-word".to_owned());
        }
        let resolved = server.resolve().unwrap();
        let ResolvedTransport::Stdio { args, .. } = &resolved.transport else {
            panic!("stdio");
        };
        assert_eq!(args[0], "X:own-word later-word");
        assert_eq!(resolved.redact.apply(&args[0]), "X:[redacted] [redacted]");
    }

    #[test]
    fn the_path_of_an_address_from_a_variable_is_not_shown() {
        let mut server = ServerConfig::http("s", "${CRIB_TEST_URL}");
        let url = "https://u:p@ss-word@h.example/sesame/mcp?key=1".to_owned();
        server.variables = BTreeMap::from([("CRIB_TEST_URL".to_owned(), url.clone())]);
        let resolved = server.resolve().unwrap();
        let shown = resolved.redact.apply(&super::super::shown_url(&url));
        assert_eq!(shown, "https://h.example[redacted]");
    }

    #[test]
    fn a_value_that_is_kept_wins_over_one_of_the_environment() {
        let mut server = ServerConfig::stdio("s", "run", ["${PATH}"]);
        let value = ("PATH".to_owned(), "kept-for-it".to_owned());
        server.variables = BTreeMap::from([value]);
        let resolved = server.resolve().unwrap();
        let ResolvedTransport::Stdio { args, .. } = &resolved.transport else {
            panic!("stdio");
        };
        assert_eq!(args[0], "kept-for-it");
    }

    #[test]
    fn variables_and_defaults() {
        for (text, want) in [
            ("${A}/x", "one/x"),
            ("${B:-two}${A}", "twoone"),
            ("${E}", ""),
            ("${E:-d}", "d"),
            ("${env:A}", "one"),
            ("$A $$ {A}", "$A $$ {A}"),
        ] {
            assert_eq!(expand_with(text, env).as_deref(), Ok(want), "{text}");
        }
        for text in ["${B}", "${A", "${}", "${a b}", "${1}"] {
            assert!(expand_with(text, env).is_err(), "{text}");
        }
    }
}
