//! The facts of one tree's files on disk, by the content they were made from.
//!
//! One file a tree: a head that names the build, an index with a checksum of its
//! own, then the facts, each with its checksum. Whatever does not fit what is
//! expected to the byte is as good as not there: a pack is never repaired and
//! never trusted in part beyond what its checksums cover. It is written beside
//! its place and moved there, so that no reader sees half of one.

use std::fs::{self, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Write};
use std::path::Path;

use rustc_hash::{FxHashMap, FxHasher};
use sha2::{Digest, Sha256};

use crate::facts::FileFacts;

/// The head of every pack: what it is, and the build that wrote it.
const HEAD: &[u8] = concat!(
    "toolcrib facts 1 ",
    env!("CARGO_PKG_VERSION"),
    " ",
    env!("TOOLCRIB_READERS"),
    "\n"
)
.as_bytes();
/// Bytes of one entry of the index: key, place, length, checksum.
const ENTRY: usize = 16 + 8 + 8 + 8;
/// Larger packs are neither read nor written, in bytes.
const MAX_PACK: u64 = 1 << 31;

/// What facts are kept under.
pub(super) type Key = [u8; 16];

/// What the facts of a file are a function of.
pub(super) fn key(path: &str, language: &str, text: &str) -> Key {
    let mut hash = Sha256::new();
    for part in [path, language] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update(text);
    let digest = hash.finalize();
    let mut key = Key::default();
    key.copy_from_slice(&digest[..16]);
    key
}

/// Facts that were kept.
#[derive(Default)]
pub(super) struct Pack {
    bytes: Vec<u8>,
    /// Place, length and checksum.
    index: FxHashMap<Key, (usize, usize, u64)>,
}

impl Pack {
    /// Reads a pack; an empty one for anything but what this build has written.
    pub(super) fn read(path: &Path) -> Pack {
        let small = fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_PACK);
        if !small {
            return Pack::default();
        }
        let Ok(bytes) = fs::read(path) else {
            return Pack::default();
        };
        Pack::parse(bytes).unwrap_or_default()
    }

    fn parse(bytes: Vec<u8>) -> Option<Pack> {
        let rest = bytes.strip_prefix(HEAD)?;
        let count = usize::try_from(number(rest, 0)?).ok()?;
        let sum = number(rest, 8)?;
        let end = count.checked_mul(ENTRY)?.checked_add(16)?;
        let entries = rest.get(16..end)?;
        if checksum(entries) != sum {
            return None;
        }
        let mut index = FxHashMap::default();
        for entry in entries.chunks_exact(ENTRY) {
            let key = Key::try_from(entry.get(..16)?).ok()?;
            let place = usize::try_from(number(entry, 16)?).ok()?;
            let len = usize::try_from(number(entry, 24)?).ok()?;
            if place.checked_add(len)? > bytes.len() {
                return None;
            }
            index.insert(key, (place, len, number(entry, 32)?));
        }
        Some(Pack { bytes, index })
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// The bytes that were kept under a key, if they are whole.
    pub(super) fn bytes(&self, key: &Key) -> Option<&[u8]> {
        let (place, len, sum) = self.index.get(key)?;
        let bytes = self.bytes.get(*place..place.checked_add(*len)?)?;
        (checksum(bytes) == *sum).then_some(bytes)
    }

    /// The facts that were kept under a key.
    pub(super) fn facts(&self, key: &Key) -> Option<FileFacts> {
        let (facts, rest) = postcard::take_from_bytes(self.bytes(key)?).ok()?;
        rest.is_empty().then_some(facts)
    }
}

/// Facts as bytes; `None` when they cannot be written.
pub(super) fn encode(facts: &FileFacts) -> Option<Vec<u8>> {
    postcard::to_stdvec(facts).ok()
}

/// Writes a pack in place of what is there.
pub(super) fn write(path: &Path, entries: &[(Key, &[u8])]) -> io::Result<()> {
    let total: u64 = entries.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    if total > MAX_PACK / 2 {
        return Err(io::Error::other("the tree is too large to be kept"));
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    private_dir(dir)?;
    let mut index = Vec::with_capacity(entries.len() * ENTRY);
    let mut place = (HEAD.len() + 16 + entries.len() * ENTRY) as u64;
    for (key, bytes) in entries {
        index.extend_from_slice(key);
        for number in [place, bytes.len() as u64, checksum(bytes)] {
            index.extend_from_slice(&number.to_le_bytes());
        }
        place += bytes.len() as u64;
    }
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    let written = (|| {
        let mut file = io::BufWriter::new(private_file(&beside)?);
        file.write_all(HEAD)?;
        file.write_all(&(entries.len() as u64).to_le_bytes())?;
        file.write_all(&checksum(&index).to_le_bytes())?;
        file.write_all(&index)?;
        for (_, bytes) in entries {
            file.write_all(bytes)?;
        }
        file.into_inner().map_err(io::IntoInnerError::into_error)?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// What is kept tells as much as the source does: it is the user's alone.
fn private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(dir)
}

fn private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = FxHasher::default();
    hash.write(bytes);
    hash.write_usize(bytes.len());
    hash.finish()
}
