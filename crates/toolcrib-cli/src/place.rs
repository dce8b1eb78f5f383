//! Which directory is read, and its configuration.

use std::path::{Path, PathBuf};

use crate::args::PlaceArgs;
use crate::config::{Config, Places, REPOSITORY_FILE};
use crate::exit::CliError;
use crate::terminal::say;
use crate::trust::TrustStore;

/// The repository at hand and what the configuration files say about it.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    /// Absolute, symbolic links resolved.
    pub(crate) root: PathBuf,
    pub(crate) config: Config,
    pub(crate) places: Places,
}

impl Workspace {
    /// Finds the root and reads the configuration. Says on standard error what is
    /// left aside, unless `quiet`.
    pub(crate) fn open(args: &PlaceArgs, quiet: bool) -> Result<Workspace, CliError> {
        let (root, is_repository) = root(args)?;
        let places = Places::detect();
        let user = match &places.user_config {
            Some(path) => Config::read(path)?,
            None => Config::default(),
        };
        let file = root.join(REPOSITORY_FILE);
        let mut own = Config::read(&file)?;
        let named = match (&own.model, &own.encoder) {
            (Some(model), _) => Some(format!("the model {model:?}")),
            (None, Some(_)) => Some("a sentence encoder".to_owned()),
            (None, None) => None,
        };
        if let Some(named) = named
            && !trusted(&places, &file)?
        {
            if !quiet {
                say(&format!(
                    "toolcrib: {REPOSITORY_FILE} names {named}, which counts only after `toolcrib trust`"
                ));
            }
            own.model = None;
            own.encoder = None;
        }
        // Where a user's runs are told to is no matter of a repository.
        if own.otlp_endpoint.take().is_some() && !quiet {
            say(&format!(
                "toolcrib: `otlp_endpoint` in {REPOSITORY_FILE} is left aside; it counts in your own configuration alone"
            ));
        }
        if !is_repository && !quiet {
            say(&format!(
                "toolcrib: {} is not in a git repository; reading every file below it",
                root.display()
            ));
        }
        Ok(Workspace {
            config: user.overlaid(own),
            root,
            places,
        })
    }
}

/// Whether the file's bytes as they stand are trusted.
pub(crate) fn trusted(places: &Places, file: &Path) -> Result<bool, CliError> {
    let Some(state) = &places.state else {
        return Ok(false);
    };
    let bytes = std::fs::read(file)
        .map_err(|error| CliError::usage(format!("cannot read {}: {error}", file.display())))?;
    Ok(TrustStore::read(state)?.trusts(file, &bytes))
}

/// The directory asked for, else the repository around the current one, else the
/// current one; and whether it is in a repository.
pub(crate) fn root(args: &PlaceArgs) -> Result<(PathBuf, bool), CliError> {
    let asked = args.dir.as_deref();
    let start = match asked {
        Some(dir) => dir.to_path_buf(),
        None => std::env::current_dir().map_err(|error| {
            CliError::failed(format!("the current directory cannot be read: {error}"))
        })?,
    };
    let start = std::fs::canonicalize(&start)
        .map_err(|error| CliError::usage(format!("cannot open {}: {error}", start.display())))?;
    if !start.is_dir() {
        return Err(CliError::usage(format!(
            "{} is not a directory; give the directory of a repository",
            start.display()
        )));
    }
    let around = start.ancestors().find(|dir| dir.join(".git").exists());
    Ok(match (asked, around) {
        (None, Some(top)) => (top.to_path_buf(), true),
        (_, around) => (start.clone(), around.is_some()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_asked_for_is_taken_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a");
        std::fs::create_dir_all(dir.path().join(".git")).unwrap();
        std::fs::create_dir_all(&inner).unwrap();
        let (root, repository) = root(&PlaceArgs {
            dir: Some(inner.clone()),
        })
        .unwrap();
        assert_eq!(root, std::fs::canonicalize(inner).unwrap());
        assert!(repository);
    }

    #[test]
    fn what_is_no_directory_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path().to_path_buf(), "/no/such/place".into()] {
            let error = root(&PlaceArgs {
                dir: Some(path.clone()),
            })
            .unwrap_err()
            .to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
        }
    }
}
