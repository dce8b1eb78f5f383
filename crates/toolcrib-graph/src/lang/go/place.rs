//! Go's packages and modules.
//!
//! A package is the files of one directory that name it; `p_test` beside `p` is
//! a package of its own, and so is a `main` among another package's files. A
//! package is imported, and shown, by the path of the nearest `go.mod` above it
//! and its directory below that; without one by its directory alone. Each `go.mod`
//! has a root of its own, so that copies of a module import their own packages.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::facts::DefIx;
use crate::link::{Placement, SpaceIx};

pub(super) fn place(p: &mut Placement<'_>) {
    if p.own.is_empty() {
        return;
    }
    let mut modules: FxHashMap<String, String> = FxHashMap::default();
    for file in p.files {
        let (dir, name) = split(&file.path);
        if name == "go.mod"
            && let Some(module) = module_path(&file.text)
        {
            modules.insert(dir.to_string(), module);
        }
    }
    // Directory and package name to its files.
    let mut packages: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    for &file in p.own {
        let (dir, _) = split(&p.files[file as usize].path);
        let name = p.facts[file as usize]
            .def(DefIx::ROOT)
            .signature
            .as_deref()
            .and_then(|text| text.strip_prefix("package "))
            .unwrap_or_default();
        let key = (dir.to_string(), name.to_string());
        packages.entry(key).or_default().push(file);
    }
    let mut main_of: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for ((dir, name), files) in &packages {
        let is_test = files
            .iter()
            .all(|file| p.files[*file as usize].path.ends_with("_test.go"));
        let weight = if is_test || name.is_empty() {
            0
        } else if name == "main" {
            1
        } else {
            1 + files.len()
        };
        let best = main_of.entry(dir.clone()).or_insert((weight, name.clone()));
        if weight > best.0 {
            *best = (weight, name.clone());
        }
    }
    // A file that broke before saying its package is one of the directory's.
    let nameless: Vec<(String, String)> = packages
        .keys()
        .filter(|(_, name)| name.is_empty())
        .cloned()
        .collect();
    let mut adopted = Vec::new();
    for key in nameless {
        if let Some((_, main)) = main_of.get(&key.0).filter(|(_, main)| !main.is_empty()) {
            adopted.push((key, main.clone()));
        }
    }
    for (key, main) in adopted {
        if let Some(files) = packages.remove(&key) {
            packages.entry((key.0, main)).or_default().extend(files);
        }
    }
    for files in packages.values_mut() {
        files.sort_unstable();
    }
    let mut roots: BTreeMap<String, SpaceIx> = BTreeMap::new();
    let mut placed = Vec::new();
    for ((dir, name), files) in &packages {
        let path = import_path(&modules, dir);
        let is_main = main_of
            .get(dir.as_str())
            .is_some_and(|(_, main)| main == name);
        let shown = match (&path, is_main) {
            (path, true) if path.is_empty() => name.clone(),
            (path, true) => path.clone(),
            // `pkg_test` in the directory of `pkg`.
            (path, false) if name.ends_with("_test") && !path.is_empty() => format!("{path}_test"),
            (path, false) if path.is_empty() => name.clone(),
            (path, false) => format!("{path}/{name}"),
        };
        let module = module_dir(&modules, dir).unwrap_or_default();
        let root = *roots
            .entry(module.to_string())
            .or_insert_with(|| p.root_at(module));
        placed.push((root, path, is_main, shown, name.clone(), files.clone()));
    }
    for (root, path, is_main, shown, name, files) in placed {
        let space = p.detached(&shown);
        p.belong(space, root);
        p.say_name(space, &name);
        if is_main {
            p.attach(root, &path, space);
        }
        let mut files = files;
        files.sort_by_key(|file| order(&p.files[*file as usize].path, &name));
        for file in files {
            p.put(file, space);
        }
    }
}

/// The file that stands for a package comes first: `doc.go`, one of its name.
fn order(path: &str, package: &str) -> (u8, String) {
    let file = split(path).1;
    let stem = file.strip_suffix(".go").unwrap_or(file);
    let rank = match stem {
        "doc" => 0,
        _ if stem == package => 1,
        _ if stem.ends_with("_test") => 3,
        _ => 2,
    };
    (rank, path.to_string())
}

fn import_path(modules: &FxHashMap<String, String>, dir: &str) -> String {
    let Some((at, module)) = module_dir(modules, dir).and_then(|at| Some((at, modules.get(at)?)))
    else {
        return dir.to_string();
    };
    let below = dir[at.len()..].trim_start_matches('/');
    if below.is_empty() {
        module.clone()
    } else {
        format!("{module}/{below}")
    }
}

/// The nearest directory above with a `go.mod`.
fn module_dir<'d>(modules: &FxHashMap<String, String>, dir: &'d str) -> Option<&'d str> {
    let mut at = dir;
    loop {
        if modules.contains_key(at) {
            return Some(at);
        }
        if at.is_empty() {
            return None;
        }
        at = split(at).0;
    }
}

/// The path that a `go.mod` gives its module.
fn module_path(text: &str) -> Option<String> {
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line).trim();
        if let Some(path) = line.strip_prefix("module")
            && path.starts_with([' ', '\t'])
        {
            let path = path.trim().trim_matches(['"', '`']);
            return (!path.is_empty()).then(|| path.to_string());
        }
    }
    None
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
