//! What can be wrong with a directory of weights.

use std::path::{Path, PathBuf};

/// Why an encoder cannot be had. Each names the file and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// A file of the model cannot be read.
    #[error(
        "cannot read {}: {source}; name the directory that holds the encoder's config.json, vocab.txt and \
         model.safetensors", path.display()
    )]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the model is not what it should be.
    #[error("{}: {problem}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
}

impl EncoderError {
    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> EncoderError {
        EncoderError::File {
            path: path.to_owned(),
            problem: problem.into(),
        }
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, EncoderError> {
    std::fs::read(path).map_err(|source| EncoderError::Read {
        path: path.to_owned(),
        source,
    })
}
