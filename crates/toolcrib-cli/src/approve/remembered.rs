//! What was allowed for always: a tool, and the command that runs it where the question
//! showed one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use toolcrib_core::{Preview, ToolSpec};
use toolcrib_dispatch::Question;

use crate::exit::CliError;

/// Tools allowed in one repository. Each is known by a hash of all that is known of it
/// and of the command that was shown.
pub(super) struct Remembered {
    file: Option<PathBuf>,
    root: String,
    /// `root-and-tool` hashes.
    allowed: Mutex<BTreeSet<String>>,
}

impl Remembered {
    /// Reads them from below the state directory; without one nothing is remembered.
    pub(super) fn read(state: Option<&Path>, root: &Path) -> Result<Remembered, CliError> {
        let file = state.map(|state| state.join("allowed.json"));
        let allowed = match &file {
            Some(file) => read(file)?,
            None => BTreeSet::new(),
        };
        Ok(Remembered {
            file,
            root: root.to_string_lossy().into_owned(),
            allowed: Mutex::new(allowed),
        })
    }

    pub(super) fn has(&self, question: &Question) -> bool {
        self.holds(&question.spec, &question.preview)
    }

    fn holds(&self, spec: &ToolSpec, preview: &Preview) -> bool {
        let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        allowed.contains(&self.key(spec, preview))
    }

    /// Remembers a tool. The file is replaced whole, so a crash leaves the old or the
    /// new one.
    pub(super) fn add(&self, question: &Question) -> Result<(), CliError> {
        self.keep(&question.spec, &question.preview)
    }

    fn keep(&self, spec: &ToolSpec, preview: &Preview) -> Result<(), CliError> {
        let Some(file) = &self.file else {
            return Err(CliError::failed("there is no place to remember it"));
        };
        let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        // Another run may have added some.
        allowed.extend(read(file)?);
        allowed.insert(self.key(spec, preview));
        let text = serde_json::to_vec_pretty(&*allowed).map_err(CliError::failed)?;
        let write = || {
            if let Some(dir) = file.parent() {
                std::fs::create_dir_all(dir)?;
            }
            let next = file.with_extension(format!("{}.tmp", std::process::id()));
            std::fs::write(&next, &text)
                .and_then(|()| std::fs::rename(&next, file))
                .inspect_err(|_| {
                    let _ = std::fs::remove_file(&next);
                })
        };
        write().map_err(|error: std::io::Error| {
            CliError::failed(format!("cannot write {}: {error}", file.display()))
        })
    }

    fn key(&self, spec: &ToolSpec, preview: &Preview) -> String {
        let mut hash = Sha256::new();
        let effect = format!("{:?}", spec.effect);
        let command: Vec<&str> = match preview {
            Preview::Command { argv, cwd } => std::iter::once(cwd)
                .chain(argv)
                .map(String::as_str)
                .collect(),
            // All else shows the arguments, which a yes for always is not about.
            _ => Vec::new(),
        };
        let known = [
            self.root.as_str(),
            spec.name.as_str(),
            &spec.source.0,
            &spec.description,
            spec.input_schema.received(),
            &effect,
        ];
        for part in known.into_iter().chain(command) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}

fn read(file: &Path) -> Result<BTreeSet<String>, CliError> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            CliError::failed(format!(
                "{} is damaged ({error}); remove it to be asked anew",
                file.display()
            ))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(CliError::failed(format!(
            "cannot read {}: {error}",
            file.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::{Schema, ToolName};

    #[test]
    fn l12_always_holds_for_the_same_tool_in_the_same_place() {
        let dir = tempfile::tempdir().unwrap();
        let spec = |description: &str| {
            ToolSpec::new(
                ToolName::parse("wipe").unwrap(),
                description,
                Schema::empty(),
            )
        };
        let at = |root: &str| Remembered::read(Some(dir.path()), Path::new(root)).unwrap();
        let here = at("/a");
        let shown = Preview::Text("{}".to_owned());
        let wipes = spec("Wipes.");
        assert!(!here.holds(&wipes, &shown));
        here.keep(&wipes, &shown).unwrap();
        assert!(at("/a").holds(&wipes, &shown));
        assert!(at("/a").holds(&wipes, &Preview::Text("other".to_owned())));
        assert!(!at("/a").holds(&spec("Wipes all."), &shown));
        assert!(!at("/b").holds(&wipes, &shown));
        std::fs::write(dir.path().join("allowed.json"), "{").unwrap();
        let error = Remembered::read(Some(dir.path()), Path::new("/a"))
            .err()
            .unwrap();
        assert!(error.to_string().contains("allowed.json is damaged"));
    }

    #[test]
    fn l12_always_holds_for_the_command_that_was_shown_alone() {
        let dir = tempfile::tempdir().unwrap();
        let spec = ToolSpec::new(ToolName::parse("wipe").unwrap(), "Wipes.", Schema::empty());
        let runs = |argv: &[&str]| Preview::Command {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            cwd: ".".to_owned(),
        };
        let remembered = Remembered::read(Some(dir.path()), Path::new("/a")).unwrap();
        remembered
            .keep(&spec, &runs(&["sh", "-c", "true"]))
            .unwrap();
        let again = Remembered::read(Some(dir.path()), Path::new("/a")).unwrap();
        assert!(again.holds(&spec, &runs(&["sh", "-c", "true"])));
        for other in [
            &["sh", "-c", "rm -rf ."][..],
            &["sh", "-c true"],
            &["sh"],
            &[],
        ] {
            assert!(!again.holds(&spec, &runs(other)), "{other:?}");
        }
        assert!(!again.holds(&spec, &Preview::Text("{}".to_owned())));
    }
}
