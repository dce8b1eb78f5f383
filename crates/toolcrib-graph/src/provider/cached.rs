//! The embedded provider, with what it has read before.
//!
//! Only what one file says on its own is kept; what files mean together is made
//! anew each time, so that a graph is the same byte for byte with and without a
//! cache. A cache that cannot be read or written is done without.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::pack::{self, Key, Pack};
use super::{GraphProvider, Provided, extract, provided};
use crate::facts::FileFacts;
use crate::lang::{RULES, rules_of_tree};
use crate::scan::SourceFile;

/// What facts are kept under, with their bytes where they are new.
type Entry = (Key, Option<Vec<u8>>);

/// [`TreeSitterProvider`](super::TreeSitterProvider) that parses only what has
/// changed since it last read a tree, by content.
#[derive(Debug)]
pub struct CachedProvider {
    pack: PathBuf,
    parsed: AtomicUsize,
}

impl CachedProvider {
    /// Keeps what it reads of the tree at `root` in a file of its own in `dir`,
    /// which is made when there is something to write.
    pub fn new(dir: &Path, root: &Path) -> CachedProvider {
        let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
        let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let name: String = digest[..8].iter().map(|b| format!("{b:02x}")).collect();
        CachedProvider {
            pack: dir.join(format!("{name}.facts")),
            parsed: AtomicUsize::new(0),
        }
    }

    /// Where it keeps what it reads.
    pub fn path(&self) -> &Path {
        &self.pack
    }

    /// How many files it had to parse, over all trees that it was given.
    pub fn parsed(&self) -> usize {
        self.parsed.load(Ordering::Relaxed)
    }
}

impl GraphProvider for CachedProvider {
    fn name(&self) -> &'static str {
        "tree-sitter"
    }

    fn provide(&self, files: &[SourceFile]) -> Provided {
        let languages = rules_of_tree(files);
        let pack = Pack::read(&self.pack);
        let read: Vec<(FileFacts, Option<Entry>)> = files
            .par_iter()
            .zip(&languages)
            .map(|(file, language)| {
                let Some(rules) = language.map(|language| RULES[language]) else {
                    return (extract(&file.path, &file.text, None), None);
                };
                let key = pack::key(&file.path, rules.name(), &file.text);
                if let Some(facts) = pack.facts(&key) {
                    return (facts, Some((key, None)));
                }
                let facts = extract(&file.path, &file.text, *language);
                let bytes = pack::encode(&facts);
                (facts, Some((key, bytes)))
            })
            .collect();
        let mut facts = Vec::with_capacity(read.len());
        let mut kept: Vec<Entry> = Vec::with_capacity(read.len());
        for (one, entry) in read {
            facts.push(one);
            kept.extend(entry);
        }
        let parsed = kept.iter().filter(|(_, bytes)| bytes.is_some()).count();
        self.parsed.fetch_add(parsed, Ordering::Relaxed);
        if parsed > 0 || kept.len() != pack.len() {
            let entries: Vec<(Key, &[u8])> = kept
                .iter()
                .filter_map(|(key, bytes)| match bytes {
                    Some(bytes) => Some((*key, bytes.as_slice())),
                    None => Some((*key, pack.bytes(key)?)),
                })
                .collect();
            // A disk that is full or not to be written to costs time, no more.
            let _ = pack::write(&self.pack, &entries);
        }
        provided(files, facts, languages)
    }
}
