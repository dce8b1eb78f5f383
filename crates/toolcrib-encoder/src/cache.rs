//! Vectors kept on disk, so that a set of tools is encoded once.
//!
//! One file a model, in it one record a text: sixteen bytes of the text's hash, the components as 16-bit integers, eight
//! bytes of checksum. Records are only added, under a lock and in one write; what a crash left behind the last whole
//! record is cut off by the next writer. A record whose checksum is wrong counts as not there. A file that has grown past
//! its limit is begun anew.
//!
//! A vector goes through the record's integers also when it was just made, so that the first run and all later ones rank
//! alike.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::Encoder;
use crate::model::MAX_TOKENS;

/// Changes with the layout of the file and with what is done to a text before it is encoded.
const VERSION: &[u8; 8] = b"TCENC1\0\0";
const SCALE: f32 = 32_767.0;
const KEY: usize = 16;
const CHECK: usize = 8;

/// Largest file; about eighty thousand texts.
const LIMIT: u64 = 64 << 20;

type Key = [u8; KEY];

/// An encoder that remembers.
#[derive(Debug)]
pub struct VectorCache {
    encoder: Encoder,
    file: Option<PathBuf>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    read: bool,
    vectors: HashMap<Key, Box<[i16]>>,
    encoded: usize,
    problem: Option<String>,
}

impl VectorCache {
    /// Keeps vectors in a file of this directory, which need not exist, or in memory alone.
    pub fn new(encoder: Encoder, directory: Option<&Path>) -> VectorCache {
        let model = Sha256::new()
            .chain_update(VERSION)
            .chain_update(MAX_TOKENS.to_le_bytes())
            .chain_update(encoder.checksum())
            .finalize();
        let name: String = model[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        VectorCache {
            encoder,
            file: directory.map(|directory| directory.join(format!("{name}.vectors"))),
            kept: Mutex::default(),
        }
    }

    /// The encoder itself, which keeps nothing.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The file that keeps the vectors, if one does.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// How many texts were encoded because no vector of theirs was kept.
    pub fn encoded(&self) -> usize {
        self.lock().encoded
    }

    /// Why the last vectors could not be kept or read, if so; ranking works all the same, only slower the next time.
    pub fn problem(&self) -> Option<String> {
        self.lock().problem.clone()
    }

    /// The unit vector of each text, in order, taken from what is kept where it is there and kept from now on.
    pub fn encode(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let mut kept = self.lock();
        let dims = self.encoder.dims();
        if !kept.read {
            kept.read = true;
            if let Some(path) = &self.file {
                match std::fs::read(path) {
                    Ok(bytes) => kept.vectors = records(&bytes, dims),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => kept.problem = Some(complaint("read", path, &error)),
                }
            }
        }
        let keys: Vec<Key> = texts.iter().map(|text| key(text)).collect();
        let mut missing: Vec<usize> = Vec::new();
        let mut seen = HashSet::new();
        for (at, key) in keys.iter().enumerate() {
            if !kept.vectors.contains_key(key) && seen.insert(*key) {
                missing.push(at);
            }
        }
        if !missing.is_empty() {
            let wanted: Vec<&str> = missing.iter().map(|&at| texts[at]).collect();
            let made = self.encoder.encode(&wanted);
            for (&at, vector) in missing.iter().zip(made) {
                let whole = vector.iter().map(|value| (value * SCALE).round() as i16);
                kept.vectors.insert(keys[at], whole.collect());
            }
            kept.encoded += missing.len();
            let new: Vec<Key> = missing.iter().map(|&at| keys[at]).collect();
            if let Some(path) = &self.file
                && let Err(error) = append(path, dims, &new, &keys, &kept.vectors)
            {
                kept.problem = Some(complaint("write", path, &error));
            }
        }
        let vector = |key: &Key| match kept.vectors.get(key) {
            Some(whole) => whole
                .iter()
                .map(|&value| f32::from(value) / SCALE)
                .collect(),
            None => vec![0.0; dims],
        };
        keys.iter().map(vector).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn complaint(what: &str, path: &Path, error: &io::Error) -> String {
    format!(
        "cannot {what} the kept vectors in {}: {error}; tools are encoded anew each time",
        path.display()
    )
}

fn key(text: &str) -> Key {
    let hash = Sha256::digest(text.as_bytes());
    std::array::from_fn(|at| hash[at])
}

fn record_length(dims: usize) -> usize {
    KEY + 2 * dims + CHECK
}

/// Tells a damaged record from a whole one; no protection against intent.
fn check(bytes: &[u8]) -> [u8; CHECK] {
    let mut state = 0xcbf2_9ce4_8422_2325u64;
    for part in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        state = (state ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state ^= state >> 29;
    }
    state.to_le_bytes()
}

fn records(bytes: &[u8], dims: usize) -> HashMap<Key, Box<[i16]>> {
    let mut all = HashMap::new();
    let Some(body) = bytes.strip_prefix(VERSION) else {
        return all;
    };
    for record in body.chunks_exact(record_length(dims)) {
        let (content, sum) = record.split_at(KEY + 2 * dims);
        if check(content) != sum {
            continue;
        }
        let (key, components) = content.split_at(KEY);
        let key: Key = std::array::from_fn(|at| key[at]);
        let components = components.as_chunks().0.iter();
        all.insert(
            key,
            components.map(|two| i16::from_le_bytes(*two)).collect(),
        );
    }
    all
}

fn append(
    path: &Path,
    dims: usize,
    new: &[Key],
    used: &[Key],
    vectors: &HashMap<Key, Box<[i16]>>,
) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)?;
    file.lock()?;
    let length = file.metadata()?.len();
    let one = record_length(dims) as u64;
    let start = VERSION.len() as u64;
    let grown = length + new.len() as u64 * one;
    let whole = if length < start || !begins_well(&mut file)? || grown > LIMIT {
        0
    } else {
        start + (length - start) / one * one
    };
    if whole < length {
        file.set_len(whole)?;
    }
    let mut out = Vec::new();
    let mut keys = new;
    if whole == 0 {
        out.extend_from_slice(VERSION);
        keys = used;
    }
    let mut written = HashSet::new();
    for key in keys {
        if let Some(vector) = vectors.get(key)
            && written.insert(*key)
        {
            let from = out.len();
            out.extend_from_slice(key);
            out.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
            let sum = check(&out[from..]);
            out.extend_from_slice(&sum);
        }
    }
    file.write_all(&out)
}

fn begins_well(file: &mut File) -> io::Result<bool> {
    let mut head = [0; VERSION.len()];
    file.read_exact(&mut head)?;
    Ok(&head == VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(keys: &[Key]) -> HashMap<Key, Box<[i16]>> {
        keys.iter()
            .map(|key| (*key, vec![i16::from(key[0]) - 7; 4].into_boxed_slice()))
            .collect()
    }

    #[test]
    fn damage_costs_no_more_than_the_record_it_hits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/x.vectors");
        let (a, b, c) = ([1; KEY], [2; KEY], [3; KEY]);
        let vectors = some(&[a, b, c]);
        append(&path, 4, &[a, b], &[a, b], &vectors).unwrap();
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(records(&whole, 4), some(&[a, b]));

        // A byte of the first record turned over.
        let mut bytes = whole.clone();
        bytes[VERSION.len() + KEY] ^= 1;
        assert_eq!(records(&bytes, 4), some(&[b]));

        // A crash in the middle of a write, then another writer.
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        append(&path, 4, &[c], &[a, c], &vectors).unwrap();
        assert_eq!(records(&std::fs::read(&path).unwrap(), 4), some(&[a, c]));

        // A foreign file is begun anew with all that is in use.
        std::fs::write(&path, "something else entirely").unwrap();
        assert_eq!(records(b"something else entirely", 4), HashMap::new());
        append(&path, 4, &[c], &[a, b, c], &vectors).unwrap();
        assert_eq!(records(&std::fs::read(&path).unwrap(), 4), vectors);
    }

    #[test]
    fn writers_at_once_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.vectors");
        let keys: Vec<Key> = (0..40).map(|n| [n; KEY]).collect();
        let vectors = some(&keys);
        std::thread::scope(|scope| {
            for part in keys.chunks(10) {
                let (path, vectors) = (&path, &vectors);
                scope.spawn(move || {
                    for key in part {
                        append(path, 4, &[*key], &[*key], vectors).unwrap();
                    }
                });
            }
        });
        assert_eq!(records(&std::fs::read(&path).unwrap(), 4), vectors);
    }
}
