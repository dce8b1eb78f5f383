//! Where the modules that imports name are.
//!
//! Every file is a module. What it imports is looked up the way the common
//! tools do: relative paths with extensions and `index` files tried, `.js`
//! standing for `.ts`; `paths` and `baseUrl` of the nearest `tsconfig.json`; and
//! the packages of the repository itself by the `name` and `exports` of their
//! `package.json`. A relative path that leads nowhere is a module without
//! members, anything else is another package.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::language::{language_name, language_of_file};
use crate::link::{Placement, SpaceIx, leading};
use crate::model::NodeKind;
use crate::scan::SourceFile;

/// Tried in this order after a path without extension.
const EXTENSIONS: &[&str] = &[
    "ts", "tsx", "mts", "cts", "d.ts", "js", "jsx", "mjs", "cjs", "d.mts", "d.cts",
];

/// What an extension of an import stands for.
const COMPILED: &[(&str, &[&str])] = &[
    (".js", &["ts", "tsx", "d.ts"]),
    (".jsx", &["tsx"]),
    (".mjs", &["mts", "d.mts"]),
    (".cjs", &["cts", "d.cts"]),
];

/// Directories that a build writes, whose sources are elsewhere.
const BUILT: &[&str] = &["dist", "lib", "build", "out", "esm", "cjs", "es"];

pub(super) fn place(p: &mut Placement<'_>) {
    let own: Vec<u32> = (0u32..)
        .zip(p.files)
        .filter(|(_, file)| is_script(language_of_file(file)))
        .map(|(i, _)| i)
        .collect();
    if own.is_empty() {
        return;
    }
    let mut space_of: FxHashMap<u32, SpaceIx> = FxHashMap::default();
    let mut imports_of: Vec<SpaceIx> = Vec::with_capacity(own.len());
    for &file in &own {
        // Around each module is what it can import, by the words it uses.
        let around = p.detached(&without_extension(&p.files[file as usize].path));
        let space = p.detached(&without_extension(&p.files[file as usize].path));
        p.within(around, "", space);
        p.put(file, space);
        space_of.insert(file, space);
        imports_of.push(around);
        for (i, def) in (0u32..).zip(&p.facts[file as usize].defs) {
            if def.kind == NodeKind::Module {
                let inner = p.detached("");
                p.open(file, crate::facts::DefIx(i), inner);
            }
        }
    }
    let project = Project::new(p.files, p.by_path);
    for (&file, &around) in own.iter().zip(&imports_of) {
        let facts = &p.facts[file as usize];
        let path = &p.files[file as usize].path;
        for import in &facts.imports {
            let Some(first) = import.path.first() else {
                continue;
            };
            let from = facts.name(*first).to_string();
            if p.spaces.get(around).children.contains_key(&from) {
                continue;
            }
            match project.resolve(path, &from) {
                Some(target) => p.attach(around, &from, space_of[&target]),
                None if from.starts_with('.') => {
                    let nowhere = p.detached(&from);
                    p.attach(around, &from, nowhere);
                }
                None => {}
            }
        }
    }
}

fn is_script(language: Option<&str>) -> bool {
    matches!(language, Some("TypeScript" | "JavaScript"))
}

/// The path as a module's name.
fn without_extension(path: &str) -> String {
    let (dir, name) = split(path);
    let stem = EXTENSIONS
        .iter()
        .filter_map(|extension| name.strip_suffix(extension)?.strip_suffix('.'))
        .min_by_key(|stem| stem.len())
        .filter(|stem| !stem.is_empty())
        .unwrap_or(name);
    join(dir, stem)
}

/// One package of the repository.
struct Package {
    dir: String,
    manifest: Value,
}

/// Aliases of paths below a directory.
struct Config {
    dir: String,
    /// Directory that plain paths start from.
    base: Option<String>,
    /// Before and after the star, and what they stand for.
    paths: Vec<(String, Option<String>, Vec<String>)>,
}

struct Project<'a> {
    by_path: &'a FxHashMap<&'a str, u32>,
    /// In path order; copies of a package share its name.
    packages: FxHashMap<String, Vec<Package>>,
    /// Deepest directory first.
    configs: Vec<Config>,
}

impl<'a> Project<'a> {
    fn new(files: &[SourceFile], by_path: &'a FxHashMap<&'a str, u32>) -> Self {
        let mut packages: FxHashMap<String, Vec<Package>> = FxHashMap::default();
        let mut configs = Vec::new();
        for file in files {
            let (dir, name) = split(&file.path);
            if name == "package.json" {
                let Ok(manifest) = serde_json::from_str::<Value>(&file.text) else {
                    continue;
                };
                if let Some(name) = manifest.get("name").and_then(Value::as_str) {
                    packages.entry(name.to_string()).or_default().push(Package {
                        dir: dir.to_string(),
                        manifest,
                    });
                }
            } else if name == "tsconfig.json"
                || name == "jsconfig.json"
                || name == "tsconfig.base.json"
            {
                configs.extend(Config::read(dir, &file.text));
            }
        }
        configs.sort_by_key(|config| Reverse(config.dir.len()));
        Project {
            by_path,
            packages,
            configs,
        }
    }

    /// The file that `from` names in the file at `path`.
    fn resolve(&self, path: &str, from: &str) -> Option<u32> {
        if from.is_empty() {
            return None;
        }
        let (dir, _) = split(path);
        if from.starts_with('.') {
            return self.probe(&normal(dir, from)?);
        }
        for config in self.configs.iter().filter(|config| is_in(dir, &config.dir)) {
            for target in config.targets(from) {
                if let Some(found) = normal("", &target).and_then(|path| self.probe(&path)) {
                    return Some(found);
                }
            }
        }
        self.in_packages(path, from)
    }

    fn in_packages(&self, path: &str, from: &str) -> Option<u32> {
        let mut cuts = from.match_indices('/').map(|(at, _)| at);
        let first = cuts.next();
        let cut = if from.starts_with('@') {
            cuts.next()
        } else {
            first
        };
        let (name, inner) = match cut {
            Some(at) => (&from[..at], &from[at + 1..]),
            None => (from, ""),
        };
        // The package around the file, else the nearest copy.
        let (dir, _) = split(path);
        let mut copies: Vec<&Package> = self.packages.get(name)?.iter().collect();
        copies.sort_by_key(|p| (!is_in(dir, &p.dir), Reverse(leading(path, &p.dir))));
        copies
            .into_iter()
            .find_map(|package| self.in_manifest(package, inner))
    }

    fn in_manifest(&self, package: &Package, inner: &str) -> Option<u32> {
        let mut targets = Vec::new();
        let key = if inner.is_empty() {
            ".".to_string()
        } else {
            format!("./{inner}")
        };
        if let Some(exports) = package.manifest.get("exports") {
            match exports.get(&key) {
                Some(entry) => strings(entry, &mut targets, 0),
                None if inner.is_empty() && exports.get(".").is_none() => {
                    strings(exports, &mut targets, 0);
                }
                None => {}
            }
        }
        if inner.is_empty() {
            for field in ["source", "module", "main", "types", "typings"] {
                if let Some(target) = package.manifest.get(field).and_then(Value::as_str) {
                    targets.push(target.to_string());
                }
            }
            for target in ["src/index", "src/main", "index", "lib/index"] {
                targets.push(target.to_string());
            }
        } else {
            targets.push(inner.to_string());
            targets.push(format!("src/{inner}"));
        }
        targets
            .iter()
            .find_map(|target| self.in_package(&package.dir, target))
    }

    /// A file of a package, or the source that it is built from.
    fn in_package(&self, dir: &str, target: &str) -> Option<u32> {
        let target = target.trim_start_matches("./");
        if let Some(found) = normal(dir, target).and_then(|path| self.probe(&path)) {
            return Some(found);
        }
        let (first, rest) = target.split_once('/')?;
        if !BUILT.contains(&first) {
            return None;
        }
        let rest = match rest.split_once('/') {
            Some((format, rest)) if BUILT.contains(&format) => rest,
            _ => rest,
        };
        normal(dir, &format!("src/{rest}")).and_then(|path| self.probe(&path))
    }

    /// A script at a path, with what may be left out of it.
    fn probe(&self, path: &str) -> Option<u32> {
        let is_script = |path: &str| is_script(language_name(path));
        let file = |path: &str| self.by_path.get(path).copied().filter(|_| is_script(path));
        if let Some(found) = file(path) {
            return Some(found);
        }
        for (compiled, sources) in COMPILED {
            let stem = path.strip_suffix(compiled).or_else(|| {
                // Declarations are built from sources of the same name.
                path.strip_suffix(".d.ts").filter(|_| *compiled == ".js")
            });
            if let Some(stem) = stem {
                for extension in *sources {
                    if let Some(found) = file(&format!("{stem}.{extension}")) {
                        return Some(found);
                    }
                }
            }
        }
        for extension in EXTENSIONS {
            if let Some(found) = file(&format!("{path}.{extension}")) {
                return Some(found);
            }
        }
        EXTENSIONS
            .iter()
            .find_map(|extension| file(&join(path, &format!("index.{extension}"))))
    }
}

impl Config {
    fn read(dir: &str, text: &str) -> Option<Config> {
        let value: Value = serde_json::from_str(&plain_json(text)).ok()?;
        let options = value.get("compilerOptions")?;
        let base = options.get("baseUrl").and_then(Value::as_str);
        let root = normal(dir, base.unwrap_or("."))?;
        let mut paths = Vec::new();
        if let Some(map) = options.get("paths").and_then(Value::as_object) {
            for (pattern, targets) in map {
                let targets: Vec<String> = targets
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(|target| join(&root, target))
                    .collect();
                let (before, after) = match pattern.split_once('*') {
                    Some((before, after)) => (before.to_string(), Some(after.to_string())),
                    None => (pattern.clone(), None),
                };
                paths.push((before, after, targets));
            }
        }
        // The longest prefix is tried first.
        paths.sort_by_key(|(before, _, _)| std::cmp::Reverse(before.len()));
        let base = base.map(|_| root);
        if base.is_none() && paths.is_empty() {
            return None;
        }
        Some(Config {
            dir: dir.to_string(),
            base,
            paths,
        })
    }

    fn targets(&self, from: &str) -> Vec<String> {
        let mut out = Vec::new();
        for (before, after, targets) in &self.paths {
            let star = match after {
                Some(after) => from
                    .strip_prefix(before.as_str())
                    .and_then(|rest| rest.strip_suffix(after.as_str())),
                None => (from == before).then_some(""),
            };
            if let Some(star) = star {
                out.extend(targets.iter().map(|target| target.replacen('*', star, 1)));
            }
        }
        if let Some(base) = &self.base {
            out.push(join(base, from));
        }
        out
    }
}

/// Every path among the conditions of an export.
fn strings(value: &Value, out: &mut Vec<String>, depth: u32) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Object(map) if depth < 6 => {
            for inner in map.values() {
                strings(inner, out, depth + 1);
            }
        }
        Value::Array(all) if depth < 6 => {
            for inner in all {
                strings(inner, out, depth + 1);
            }
        }
        _ => {}
    }
}

/// JSON without the comments and last commas that configurations may have.
fn plain_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            match c {
                '\\' => out.extend(chars.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match (c, chars.peek()) {
            ('"', _) => {
                in_string = true;
                out.push(c);
            }
            ('/', Some('/')) => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
            }
            ('/', Some('*')) => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            ('}' | ']', _) => {
                let kept = out.trim_end().len();
                if out[..kept].ends_with(',') {
                    out.truncate(kept - 1);
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A path from a directory without `.` and `..`; `None` above the top.
fn normal(dir: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn is_in(dir: &str, outer: &str) -> bool {
    outer.is_empty()
        || dir == outer
        || dir
            .strip_prefix(outer)
            .is_some_and(|rest| rest.starts_with('/'))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_by_their_path_without_extension() {
        for (path, expected) in [
            ("src/a.ts", "src/a"),
            ("a.d.ts", "a"),
            ("a.test.tsx", "a.test"),
            ("dir/.js", "dir/.js"),
        ] {
            assert_eq!(without_extension(path), expected);
        }
    }

    #[test]
    fn configurations_may_have_comments_and_last_commas() {
        let text = "{ // one\n \"a\": [1, 2, /* , */ ],\n \"b\": \"// no\", }";
        let value: Value = serde_json::from_str(&plain_json(text)).unwrap();
        assert_eq!(value["b"], "// no");
        assert_eq!(value["a"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn paths_never_leave_the_repository() {
        assert_eq!(normal("a/b", "../c/./d"), Some("a/c/d".to_string()));
        assert_eq!(normal("a", "../../c"), None);
    }
}
