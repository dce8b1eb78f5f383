//! Python's source roots and packages.
//!
//! A package's root is the directory above its outermost `__init__.py`. Files
//! outside packages belong to the nearest source root: a directory with a
//! project file, its `src` or `lib`, else the top. What is imported is looked
//! up in the importing file's own root first, then in the nearest.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::link::{Placement, SpaceIx};

const PROJECT_FILES: &[&str] = &["pyproject.toml", "setup.py", "setup.cfg"];

pub(super) fn place(p: &mut Placement<'_>) {
    let mut packages: FxHashSet<&str> = FxHashSet::default();
    let mut projects: FxHashSet<String> = FxHashSet::default();
    projects.insert(String::new());
    for file in p.files {
        let (dir, name) = split(&file.path);
        if name == "__init__.py" || name == "__init__.pyi" {
            packages.insert(dir);
        }
        if PROJECT_FILES.contains(&name) {
            projects.insert(dir.to_string());
            for inner in ["src", "lib"] {
                projects.insert(join(dir, inner));
            }
        }
    }
    projects.insert("src".to_string());
    let mut roots: BTreeMap<String, SpaceIx> = BTreeMap::new();
    let mut placed: Vec<(String, Vec<String>, u32)> = Vec::new();
    for &file in p.own {
        let path = &p.files[file as usize].path;
        let (dir, name) = split(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let mut parts: Vec<String> = Vec::new();
        if stem != "__init__" {
            parts.push(stem.to_string());
        }
        let mut at = dir;
        while packages.contains(at) && !at.is_empty() {
            let (above, last) = split(at);
            parts.push(last.to_string());
            at = above;
        }
        if !packages.contains(dir) {
            // Not in a package: its directories below the source root count.
            while !at.is_empty() && !projects.contains(at) {
                let (above, last) = split(at);
                parts.push(last.to_string());
                at = above;
            }
        }
        parts.reverse();
        placed.push((at.to_string(), parts, file));
    }
    for (root, _, _) in &placed {
        roots.entry(root.clone()).or_insert(SpaceIx(0));
    }
    for (dir, space) in &mut roots {
        *space = p.root_at(dir);
    }
    for (root, parts, file) in placed {
        let mut space = roots[&root];
        for part in &parts {
            space = p.child(space, part);
        }
        let is_stub = p.files[file as usize].path.ends_with(".pyi");
        let is_taken = !p.spaces.get(space).files.is_empty();
        if is_stub && is_taken {
            let prefix = p.spaces.get(space).prefix.clone();
            space = p.detached(&prefix);
        }
        p.put(file, space);
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        name.to_string()
    } else {
        format!("{dir}/{name}")
    }
}
