//! The clients whose configurations are read: where each keeps them, in which shape.
//!
//! Paths and shapes follow each client's own documentation, named beside it. What a
//! client adds to its entries and this gateway does not need is left alone.

use std::path::{Path, PathBuf};

/// A client that can be given servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex, the command line and its editors' extensions.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    GeminiCli,
    /// opencode.
    Opencode,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
}

/// An operating system, as far as paths differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Os {
    /// Linux and other systems that follow the XDG rules.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// The one this program was built for.
    pub fn here() -> Os {
        if cfg!(target_os = "macos") {
            Os::MacOs
        } else if cfg!(windows) {
            Os::Windows
        } else {
            Os::Linux
        }
    }
}

/// Where a user's and a project's files are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Places {
    /// Which system's rules hold.
    pub os: Os,
    /// The user's own directory.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`, where set and absolute.
    pub xdg_config: Option<PathBuf>,
    /// `%APPDATA%`, on Windows.
    pub appdata: Option<PathBuf>,
    /// `$CODEX_HOME`, where set.
    pub codex_home: Option<PathBuf>,
    /// The project's root.
    pub project: PathBuf,
}

impl Places {
    /// This system's rules, the variables not set.
    pub fn new(home: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Places {
        Places {
            os: Os::here(),
            home: home.into(),
            xdg_config: None,
            appdata: None,
            codex_home: None,
            project: project.into(),
        }
    }

    fn config(&self) -> PathBuf {
        match &self.xdg_config {
            Some(dir) if self.os == Os::Linux => dir.clone(),
            _ => self.home.join(".config"),
        }
    }

    /// Where programs keep what Electron calls their user data.
    fn app_data(&self) -> PathBuf {
        match self.os {
            Os::MacOs => self.home.join("Library/Application Support"),
            Os::Windows => match &self.appdata {
                Some(dir) => dir.clone(),
                None => self.home.join("AppData").join("Roaming"),
            },
            Os::Linux => self.config(),
        }
    }
}

/// Whose servers a file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The user's, in every project.
    User,
    /// The project's, for everyone who works on it.
    Project,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, comments allowed.
    Json,
    Toml,
}

/// One place where a client looks for servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) client: Client,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    /// The keys that lead to the object of servers.
    pub(crate) keys: Vec<String>,
}

impl Client {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Client; 9] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Codex,
        Client::Cursor,
        Client::GeminiCli,
        Client::Opencode,
        Client::VsCode,
        Client::Windsurf,
        Client::Zed,
    ];

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Client::ClaudeCode => "Claude Code",
            Client::ClaudeDesktop => "Claude Desktop",
            Client::Codex => "Codex",
            Client::Cursor => "Cursor",
            Client::GeminiCli => "Gemini CLI",
            Client::Opencode => "opencode",
            Client::VsCode => "VS Code",
            Client::Windsurf => "Windsurf",
            Client::Zed => "Zed",
        }
    }

    /// As it is written on a command line.
    pub fn id(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Codex => "codex",
            Client::Cursor => "cursor",
            Client::GeminiCli => "gemini",
            Client::Opencode => "opencode",
            Client::VsCode => "vscode",
            Client::Windsurf => "windsurf",
            Client::Zed => "zed",
        }
    }

    /// The client's own page about this configuration.
    pub fn documentation(self) -> &'static str {
        match self {
            Client::ClaudeCode => "https://code.claude.com/docs/en/mcp",
            Client::ClaudeDesktop => {
                "https://modelcontextprotocol.io/docs/develop/connect-local-servers"
            }
            Client::Codex => "https://developers.openai.com/codex/mcp",
            Client::Cursor => "https://cursor.com/docs/mcp",
            Client::GeminiCli => "https://geminicli.com/docs/tools/mcp-server",
            Client::Opencode => "https://opencode.ai/docs/mcp-servers",
            Client::VsCode => {
                "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration"
            }
            Client::Windsurf => "https://docs.windsurf.com/windsurf/cascade/mcp",
            Client::Zed => "https://zed.dev/docs/ai/mcp",
        }
    }

    /// The files in which it looks, the user's first, whether they exist or not.
    pub fn paths(self, places: &Places) -> Vec<PathBuf> {
        let sources = self.sources(places).into_iter();
        sources.map(|source| source.path).collect()
    }

    /// Where it looks, the user's places first. Of alternatives for one place all are
    /// named.
    pub(crate) fn sources(self, places: &Places) -> Vec<Source> {
        use Scope::{Project, User};
        let home = &places.home;
        let project = &places.project;
        let json = |scope, path: PathBuf, keys: &[&str]| Source {
            client: self,
            scope,
            path,
            format: Format::Json,
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        };
        let servers: &[&str] = &["mcpServers"];
        match self {
            Client::ClaudeCode => {
                let own = home.join(".claude.json");
                let here = project.to_string_lossy();
                vec![
                    json(User, own.clone(), servers),
                    json(User, own, &["projects", &here, "mcpServers"]),
                    json(Project, project.join(".mcp.json"), servers),
                ]
            }
            Client::ClaudeDesktop => vec![json(
                User,
                places
                    .app_data()
                    .join("Claude")
                    .join("claude_desktop_config.json"),
                servers,
            )],
            Client::Codex => {
                let dir = places.codex_home.clone();
                let toml = |scope, path| Source {
                    format: Format::Toml,
                    ..json(scope, path, &["mcp_servers"])
                };
                vec![
                    toml(
                        User,
                        dir.unwrap_or_else(|| home.join(".codex"))
                            .join("config.toml"),
                    ),
                    toml(Project, project.join(".codex").join("config.toml")),
                ]
            }
            Client::Cursor => vec![
                json(User, home.join(".cursor").join("mcp.json"), servers),
                json(Project, project.join(".cursor").join("mcp.json"), servers),
            ],
            Client::GeminiCli => vec![
                json(User, home.join(".gemini").join("settings.json"), servers),
                json(
                    Project,
                    project.join(".gemini").join("settings.json"),
                    servers,
                ),
            ],
            Client::Opencode => {
                let user = places.home.join(".config").join("opencode");
                let user = match &places.xdg_config {
                    Some(dir) => dir.join("opencode"),
                    None => user,
                };
                let both = |scope, dir: &Path| {
                    ["opencode.json", "opencode.jsonc"]
                        .map(|name| json(scope, dir.join(name), &["mcp"]))
                };
                let mut all = Vec::from(both(User, &user));
                all.extend(both(Project, project));
                all.extend(both(Project, &project.join(".opencode")));
                all
            }
            Client::VsCode => {
                let user = places.app_data().join("Code").join("User");
                let mut all = Vec::new();
                for (scope, dir) in [(User, user), (Project, project.join(".vscode"))] {
                    all.push(json(scope, dir.join("mcp.json"), &["servers"]));
                    // Where they were before they had a file of their own; a key of
                    // its settings may stand for its parts.
                    let settings = dir.join("settings.json");
                    all.push(json(scope, settings.clone(), &["mcp", "servers"]));
                    all.push(json(scope, settings, &["mcp.servers"]));
                }
                all
            }
            Client::Windsurf => vec![json(
                User,
                home.join(".codeium")
                    .join("windsurf")
                    .join("mcp_config.json"),
                servers,
            )],
            Client::Zed => {
                let dir = match places.os {
                    Os::Windows => places.app_data().join("Zed"),
                    Os::MacOs => home.join(".config").join("zed"),
                    Os::Linux => places.config().join("zed"),
                };
                vec![
                    json(User, dir.join("settings.json"), &["context_servers"]),
                    json(
                        Project,
                        project.join(".zed").join("settings.json"),
                        &["context_servers"],
                    ),
                ]
            }
        }
    }
}
