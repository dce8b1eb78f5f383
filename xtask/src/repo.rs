//! The files of the repository as git sees them.
//!
//! Rules read from here and never from the disk, so that each can be shown to
//! fail on a few lines of text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Texts by path, in path order. Paths are relative, with `/` between parts.
#[derive(Default)]
pub(crate) struct Repo {
    files: BTreeMap<String, String>,
}

/// The root of the repository this was built in.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

impl Repo {
    /// All tracked files and those not ignored. Files that are not text are listed
    /// with no text.
    pub(crate) fn open(root: &Path) -> Result<Repo, String> {
        let listing = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .output()
            .map_err(|error| format!("git cannot be run: {error}"))?;
        if !listing.status.success() {
            let reason = String::from_utf8_lossy(&listing.stderr).trim().to_owned();
            return Err(format!("git ls-files failed: {reason}"));
        }
        let paths = String::from_utf8_lossy(&listing.stdout).into_owned();
        let mut files = BTreeMap::new();
        for path in paths.split_terminator('\0') {
            // A file that is deleted and not yet committed is still listed.
            if let Ok(bytes) = std::fs::read(root.join(path)) {
                files.insert(
                    path.to_owned(),
                    String::from_utf8(bytes).unwrap_or_default(),
                );
            }
        }
        Ok(Repo { files })
    }

    /// All files in path order.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (&**path, &**text))
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|text| &**text)
    }

    /// Whether a file or folder of that path exists.
    pub(crate) fn exists(&self, path: &str) -> bool {
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(format!("{path}/")..)
                .next()
                .is_some_and(|(next, _)| next.starts_with(&format!("{path}/")))
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Repo {
    fn from(files: [(&str, &str); N]) -> Repo {
        let own = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
        Repo {
            files: files.map(own).into(),
        }
    }
}
