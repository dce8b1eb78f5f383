//! Configuration: defaults, then the user's file, then the repository's.
//!
//! A repository is not trusted by being entered. Its file may narrow what is
//! read and spent at once; a model it names counts only after `toolcrib trust`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::{Table, Value};

use crate::exit::CliError;

/// What configuration files may say. Flags win over all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    pub(crate) model: Option<String>,
    pub(crate) rounds: Option<u32>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) max_cost: Option<f64>,
    pub(crate) max_time: Option<Duration>,
    /// Where spans go, without the path of a signal. Of the user's own file alone.
    pub(crate) otlp_endpoint: Option<String>,
    /// Directories that are not part of the repository's source, such as output.
    pub(crate) exclude: Vec<String>,
    /// Directory of a sentence encoder for the tool search, made absolute.
    pub(crate) encoder: Option<PathBuf>,
}

const KEYS: [&str; 9] = [
    "model",
    "encoder",
    "rounds",
    "max_tokens",
    "max_cost",
    "max_time",
    "otlp_endpoint",
    "exclude",
    "mcp",
];

/// Largest configuration file in bytes.
const MAX_FILE: u64 = 256 * 1024;

/// Reads a regular file of a sane size: the name may lead to a device or a pipe,
/// which would never end.
pub(crate) fn read_small(path: &Path) -> std::io::Result<Vec<u8>> {
    read_up_to(path, MAX_FILE)
}

/// The same for files that others write too, and write more into.
pub(crate) fn read_up_to(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    use std::io::Error;
    let meta = std::fs::metadata(path)?;
    if !meta.is_file() {
        return Err(Error::other("it is not a regular file"));
    }
    if meta.len() > most {
        return Err(Error::other(format!("it is larger than {most} bytes")));
    }
    std::fs::read(path)
}

/// File name looked for at the repository's root.
pub(crate) const REPOSITORY_FILE: &str = "toolcrib.toml";

impl Config {
    /// Reads one file; an absent one is the default.
    pub(crate) fn read(path: &Path) -> Result<Config, CliError> {
        match read_small(path) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes)
                    .map_err(|_| CliError::usage(format!("{} is not UTF-8", path.display())))?;
                Config::parse(&text, path)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Config::default()),
            Err(error) => Err(CliError::usage(format!(
                "cannot read {}: {error}",
                path.display()
            ))),
        }
    }

    /// Reads configuration text; `path` is for messages alone.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Config, CliError> {
        let place = path.display();
        let table: Table = text
            .parse()
            .map_err(|e: toml::de::Error| CliError::usage(format!("{place}: {}", one_line(&e))))?;
        let mut config = Config::default();
        for (key, value) in table {
            let wrong = |wanted: &str| {
                CliError::usage(format!("{place}: `{key}` must be {wanted}, not {value}"))
            };
            match key.as_str() {
                "model" => {
                    config.model = Some(value.as_str().ok_or_else(|| wrong("a text"))?.to_owned());
                }
                "rounds" => {
                    let rounds = value.as_integer().and_then(|n| u32::try_from(n).ok());
                    config.rounds = Some(
                        rounds
                            .filter(|n| *n > 0)
                            .ok_or_else(|| wrong("a whole number above 0"))?,
                    );
                }
                "max_tokens" => {
                    let tokens = value.as_integer().and_then(|n| u64::try_from(n).ok());
                    config.max_tokens = Some(
                        tokens
                            .filter(|n| *n > 0)
                            .ok_or_else(|| wrong("a whole number above 0"))?,
                    );
                }
                "max_cost" => {
                    #[allow(clippy::cast_precision_loss)]
                    let usd = value
                        .as_float()
                        .or_else(|| value.as_integer().map(|n| n as f64));
                    config.max_cost = Some(
                        usd.filter(|n| *n > 0.0)
                            .ok_or_else(|| wrong("an amount above 0"))?,
                    );
                }
                "max_time" => {
                    let time = value
                        .as_str()
                        .and_then(|text| crate::args::duration(text).ok());
                    config.max_time = Some(time.ok_or_else(|| wrong("a time such as \"5m\""))?);
                }
                "otlp_endpoint" => {
                    let text = value.as_str().map(str::trim);
                    let http =
                        |text: &&str| text.starts_with("http://") || text.starts_with("https://");
                    let text = text.filter(http);
                    let wanted = "an address such as \"http://127.0.0.1:4318\"";
                    config.otlp_endpoint = Some(text.ok_or_else(|| wrong(wanted))?.to_owned());
                }
                "exclude" => {
                    let list = value.as_array().and_then(|items| strings(items));
                    let list = list.ok_or_else(|| wrong("a list of directories and files"))?;
                    if let Some(glob) = list.iter().find(|text| text.contains(['*', '?', '['])) {
                        return Err(CliError::usage(format!(
                            "{place}: `exclude` takes directories and files, not patterns such as {glob:?}; use .gitignore for those"
                        )));
                    }
                    config.exclude = list;
                }
                "encoder" => {
                    let named = value.as_str().ok_or_else(|| wrong("a directory"))?;
                    let around = path.parent().unwrap_or(Path::new(""));
                    config.encoder = Some(match named {
                        "" => PathBuf::new(),
                        named => around.join(named),
                    });
                }
                // Who starts servers reads them; here they are only held to be right.
                "mcp" => {
                    value.as_table().ok_or_else(|| wrong("a table"))?;
                    toolcrib_mcp::entries_from_toml(text, path).map_err(CliError::usage)?;
                }
                unknown => {
                    let nearest = nearest(unknown);
                    return Err(CliError::usage(format!(
                        "{place}: unknown key `{unknown}`; did you mean `{nearest}`?"
                    )));
                }
            }
        }
        Ok(config)
    }

    /// This configuration with `over`'s values where it has them.
    pub(crate) fn overlaid(mut self, over: Config) -> Config {
        self.model = over.model.or(self.model);
        self.rounds = over.rounds.or(self.rounds);
        self.max_tokens = over.max_tokens.or(self.max_tokens);
        self.max_cost = over.max_cost.or(self.max_cost);
        self.max_time = over.max_time.or(self.max_time);
        self.encoder = over.encoder.or(self.encoder);
        self.otlp_endpoint = over.otlp_endpoint.or(self.otlp_endpoint);
        self.exclude.extend(over.exclude);
        self
    }
}

fn strings(items: &[Value]) -> Option<Vec<String>> {
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn one_line(error: &toml::de::Error) -> String {
    error.message().replace('\n', " ")
}

fn nearest(word: &str) -> &'static str {
    KEYS.into_iter()
        .min_by_key(|key| strsim::levenshtein(key, word))
        .unwrap_or(KEYS[0])
}

/// Where this user's files live, by the XDG rules.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// `config.toml` of the user.
    pub(crate) user_config: Option<PathBuf>,
    /// Sessions and trust.
    pub(crate) state: Option<PathBuf>,
    /// What can be made anew: manifests of MCP servers, vectors of tools.
    pub(crate) cache: Option<PathBuf>,
}

impl Places {
    /// Reads the environment.
    pub(crate) fn detect() -> Places {
        Places::from_env(|name| std::env::var_os(name).map(PathBuf::from))
    }

    fn from_env(env: impl Fn(&str) -> Option<PathBuf>) -> Places {
        // The XDG rules say that a relative path is to be ignored.
        let dir = |variable: &str, fallback: &str| {
            env(variable)
                .filter(|path| path.is_absolute())
                .or_else(|| Some(env("HOME").filter(|h| h.is_absolute())?.join(fallback)))
        };
        Places {
            user_config: dir("XDG_CONFIG_HOME", ".config").map(|d| d.join("toolcrib/config.toml")),
            state: dir("XDG_STATE_HOME", ".local/state").map(|d| d.join("toolcrib")),
            cache: dir("XDG_CACHE_HOME", ".cache").map(|d| d.join("toolcrib")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Config::parse(text, Path::new("toolcrib.toml"))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn each_mistake_names_file_and_key() {
        insta::assert_snapshot!(error("rouns = 3"), @"toolcrib.toml: unknown key `rouns`; did you mean `rounds`?");
        insta::assert_snapshot!(error("rounds = 0"), @"toolcrib.toml: `rounds` must be a whole number above 0, not 0");
        insta::assert_snapshot!(error("rounds = \"3\""), @r#"toolcrib.toml: `rounds` must be a whole number above 0, not "3""#);
        insta::assert_snapshot!(error("otlp_endpoint = 'here'"), @r#"toolcrib.toml: `otlp_endpoint` must be an address such as "http://127.0.0.1:4318", not "here""#);
        insta::assert_snapshot!(error("max_time = \"soon\""), @r#"toolcrib.toml: `max_time` must be a time such as "5m", not "soon""#);
        assert!(error("rounds = ").starts_with("toolcrib.toml: "));
    }

    #[test]
    fn the_later_file_wins_key_by_key() {
        let parse = |text| Config::parse(text, Path::new("x")).unwrap();
        let merged = parse("model = 'a'\nrounds = 3\nexclude = ['x']")
            .overlaid(parse("rounds = 5\nmax_cost = 1\nexclude = ['y']"));
        assert_eq!(merged.model.as_deref(), Some("a"));
        assert_eq!((merged.rounds, merged.max_cost), (Some(5), Some(1.0)));
        assert_eq!(merged.exclude, ["x", "y"]);
    }

    #[test]
    fn an_encoder_lies_beside_the_file_that_names_it() {
        let parse = |text| Config::parse(text, Path::new("/c/config.toml")).unwrap();
        let encoder = |text| parse(text).encoder;
        assert_eq!(encoder("encoder = 'models/x'"), Some("/c/models/x".into()));
        assert_eq!(encoder("encoder = '/y'"), Some("/y".into()));
        assert_eq!(encoder("encoder = ''"), Some(PathBuf::new()));
        insta::assert_snapshot!(error("encoder = 3"), @"toolcrib.toml: `encoder` must be a directory, not 3");
    }

    #[test]
    fn relative_xdg_directories_are_ignored() {
        let places = Places::from_env(|name| match name {
            "XDG_STATE_HOME" => Some("rel".into()),
            "HOME" => Some("/home/u".into()),
            _ => None,
        });
        assert_eq!(places.state, Some("/home/u/.local/state/toolcrib".into()));
        assert_eq!(
            places.user_config,
            Some("/home/u/.config/toolcrib/config.toml".into())
        );
    }
}
