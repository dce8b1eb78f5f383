//! `toolcrib trust`: shows what a repository's files say, then remembers it.

use std::io::{BufRead as _, IsTerminal as _};

use crate::args::TrustArgs;
use crate::config::{Config, Places, REPOSITORY_FILE, read_small};
use crate::exit::{CliError, Status};
use crate::mcp_servers::{self, MCP_FILE};
use crate::place;
use crate::terminal::{print, say, visible};
use crate::trust::TrustStore;

/// Files of a repository that can start or choose something.
const FILES: [&str; 2] = [REPOSITORY_FILE, MCP_FILE];

/// Shows the files and trusts exactly the bytes shown.
pub(crate) fn run(args: &TrustArgs) -> Result<Status, CliError> {
    let (root, _) = place::root(&args.place)?;
    let mut found = Vec::new();
    for name in FILES {
        let file = root.join(name);
        match read_small(&file) {
            Ok(bytes) => found.push((file, bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(CliError::failed(format!(
                    "cannot read {}: {error}",
                    file.display()
                )));
            }
        }
    }
    if found.is_empty() {
        return Err(CliError::failed(format!(
            "{} has neither {} nor {}: nothing to trust",
            root.display(),
            FILES[0],
            FILES[1]
        )));
    }
    let Some(state) = Places::detect().state else {
        return Err(CliError::failed(
            "neither XDG_STATE_HOME nor HOME is set: no place to remember trust",
        ));
    };
    let mut status = Status::Success;
    for (file, bytes) in found {
        let text = String::from_utf8_lossy(&bytes);
        if file.ends_with(REPOSITORY_FILE) {
            Config::parse(&text, &file)?;
        }
        mcp_servers::sound(&file, &bytes)?;
        let mut store = TrustStore::read(&state)?;
        if store.trusts(&file, &bytes) {
            say(&format!("{} is trusted already", file.display()));
            continue;
        }
        print(&format!(
            "{}:\n{}\n",
            file.display(),
            visible(text.trim_end())
        ));
        if !args.yes && !confirmed()? {
            say("not trusted");
            status = Status::Failure;
            continue;
        }
        store.trust(&file, &bytes)?;
        say("trusted until the file changes");
    }
    Ok(status)
}

fn confirmed() -> Result<bool, CliError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::usage(
            "no terminal to ask on; read the file above and call again with --yes",
        ));
    }
    say("Trust this file? [y/N]");
    let mut line = String::new();
    stdin
        .lock()
        .read_line(&mut line)
        .map_err(CliError::failed)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
