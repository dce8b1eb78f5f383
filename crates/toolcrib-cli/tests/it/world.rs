//! A scratch repository, a scratch home, and the real binary between them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A directory to ask about and a home of its own.
pub(crate) struct World {
    dir: tempfile::TempDir,
}

/// What one run of the binary gave.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// An empty repository.
    pub(crate) fn empty() -> World {
        let world = World {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(world.repo().join(".git")).unwrap();
        std::fs::create_dir_all(world.home()).unwrap();
        world
    }

    /// A small Rust program that cuts long texts.
    pub(crate) fn sample() -> World {
        let world = World::empty();
        world.file(
            "Cargo.toml",
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        );
        world.file(
            "src/lib.rs",
            "//! A demo.\n\npub mod cut;\n\n/// Shows one result of a tool.\npub fn show(result: &str) -> String {\n    cut::truncate_result(result, 80)\n}\n",
        );
        world.file(
            "src/cut.rs",
            "//! Cutting.\n\n/// Truncates the result of a tool at `cap` characters.\npub fn truncate_result(result: &str, cap: usize) -> String {\n    let mut text: String = result.chars().take(cap).collect();\n    if result.chars().count() > cap {\n        text.push_str(\"(truncated)\");\n    }\n    text\n}\n",
        );
        world
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Writes a file of the repository.
    pub(crate) fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.repo().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a script of model replies outside the repository and returns the
    /// `--model` value for it.
    pub(crate) fn script(&self, lines: &[&str]) -> String {
        let path = self.dir.path().join("script.jsonl");
        std::fs::write(&path, lines.join("\n")).unwrap();
        format!("script:{}", path.display())
    }

    /// The session files so far.
    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let dir = self.home().join(".local/state/toolcrib/sessions");
        let Ok(entries) = std::fs::read_dir(dir) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
            .collect();
        paths.sort();
        paths
    }

    /// The binary in the repository, in an environment without keys.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolcrib"));
        self.dress(&mut command);
        command
    }

    /// Gives a command the repository as its directory and the scratch home.
    pub(crate) fn dress(&self, command: &mut Command) {
        command
            .current_dir(self.repo())
            .env_clear()
            .env("HOME", self.home())
            .stdin(Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
    }

    /// Starts it with these arguments, its output kept.
    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        let mut command = self.command();
        command.args(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs the binary with these arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ran(self.command().args(args).output().unwrap())
    }
}

/// The arguments that ask `question` of a script, with the tools of `tools.jsonl`.
pub(crate) fn ask_with_tools<'a>(script: &'a str, question: &'a str) -> [&'a str; 6] {
    ["ask", "--tools", "tools.jsonl", "--model", script, question]
}

/// Output as text.
pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    /// The one line on standard error, without its end.
    pub(crate) fn complaint(&self) -> &str {
        let text = self.stderr.trim_end();
        assert!(!text.contains('\n'), "more than one line:\n{text}");
        text
    }
}

/// Every line of a file as JSON.
pub(crate) fn json_lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
