//! Rust's crates and modules.
//!
//! Crate roots come from the manifests (package, `[lib]`, `[[bin]]`, and the
//! conventional places); modules follow the `mod` declarations from there.
//! Tests, examples and benches are crates of their own and are shown below the
//! package they belong to, since their bare names repeat across a workspace.
//! Files that no declaration reaches are placed by their path.

use rustc_hash::FxHashMap;

use crate::facts::{DefIx, FileFacts};
use crate::link::{Placement, SpaceIx};
use crate::model::NodeKind;

/// What a manifest says that matters for names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) package: Option<String>,
    pub(super) lib_name: Option<String>,
    pub(super) lib_path: Option<String>,
    /// (section, name, path) of `[[bin]]`, `[[test]]`, `[[example]]`, `[[bench]]`.
    pub(super) targets: Vec<(String, Option<String>, Option<String>)>,
    /// Dependencies used under another name: (local, package).
    pub(super) renamed: Vec<(String, String)>,
}

/// Reads the few keys that matter; what it does not understand it skips.
pub(super) fn read_manifest(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut section = String::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(inner) = line.strip_prefix('[') {
            section = inner
                .trim_matches(['[', ']', ' '])
                .split(']')
                .next()
                .unwrap_or("")
                .to_string();
            if line.starts_with("[[") {
                manifest.targets.push((section.clone(), None, None));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let (key, value) = (key.trim().trim_matches('"'), value.trim());
        let quoted = value.split('"').nth(1).map(str::to_string);
        match (section.as_str(), key) {
            ("package", "name") => manifest.package = quoted,
            ("lib", "name") => manifest.lib_name = quoted,
            ("lib", "path") => manifest.lib_path = quoted,
            ("bin" | "test" | "example" | "bench", "name" | "path") => {
                if let Some(target) = manifest.targets.last_mut() {
                    if key == "name" {
                        target.1 = quoted;
                    } else {
                        target.2 = quoted;
                    }
                }
            }
            (section, key) if section.contains("dependencies") => {
                let named = section.rsplit_once("dependencies.").map(|(_, name)| name);
                if let (Some(local), "package", Some(package)) = (named, key, &quoted) {
                    manifest.renamed.push((local.to_string(), package.clone()));
                } else if let Some((_, rest)) = value.split_once("package")
                    && let Some(package) = rest.split('"').nth(1)
                {
                    manifest
                        .renamed
                        .push((key.to_string(), package.to_string()));
                }
            }
            _ => {}
        }
    }
    manifest
}

struct CrateRoot {
    file: u32,
    space: SpaceIx,
}

pub(super) fn place(p: &mut Placement<'_>) {
    if p.own.is_empty() {
        return;
    }
    let root = p.root();
    let mut crates: Vec<CrateRoot> = Vec::new();
    let mut lib_of: FxHashMap<String, SpaceIx> = FxHashMap::default();
    let mut renamed: Vec<(String, String)> = Vec::new();
    // (directory, prefix) of the packages, for files that nothing reaches.
    let mut packages: Vec<(String, String)> = Vec::new();
    for i in 0..p.files.len() {
        let path = p.files[i].path.clone();
        let dir = match path.strip_suffix("Cargo.toml") {
            Some(dir) if dir.is_empty() || dir.ends_with('/') => dir.trim_end_matches('/'),
            _ => continue,
        };
        let manifest = read_manifest(&p.files[i].text);
        renamed.extend(manifest.renamed.iter().cloned());
        let Some(package) = manifest.package.clone() else {
            continue;
        };
        let lib_name = manifest
            .lib_name
            .clone()
            .unwrap_or_else(|| package.replace('-', "_"));
        let lib_path = manifest.lib_path.as_deref().unwrap_or("src/lib.rs");
        let mut prefix = package.replace('-', "_");
        if let Some(&file) = p.by_path.get(below(dir, lib_path).as_str()) {
            let space = p.child(root, &lib_name);
            lib_of.insert(package.clone(), space);
            crates.push(CrateRoot { file, space });
            prefix = lib_name;
        }
        packages.push((dir.to_string(), prefix.clone()));
        for (kind, name, path) in &manifest.targets {
            let guess = name.as_ref().map(|name| match kind.as_str() {
                "bin" => format!("src/bin/{name}.rs"),
                "test" => format!("tests/{name}.rs"),
                "example" => format!("examples/{name}.rs"),
                _ => format!("benches/{name}.rs"),
            });
            let mut found = None;
            for path in path.iter().chain(guess.iter()) {
                found = found.or_else(|| p.by_path.get(below(dir, path).as_str()).copied());
            }
            if found.is_none() && kind == "bin" {
                found = p.by_path.get(below(dir, "src/main.rs").as_str()).copied();
            }
            let Some(file) = found else {
                continue;
            };
            let name = name
                .clone()
                .unwrap_or_else(|| stem(&p.files[file as usize].path));
            let name = name.replace('-', "_");
            let shown = match kind.as_str() {
                "bin" => name,
                "test" => format!("{prefix}::tests::{name}"),
                "example" => format!("{prefix}::examples::{name}"),
                _ => format!("{prefix}::benches::{name}"),
            };
            let space = p.detached(&shown);
            crates.push(CrateRoot { file, space });
        }
        conventional(p, dir, &prefix, &package, &mut crates);
    }
    for (local, package) in renamed {
        if let Some(space) = lib_of.get(&package) {
            p.attach(root, &local.replace('-', "_"), *space);
        }
    }
    for CrateRoot { file, space } in crates {
        if p.is_placed(file) {
            continue;
        }
        let dir = directory(&p.files[file as usize].path).to_string();
        follow(p, file, space, dir);
    }
    let own: Vec<u32> = p.own.to_vec();
    // Shallow files first, so that what they declare is placed by declaration.
    let mut left: Vec<u32> = own.into_iter().filter(|f| !p.is_placed(*f)).collect();
    left.sort_by_key(|f| (p.files[*f as usize].path.matches('/').count(), *f));
    for file in left {
        if !p.is_placed(file) {
            let prefix = by_path(&p.files[file as usize].path, &packages);
            let space = p.detached(&prefix);
            let dir = child_dir(&p.files[file as usize].path);
            follow(p, file, space, dir);
        }
    }
}

/// Targets that need no mention in the manifest.
fn conventional(
    p: &mut Placement<'_>,
    dir: &str,
    prefix: &str,
    package: &str,
    crates: &mut Vec<CrateRoot>,
) {
    let mut add = |p: &mut Placement<'_>, file: u32, shown: &str| {
        if !crates.iter().any(|c| c.file == file) {
            let space = p.detached(shown);
            crates.push(CrateRoot { file, space });
        }
    };
    if let Some(&file) = p.by_path.get(below(dir, "src/main.rs").as_str()) {
        add(p, file, &package.replace('-', "_"));
    }
    if let Some(&file) = p.by_path.get(below(dir, "build.rs").as_str()) {
        add(p, file, &format!("{prefix}::build_script"));
    }
    let places = [
        ("src/bin", ""),
        ("tests", "tests::"),
        ("examples", "examples::"),
        ("benches", "benches::"),
    ];
    for (folder, word) in places {
        let folder = below(dir, folder);
        for i in 0..p.own.len() {
            let file = p.own[i];
            let path = p.files[file as usize].path.clone();
            let Some(rest) = path.strip_prefix(folder.as_str()) else {
                continue;
            };
            let Some(rest) = rest.strip_prefix('/') else {
                continue;
            };
            let name = match rest.split_once('/') {
                None => rest.strip_suffix(".rs"),
                Some((name, "main.rs")) => Some(name),
                Some(_) => None,
            };
            let Some(name) = name else { continue };
            let name = name.replace('-', "_");
            let shown = if word.is_empty() {
                name
            } else {
                format!("{prefix}::{word}{name}")
            };
            add(p, file, &shown);
        }
    }
}

/// Places a file and the modules it declares, without recursion.
fn follow(p: &mut Placement<'_>, file: u32, space: SpaceIx, dir: String) {
    let mut todo = vec![(file, space, dir)];
    while let Some((file, space, dir)) = todo.pop() {
        if p.is_placed(file) {
            continue;
        }
        p.put(file, space);
        let facts: &FileFacts = &p.facts[file as usize];
        let mut inner: FxHashMap<DefIx, (SpaceIx, String)> = FxHashMap::default();
        inner.insert(DefIx::ROOT, (space, dir));
        for (i, def) in facts.defs.iter().enumerate() {
            if def.kind != NodeKind::Module {
                continue;
            }
            let ix = DefIx(i as u32);
            let mut parent = def.parent;
            while !inner.contains_key(&parent) {
                parent = facts.def(parent).parent;
            }
            let (above, dir) = inner[&parent].clone();
            let name = facts.name(def.name).clone();
            let space = p.child(above, &name);
            p.open(file, ix, space);
            match facts.submodules.iter().find(|s| s.def == ix) {
                None => {
                    inner.insert(ix, (space, below(&dir, &name)));
                }
                Some(declared) => {
                    let mut found = None;
                    if let Some(path) = &declared.path {
                        let here = directory(&p.files[file as usize].path);
                        let target = resolve(here, path);
                        found = p.by_path.get(target.as_str()).copied();
                    }
                    let plain = below(&dir, &format!("{name}.rs"));
                    let nested = below(&dir, &format!("{name}/mod.rs"));
                    for candidate in [plain, nested] {
                        found = found.or_else(|| p.by_path.get(candidate.as_str()).copied());
                    }
                    if let Some(found) = found {
                        let dir = child_dir(&p.files[found as usize].path);
                        todo.push((found, space, dir));
                    }
                }
            }
        }
    }
}

/// Where the modules that a file declares are looked for.
fn child_dir(path: &str) -> String {
    let dir = directory(path);
    let name = stem(path);
    if matches!(name.as_str(), "mod" | "lib" | "main") {
        dir.to_string()
    } else {
        below(dir, &name)
    }
}

fn by_path(path: &str, packages: &[(String, String)]) -> String {
    let package = packages
        .iter()
        .filter(|(dir, _)| {
            dir.is_empty()
                || path
                    .strip_prefix(dir.as_str())
                    .is_some_and(|r| r.starts_with('/'))
        })
        .max_by_key(|(dir, _)| dir.len());
    let (rest, mut parts) = match package {
        Some((dir, prefix)) => (
            path[dir.len()..].trim_start_matches('/'),
            vec![prefix.clone()],
        ),
        None => (path, Vec::new()),
    };
    let rest = rest.strip_suffix(".rs").unwrap_or(rest);
    let mut names: Vec<&str> = rest.split('/').filter(|part| *part != "src").collect();
    if matches!(names.last(), Some(&"mod" | &"lib" | &"main")) && names.len() + parts.len() > 1 {
        names.pop();
    }
    parts.extend(names.into_iter().map(|name| name.replace(['-', '.'], "_")));
    parts.join("::")
}

/// Follows `..` in a path attribute.
fn resolve(dir: &str, path: &str) -> String {
    let mut parts: Vec<&str> = dir.split('/').filter(|p| !p.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".rs").unwrap_or(name).to_string()
}

fn below(dir: &str, path: &str) -> String {
    if dir.is_empty() {
        path.to_string()
    } else {
        format!("{dir}/{path}")
    }
}
