//! `toolcrib trust`: shows what a repository's file says, then remembers it.

use std::io::{BufRead as _, IsTerminal as _};

use crate::args::TrustArgs;
use crate::config::{Config, Places, REPOSITORY_FILE};
use crate::exit::{CliError, Status};
use crate::place;
use crate::terminal::{print, say};
use crate::trust::TrustStore;

/// Shows the file and trusts exactly the bytes shown.
pub(crate) fn run(args: &TrustArgs) -> Result<Status, CliError> {
    let (root, _) = place::root(&args.place)?;
    let file = root.join(REPOSITORY_FILE);
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(CliError::failed(format!(
                "{} does not exist: nothing to trust",
                file.display()
            )));
        }
        Err(error) => {
            return Err(CliError::failed(format!(
                "cannot read {}: {error}",
                file.display()
            )));
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    Config::parse(&text, &file)?;
    let Some(state) = Places::detect().state else {
        return Err(CliError::failed(
            "neither XDG_STATE_HOME nor HOME is set: no place to remember trust",
        ));
    };
    let mut store = TrustStore::read(&state)?;
    if store.trusts(&file, &bytes) {
        say(&format!("{} is trusted already", file.display()));
        return Ok(Status::Success);
    }
    let shown: String = text
        .chars()
        .map(|c| {
            if c.is_control() && c != '\n' && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect();
    print(&format!("{}:\n{}\n", file.display(), shown.trim_end()));
    if !args.yes && !confirmed()? {
        say("not trusted");
        return Ok(Status::Failure);
    }
    store.trust(&file, &bytes)?;
    say("trusted until the file changes");
    Ok(Status::Success)
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
