//! From the text of a configuration to what the gateway is made of.
//!
//! Server entries are read by `toolcrib-mcp`, so that every command understands them
//! alike; here are the keys that only a gateway has, and variables that the
//! environment does not hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcrib_mcp::{ConfigError, ServerConfig, Transport, entries_from_toml, literal};

use crate::gateway::Options;
use crate::import::carried_variables;
use crate::settings::{McpSettings, PolicySettings, is_name};

/// The variable that holds the directory the gateway works in.
const ROOT: &str = "TOOLCRIB_ROOT";

/// What one configuration or several say.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// Servers, in name order.
    pub servers: Vec<ServerConfig>,
    /// Rules for calls.
    pub policy: PolicySettings,
    /// By server: the only tools to offer, and those not to offer.
    pub filters: BTreeMap<String, (Vec<String>, Vec<String>)>,
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A server's entry.
    #[error(transparent)]
    Server(#[from] ConfigError),
    /// Another key of the table.
    #[error("{}: `mcp`: {why}", file.display())]
    Table {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl Loaded {
    /// Reads the `[mcp]` table of a configuration. `root` is the directory that the
    /// gateway works in, for `${TOOLCRIB_ROOT}`.
    ///
    /// # Errors
    /// [`LoadError`] names the file and the key.
    pub fn from_toml(text: &str, file: &Path, root: &Path) -> Result<Loaded, LoadError> {
        let servers = entries_from_toml(text, file)?;
        let wrong = |why: String| LoadError::Table {
            file: file.to_owned(),
            why,
        };
        let (settings, mut bad) = McpSettings::each_from_toml(text).map_err(wrong)?;
        let mut variables = BTreeMap::new();
        for path in settings.variables_from.iter().rev() {
            variables.extend(carried_variables(&root.join(path)));
        }
        let here = BTreeMap::from([(ROOT.to_owned(), root.to_string_lossy().into_owned())]);
        let mut loaded = Loaded {
            policy: settings.policy.clone(),
            ..Loaded::default()
        };
        for mut server in servers {
            if let Some(problem) = bad.remove(&*server.name) {
                server.broken.get_or_insert_with(|| ConfigError {
                    file: Some(file.to_owned()),
                    key: format!("mcp.servers.{}", server.name),
                    problem,
                });
            }
            let own = settings.servers.get(&*server.name);
            if let Some(own) = own {
                let filter = (own.enabled_tools.clone(), own.disabled_tools.clone());
                loaded.filters.insert(server.name.to_string(), filter);
            }
            let path = own.and_then(|own| own.env_file.as_deref());
            if let Some(path) = path.map(|path| known(path, &here))
                && let Transport::Stdio { env, .. } = &mut server.transport
            {
                let path = root.join(whole(&path));
                match std::fs::read_to_string(&path) {
                    Ok(text) => {
                        for (name, value) in assignments(&text) {
                            env.entry(name).or_insert_with(|| literal(&value));
                        }
                    }
                    // It is this server that lacks it, and no other.
                    Err(error) => {
                        server.broken.get_or_insert_with(|| ConfigError {
                            file: Some(file.to_owned()),
                            key: format!("mcp.servers.{}.env_file", server.name),
                            problem: format!("cannot read {}: {error}", path.display()),
                        });
                    }
                }
            }
            server.transport.change_texts(|text| known(text, &here));
            server.variables.clone_from(&variables);
            loaded.servers.push(server);
        }
        Ok(loaded)
    }

    /// This with these values for variables that its own files do not hold.
    #[must_use]
    pub fn filled(mut self, variables: &BTreeMap<String, String>) -> Loaded {
        for server in &mut self.servers {
            for (name, value) in variables {
                let kept = server.variables.entry(name.clone());
                kept.or_insert_with(|| value.clone());
            }
        }
        self
    }

    /// This with what `over` says instead, server by server.
    #[must_use]
    pub fn overlaid(mut self, over: Loaded) -> Loaded {
        self.servers.retain(|server| {
            let replaced = over.servers.iter().any(|new| new.name == server.name);
            !replaced
        });
        self.servers.extend(over.servers);
        self.servers.sort_by(|a, b| a.name.cmp(&b.name));
        self.filters.extend(over.filters);
        self.policy.allow.extend(over.policy.allow);
        self.policy.ask.extend(over.policy.ask);
        self.policy.deny.extend(over.policy.deny);
        self
    }

    /// Options of a gateway before these servers.
    pub fn options(self) -> Options {
        let mut options = Options::new(self.servers).policy(&self.policy);
        for (server, (enabled, disabled)) in self.filters {
            options = options.filter(server, enabled, disabled);
        }
        options
    }
}

/// The text with variables filled in that are known here and not in the environment;
/// those are left to the moment of the start, and so are unknown ones.
fn known(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, behind) = rest.split_at(at);
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str(&literal("${"));
            rest = &behind[2..];
            continue;
        }
        out.push_str(before);
        let Some(end) = behind.find('}') else {
            out.push_str(behind);
            return out;
        };
        let whole = &behind[..=end];
        let name = behind[2..end].split(":-").next().unwrap_or("");
        let set = std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match variables.get(name).filter(|_| is_name(name) && !set) {
            Some(value) => out.push_str(&literal(value)),
            None => out.push_str(whole),
        }
        rest = &behind[end + 1..];
    }
    out.push_str(rest);
    out
}

/// A path with the environment's variables filled in as far as they are set.
fn whole(path: &str) -> String {
    let look_up = |name: &str| std::env::var(name).ok();
    crate::settings::fill(path, &look_up).unwrap_or_else(|_| path.to_owned())
}

/// The `NAME=value` lines of a file; comments, `export` and quotes are known.
fn assignments(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let (name, value) = line.split_once('=')?;
            let value = value.trim();
            let quoted = ['"', '\'']
                .iter()
                .find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q));
            let name = name.trim();
            is_name(name).then(|| (name.to_owned(), quoted.unwrap_or(value).to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_clients_fill_in_what_the_environment_lacks() {
        let variables = BTreeMap::from([
            ("CRIB_TEST_A".to_owned(), "a${x}".to_owned()),
            ("PATH".to_owned(), "not this".to_owned()),
        ]);
        assert_eq!(
            known("x${CRIB_TEST_A}y${PATH}z${CRIB_TEST_B:-b}$${Q}", &variables),
            "xa${TOOLCRIB_NEVER_SET:-$}{x}y${PATH}z${CRIB_TEST_B:-b}${TOOLCRIB_NEVER_SET:-$}{Q}"
        );
    }

    #[test]
    fn a_configuration_becomes_servers_rules_and_filters() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(
            dir.path().join(".env"),
            "# keys\nexport KEY=\"s p\"\nOTHER='x'\nBAD LINE\n",
        )
        .unwrap();
        let client = dir.path().join("mcp.json");
        std::fs::write(
            &client,
            r#"{"mcpServers":{"toolcrib":{"command":"/x/toolcrib","args":["serve"],"env":{"CRIB_TEST_T":"tok"}}}}"#,
        )
        .unwrap();
        let text = format!(
            r#"
[mcp]
variables_from = ['{}']
[mcp.policy]
deny = ["destructive"]
[mcp.servers.a]
command = "${{TOOLCRIB_ROOT}}/run"
args = ["--token=${{CRIB_TEST_T}}"]
env_file = ".env"
env = {{ OTHER = "mine" }}
enabled_tools = ["x"]
"#,
            client.display()
        );
        let file = Path::new("toolcrib.toml");
        let loaded = Loaded::from_toml(&text, file, dir.path()).unwrap();
        let Transport::Stdio {
            command, args, env, ..
        } = &loaded.servers[0].transport
        else {
            panic!("stdio");
        };
        assert_eq!(*command, format!("{}/run", dir.path().display()));
        // Left as written: what is put in at the start alone is not shown anywhere.
        assert_eq!(args[0], "--token=${CRIB_TEST_T}");
        assert_eq!(loaded.servers[0].variables["CRIB_TEST_T"], "tok");
        assert_eq!(env["KEY"], "s p");
        assert_eq!(env["OTHER"], "mine");
        assert_eq!(loaded.filters["a"].0, ["x"]);
        assert_eq!(loaded.policy.deny, ["destructive"]);
        let missing = text.replace(".env\"", ".nope\"");
        let missing = format!("{missing}[mcp.servers.b]\ncommand = \"b\"\n");
        let loaded = Loaded::from_toml(&missing, file, dir.path()).unwrap();
        let broken = loaded.servers[0].broken.as_ref().unwrap().to_string();
        assert!(broken.contains("mcp.servers.a.env_file"), "{broken}");
        assert!(loaded.servers[1].broken.is_none());
    }
}
