//! A fingerprint of what reads files, so that what an older build has kept is
//! never taken for what this one would read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = BTreeMap::new();
    collect(&root.join("src"), &mut files)?;
    // The grammars' versions, where the workspace is there to name them.
    let lock = root.join("../../Cargo.lock");
    if let Ok(bytes) = fs::read(&lock) {
        files.insert(lock.clone(), bytes);
        println!("cargo::rerun-if-changed={}", lock.display());
    }
    println!("cargo::rerun-if-changed=src");
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (path, bytes) in &files {
        let name = path.strip_prefix(&root).unwrap_or(path);
        for byte in name.to_string_lossy().bytes().chain(bytes.iter().copied()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=TOOLCRIB_READERS={hash:016x}");
    Ok(())
}

fn collect(dir: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            let bytes = fs::read(&path)?;
            files.insert(path, bytes);
        }
    }
    Ok(())
}
