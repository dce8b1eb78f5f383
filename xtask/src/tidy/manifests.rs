//! Floors, and what every manifest says.
//!
//! A crate uses those on lower floors, never beside or above. The table is the one
//! of `ARCHITECTURE.md`; a crate that is not in it is an error, so that it is
//! placed before it is used.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::Report;
use crate::repo::Repo;

/// The floor of each crate. Crates of the `DEV` floor may use any other and are
/// used only in tests.
const FLOORS: &[(&str, u8)] = &[
    ("toolcrib-core", 0),
    ("toolcrib-graph", 0),
    ("toolcrib-macros", 0),
    ("toolcrib-sandbox", 0),
    ("toolcrib-vectors", 0),
    ("toolcrib-encoder", 1),
    ("toolcrib-dispatch", 2),
    ("toolcrib-mcp", 2),
    ("toolcrib-models", 2),
    ("toolcrib-session", 2),
    ("toolcrib-surface", 2),
    ("toolcrib-tools", 2),
    ("toolcrib-agent", 3),
    ("toolcrib-gateway", 3),
    ("toolcrib-hook", 4),
    ("toolcrib-wiki", 4),
    ("toolcrib", 5),
    ("toolcrib-cli", 5),
    ("toolcrib-eval", 3),
    ("toolcrib-gate", DEV),
    ("toolcrib-testkit", DEV),
    ("xtask", DEV),
];

const DEV: u8 = u8::MAX;

/// Crates from elsewhere that only some of ours may use outside of tests.
const RESERVED: &[(&str, &[&str])] = &[
    (
        "rmcp",
        &["toolcrib-mcp", "toolcrib-gateway", "toolcrib-testkit"],
    ),
    ("reqwest", &["toolcrib-mcp", "toolcrib-models"]),
    (
        "rustls",
        &["toolcrib-cli", "toolcrib-mcp", "toolcrib-models"],
    ),
    ("clap", &["toolcrib-cli"]),
    ("clap_complete", &["toolcrib-cli"]),
    (
        "tokio",
        &[
            "toolcrib-agent",
            "toolcrib-cli",
            "toolcrib-dispatch",
            "toolcrib-gate",
            "toolcrib-gateway",
            "toolcrib-hook",
            "toolcrib-mcp",
            "toolcrib-models",
            "toolcrib-sandbox",
            "toolcrib-testkit",
            "toolcrib-wiki",
        ],
    ),
];

/// Features that the facade may have, the default one not counted.
const FACADE_FEATURES: usize = 6;

/// Checks all manifests.
pub(crate) fn check(repo: &Repo, report: &mut Report) {
    let mut parsed = BTreeMap::new();
    for (path, text) in repo.files() {
        // Workspaces of their own: what is measured beside this one, and samples.
        let apart = path.starts_with("bench/") || path.contains("/fixtures/");
        if path != "Cargo.toml" && !path.ends_with("/Cargo.toml") || apart {
            continue;
        }
        match text.parse::<Table>() {
            Ok(table) => {
                parsed.insert(path, table);
            }
            Err(error) => report.error(path, error.message()),
        }
    }
    for (path, manifest) in &parsed {
        match manifest.get("package") {
            Some(_) => package(repo, path, manifest, report),
            None => workspace(path, manifest, report),
        }
    }
}

fn workspace(path: &str, manifest: &Table, report: &mut Report) {
    for (name, dependency) in table(manifest, &["workspace", "dependencies"]) {
        let git = dependency.get("git").is_some();
        if git {
            report.error(
                path,
                format!("`{name}` comes from git; use a released version"),
            );
        }
    }
    for (keys, want) in [
        (
            &["workspace", "lints", "rust", "missing_docs"] as &[&str],
            "deny",
        ),
        (&["workspace", "lints", "clippy", "unwrap_used"], "deny"),
        (&["workspace", "lints", "clippy", "expect_used"], "deny"),
        (&["workspace", "lints", "clippy", "panic"], "deny"),
        (&["workspace", "lints", "clippy", "print_stdout"], "deny"),
        (&["workspace", "package", "license"], "MIT OR Apache-2.0"),
    ] {
        if get(manifest, keys).and_then(Value::as_str) != Some(want) {
            report.error(path, format!("`{}` must be {want:?}", keys.join(".")));
        }
    }
    if get(manifest, &["profile", "release", "strip"]) != Some(&Value::Boolean(true)) {
        report.error(path, "`profile.release.strip` must be true");
    }
}

fn package(repo: &Repo, path: &str, manifest: &Table, report: &mut Report) {
    let Some(name) = get(manifest, &["package", "name"]).and_then(Value::as_str) else {
        return report.error(path, "the package has no name");
    };
    inherited(path, manifest, report);
    targets(repo, path, name, manifest, report);
    let Some(floor) = floor(name) else {
        return report.error(
            path,
            format!("`{name}` has no floor; place it in the table of xtask/src/tidy/manifests.rs"),
        );
    };
    for (kind, dependencies) in dependencies(manifest) {
        let dev = kind == "dev-dependencies";
        for dependency in dependencies {
            below(path, name, floor, &dependency, dev, report);
            let reserved = RESERVED.iter().find(|(known, _)| *known == dependency);
            if let Some((_, allowed)) = reserved
                && !dev
                && !allowed.contains(&name)
            {
                report.error(
                    path,
                    format!(
                        "only {} may use `{dependency}` outside of tests",
                        allowed.join(", ")
                    ),
                );
            }
        }
    }
    let features = table(manifest, &["features"])
        .filter(|(feature, _)| *feature != "default")
        .count();
    if name == "toolcrib" && features > FACADE_FEATURES {
        report.error(
            path,
            format!("{features} features; at most {FACADE_FEATURES}"),
        );
    }
}

/// Whether this use of one of our crates is one of a lower floor.
fn below(path: &str, name: &str, floor: u8, used: &str, dev: bool, report: &mut Report) {
    let Some(below) = self::floor(used) else {
        if used.starts_with("toolcrib") {
            report.error(path, format!("`{used}` has no floor"));
        }
        return;
    };
    // What a macro writes names the facade, so its tests must.
    if dev && name == "toolcrib-macros" && used == "toolcrib" {
        return;
    }
    // Tests of one floor may hold two of its crates against each other.
    if dev && below == floor {
        return;
    }
    match (floor, below) {
        (DEV, _) => {}
        (_, DEV) if dev => {}
        (_, DEV) => report.error(path, format!("`{used}` may be used only in tests")),
        _ if below >= floor => report.error(
            path,
            format!("floor {floor} may not use `{used}` of floor {below}"),
        ),
        _ => {}
    }
}

fn inherited(path: &str, manifest: &Table, report: &mut Report) {
    for key in ["version", "edition", "rust-version", "license", "publish"] {
        if get(manifest, &["package", key, "workspace"]) != Some(&Value::Boolean(true)) {
            report.error(path, format!("write `{key}.workspace = true`"));
        }
    }
    if get(manifest, &["lints", "workspace"]) != Some(&Value::Boolean(true)) {
        report.error(path, "write `workspace = true` under `[lints]`");
    }
    let described = get(manifest, &["package", "description"]).and_then(Value::as_str);
    if described.is_none_or(str::is_empty) {
        report.error(path, "the package has no description");
    }
}

fn targets(repo: &Repo, path: &str, name: &str, manifest: &Table, report: &mut Report) {
    let folder = path.trim_end_matches("Cargo.toml");
    let benchless = |target: Option<&Value>| {
        target.and_then(|target| target.get("bench")) == Some(&Value::Boolean(false))
    };
    if repo.exists(&format!("{folder}src/lib.rs")) && !benchless(manifest.get("lib")) {
        report.error(path, "write `bench = false` under `[lib]`");
    }
    let none = Vec::new();
    let binaries = manifest
        .get("bin")
        .and_then(Value::as_array)
        .unwrap_or(&none);
    if repo.exists(&format!("{folder}src/main.rs")) && binaries.is_empty() {
        report.error(path, "write a `[[bin]]` section with `bench = false`");
    }
    for binary in binaries {
        if !benchless(Some(binary)) {
            report.error(path, "write `bench = false` under `[[bin]]`");
        }
        let collides = binary.get("name").and_then(Value::as_str) == Some("toolcrib");
        if collides && binary.get("doc") != Some(&Value::Boolean(false)) {
            report.error(
                path,
                format!("the binary of `{name}` is named like the library: write `doc = false`"),
            );
        }
    }
}

fn floor(name: &str) -> Option<u8> {
    FLOORS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, floor)| *floor)
}

/// The names of all dependencies by the section they stand in, those of targets
/// included.
fn dependencies(manifest: &Table) -> Vec<(&'static str, Vec<String>)> {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let places = table(manifest, &["target"]).filter_map(|(_, target)| target.as_table());
    let mut found = Vec::new();
    for place in std::iter::once(manifest).chain(places) {
        for kind in KINDS {
            let names = table(place, &[kind]).map(|(name, value)| {
                let package = value.get("package").and_then(Value::as_str);
                package.unwrap_or(name).to_owned()
            });
            found.push((kind, names.collect()));
        }
    }
    found
}

fn get<'a>(manifest: &'a Table, keys: &[&str]) -> Option<&'a Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter()
        .try_fold(manifest.get(*first)?, |value, key| value.get(key))
}

fn table<'a>(
    manifest: &'a Table,
    keys: &[&str],
) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
    get(manifest, keys)
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
}

#[cfg(test)]
mod tests;
