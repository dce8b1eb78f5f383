//! Tensors from a safetensors file: eight bytes with the length of a JSON header, the header, the numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::EncoderError;
use crate::error::read;

/// Bytes that are hashed apart, so that a file's checksum takes all cores.
const PIECE: usize = 1 << 22;

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A file of tensors in memory.
pub(crate) struct Weights {
    path: PathBuf,
    bytes: Vec<u8>,
    start: usize,
    entries: BTreeMap<String, Entry>,
}

impl Weights {
    pub(crate) fn load(path: &Path) -> Result<Weights, EncoderError> {
        let bytes = read(path)?;
        let foreign = || {
            EncoderError::file(
                path,
                "not a safetensors file: it does not begin with the length of a header",
            )
        };
        let head: [u8; 8] = bytes
            .get(..8)
            .and_then(|head| head.try_into().ok())
            .ok_or_else(foreign)?;
        let length = usize::try_from(u64::from_le_bytes(head)).map_err(|_| foreign())?;
        let start = length.checked_add(8).ok_or_else(foreign)?;
        if bytes.get(8) != Some(&b'{') {
            return Err(foreign());
        }
        let header = bytes.get(8..start).ok_or_else(|| truncated(path))?;
        let mut header: BTreeMap<String, serde_json::Value> = serde_json::from_slice(header)
            .map_err(|error| {
                EncoderError::file(
                    path,
                    format!("its header is not what it should be: {error}"),
                )
            })?;
        header.remove("__metadata__");
        let mut entries = BTreeMap::new();
        for (name, value) in header {
            let entry: Entry = serde_json::from_value(value).map_err(|error| {
                EncoderError::file(path, format!("the header's entry {name:?}: {error}"))
            })?;
            let (from, to) = entry.data_offsets;
            if from > to || to > bytes.len() - start {
                return Err(truncated(path));
            }
            entries.insert(name, entry);
        }
        Ok(Weights {
            path: path.to_owned(),
            bytes,
            start,
            entries,
        })
    }

    /// The numbers of a tensor, whose shape must be this one.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
        // Exports of the bare encoder and of a model around it differ in this prefix.
        let entry = self
            .entries
            .get(name)
            .or_else(|| self.entries.get(&format!("bert.{name}")));
        let Some(entry) = entry else {
            return Err(EncoderError::file(
                &self.path,
                format!(
                    "it has no tensor {name:?}; these are the weights of another kind of model"
                ),
            ));
        };
        if entry.shape != shape {
            return Err(EncoderError::file(
                &self.path,
                format!(
                    "the tensor {name:?} is {:?} where config.json beside it asks for {shape:?}; take both from the \
                     same model",
                    entry.shape
                ),
            ));
        }
        if entry.dtype != "F32" {
            return Err(EncoderError::file(
                &self.path,
                format!(
                    "the tensor {name:?} holds {} numbers; only F32 is read",
                    entry.dtype
                ),
            ));
        }
        let (from, to) = entry.data_offsets;
        let bytes = &self.bytes[self.start + from..self.start + to];
        if bytes.len() != 4 * shape.iter().product::<usize>() {
            return Err(truncated(&self.path));
        }
        let numbers = bytes.as_chunks().0.iter();
        Ok(numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// A checksum of the whole file.
    pub(crate) fn checksum(&self) -> [u8; 32] {
        let pieces: Vec<[u8; 32]> = self
            .bytes
            .par_chunks(PIECE)
            .map(|piece| Sha256::digest(piece).into())
            .collect();
        Sha256::digest(pieces.concat()).into()
    }
}

fn truncated(path: &Path) -> EncoderError {
    EncoderError::file(
        path,
        "it is shorter than its header promises; copy it again",
    )
}
