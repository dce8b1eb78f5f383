//! The files that git tracks, from its index.
//!
//! Ignore files say nothing about what is tracked already, so a file that was
//! added in spite of them is in no listing that follows them. The index is read
//! here rather than by running git, which may be absent and runs what a
//! repository's own configuration names. Only names are taken from it: what is
//! read of them stays a matter of the scan. A split index names its files
//! elsewhere and is declined.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::FileSystem;
use super::disk::{self, Contents};

/// Largest index that is read, in bytes; about two million files.
const MAX_INDEX: u64 = 256 * 1024 * 1024;
/// Largest `.git` file that is read, in bytes.
const MAX_LINK: u64 = 16 * 1024;
/// Submodules inside submodules that are followed.
const MAX_NESTED: usize = 8;
/// Kinds of entries, by the upper bits of their mode.
const KIND: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const SUBMODULE: u32 = 0o160_000;

/// What an index names.
#[derive(Default)]
struct Named {
    files: Vec<Vec<u8>>,
    submodules: Vec<Vec<u8>>,
}

/// What is tracked below a directory.
#[derive(Default)]
pub(super) struct Tracked {
    /// Relative to the directory, without `..` and without links of git's own.
    pub(super) files: Vec<PathBuf>,
    /// Working trees whose index could not be understood, and why.
    pub(super) unread: Vec<(PathBuf, String)>,
}

/// Reads what git tracks below `root`, which may itself be inside a working tree;
/// nothing where there is no git.
pub(super) fn tracked(root: &Path) -> Tracked {
    let mut found = Tracked::default();
    let Ok(root) = fs::canonicalize(root) else {
        return found;
    };
    let Some(top) = root
        .ancestors()
        .find(|dir| fs::symlink_metadata(dir.join(".git")).is_ok())
    else {
        return found;
    };
    let mut trees = vec![(top.to_path_buf(), 0)];
    while let Some((tree, depth)) = trees.pop() {
        let named = match index_of(&tree) {
            Ok(Some(named)) => named,
            Ok(None) => continue,
            Err(reason) => {
                let shown = tree.strip_prefix(&root).unwrap_or(Path::new(""));
                found.unread.push((shown.join(".git"), reason));
                continue;
            }
        };
        for name in named.files {
            if let Some(path) = inside(&tree, &name)
                && let Ok(below) = path.strip_prefix(&root)
            {
                found.files.push(below.to_path_buf());
            }
        }
        for name in named.submodules {
            if let Some(path) = inside(&tree, &name)
                && path.starts_with(&root)
                && depth < MAX_NESTED
                && fs::symlink_metadata(path.join(".git")).is_ok()
            {
                trees.push((path, depth + 1));
            }
        }
    }
    found
}

/// The path of an entry, unless it is one that git itself would not check out.
fn inside(tree: &Path, name: &[u8]) -> Option<PathBuf> {
    let name = native(name)?;
    let mut path = tree.to_path_buf();
    for part in name.components() {
        match part {
            std::path::Component::Normal(part) if !part.eq_ignore_ascii_case(".git") => {
                path.push(part);
            }
            _ => return None,
        }
    }
    Some(path)
}

#[cfg(unix)]
fn native(name: &[u8]) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt;
    Some(Path::new(std::ffi::OsStr::from_bytes(name)))
}

#[cfg(not(unix))]
fn native(name: &[u8]) -> Option<&Path> {
    std::str::from_utf8(name).ok().map(Path::new)
}

/// The index of a working tree; `None` for a repository without one yet.
fn index_of(tree: &Path) -> Result<Option<Named>, String> {
    let git = tree.join(".git");
    let dir = match fs::metadata(&git) {
        Ok(meta) if meta.is_dir() => git,
        // A worktree's or submodule's `.git` is a file that names the directory.
        Ok(_) => match whole(&git, MAX_LINK)? {
            Some(text) => {
                let text = text.strip_prefix(b"gitdir:").unwrap_or_default();
                let path = native(text.trim_ascii()).unwrap_or(Path::new(""));
                if path.as_os_str().is_empty() {
                    return Err("it names no directory".to_string());
                }
                tree.join(path)
            }
            None => return Ok(None),
        },
        Err(_) => return Ok(None),
    };
    let Some(bytes) = whole(&dir.join("index"), MAX_INDEX)? else {
        return Ok(None);
    };
    // The length of object names is not said, but only the right one fits.
    [20, 32]
        .iter()
        .find_map(|hash| parse(&bytes, *hash))
        .map(Some)
        .ok_or_else(|| "its index is of another kind".to_string())
}

fn whole(path: &Path, max: u64) -> Result<Option<Vec<u8>>, String> {
    match disk::read(&FileSystem, path, max) {
        Ok(Contents::Whole(bytes, _)) => Ok(Some(bytes)),
        Ok(Contents::TooLarge) => Err("its index is too large".to_string()),
        Ok(Contents::Special) => Err("its index is no file".to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.kind().to_string()),
    }
}

/// Versions 2 to 4 with object names of `hash` bytes; `None` for anything else.
fn parse(bytes: &[u8], hash: usize) -> Option<Named> {
    let end = bytes.len().checked_sub(hash)?;
    let bytes = bytes.get(..end)?;
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = u32_at(bytes, 4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = u32_at(bytes, 8)?;
    let mut named = Named::default();
    let mut at = 12;
    let mut last: Vec<u8> = Vec::new();
    for _ in 0..count {
        let start = at;
        let mode = u32_at(bytes, at + 24)?;
        at += 40 + hash;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        if flags & 0x4000 != 0 {
            if version < 3 {
                return None;
            }
            at += 2;
        }
        let kept = match version {
            4 => last.len().checked_sub(number(bytes, &mut at)?)?,
            _ => 0,
        };
        let rest = bytes.get(at..)?;
        let length = memchr::memchr(0, rest)?;
        last.truncate(kept);
        last.extend_from_slice(&rest[..length]);
        at += length + 1;
        if version < 4 {
            // Entries end at a multiple of eight bytes.
            at = start + (at - start).next_multiple_of(8);
        }
        let said = usize::from(flags & 0xfff);
        if said != last.len().min(0xfff) {
            return None;
        }
        match mode & KIND {
            SUBMODULE => named.submodules.push(last.clone()),
            DIRECTORY => {}
            _ => named.files.push(last.clone()),
        }
    }
    while at < end {
        let kind = bytes.get(at..at + 4)?;
        if kind == b"link" {
            return None;
        }
        at = (at + 8).checked_add(u32_at(bytes, at + 4)? as usize)?;
    }
    (at == end).then_some(named)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// A number in seven bits a byte, the highest first, each further byte one more.
fn number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0usize;
    for more in 0..8 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if more > 0 {
            value += 1;
        }
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
