use super::*;

fn manifest(name: &str, rest: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\ndescription = \"Does it.\"\nversion.workspace = true\n\
         edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
         publish.workspace = true\n[lib]\nbench = false\n[lints]\nworkspace = true\n{rest}"
    )
}

fn found(text: &str) -> String {
    let repo = Repo::from([("crates/x/Cargo.toml", text), ("crates/x/src/lib.rs", "")]);
    let mut report = Report::default();
    check(&repo, &mut report);
    report.errors.join("\n")
}

fn finds(text: &str, what: &str) {
    let found = found(text);
    assert!(found.contains(what), "{what:?} is not in {found:?}");
}

#[test]
fn a_good_manifest_passes() {
    let rest = "[dependencies]\ntoolcrib-core.workspace = true\n[dev-dependencies]\n\
                toolcrib-testkit.workspace = true\ntokio.workspace = true";
    assert_eq!(found(&manifest("toolcrib-session", rest)), "");
}

#[test]
fn floors_hold_in_every_section() {
    for section in [
        "dependencies",
        "dev-dependencies",
        "build-dependencies",
        "target.'cfg(unix)'.dependencies",
    ] {
        for (name, used, why) in [
            (
                "toolcrib-core",
                "toolcrib-agent",
                "floor 0 may not use `toolcrib-agent` of floor 3",
            ),
            ("toolcrib-tools", "toolcrib-dispatch", "of floor 2"),
            ("toolcrib-core", "toolcrib-graph", "of floor 0"),
        ] {
            let rest = format!("[{section}]\n{used}.workspace = true");
            // Tests of one floor may hold two of its crates against each other.
            if section == "dev-dependencies" && !why.starts_with("floor 0 may not") {
                assert!(!found(&manifest(name, &rest)).contains("may not use"));
                continue;
            }
            finds(&manifest(name, &rest), why);
        }
    }
    let renamed = "[dependencies]\nwords = { package = \"toolcrib-agent\", path = \"../a\" }";
    finds(&manifest("toolcrib-core", renamed), "of floor 3");
}

#[test]
fn the_testkit_is_for_tests() {
    let rest = "[dependencies]\ntoolcrib-testkit.workspace = true";
    finds(
        &manifest("toolcrib-agent", rest),
        "`toolcrib-testkit` may be used only in tests",
    );
}

#[test]
fn a_crate_without_a_floor_is_refused() {
    finds(
        &manifest("toolcrib-new", ""),
        "`toolcrib-new` has no floor; place it",
    );
    let rest = "[dependencies]\ntoolcrib-new.workspace = true";
    finds(
        &manifest("toolcrib-cli", rest),
        "`toolcrib-new` has no floor",
    );
}

#[test]
fn protocols_and_runtimes_stay_in_their_crates() {
    for (name, used) in [
        ("toolcrib-agent", "reqwest"),
        ("toolcrib-models", "rmcp"),
        ("toolcrib-agent", "clap"),
        ("toolcrib-core", "tokio"),
    ] {
        let rest = format!("[dependencies]\n{used} = \"1\"");
        finds(
            &manifest(name, &rest),
            &format!("may use `{used}` outside of tests"),
        );
    }
}

#[test]
fn manifests_inherit_what_the_workspace_says() {
    let good = manifest("toolcrib-core", "");
    for (line, complaint) in [
        (
            "version.workspace = true",
            "write `version.workspace = true`",
        ),
        (
            "publish.workspace = true",
            "write `publish.workspace = true`",
        ),
        ("workspace = true", "under `[lints]`"),
        ("bench = false", "`bench = false` under `[lib]`"),
        ("description = \"Does it.\"", "no description"),
    ] {
        let without = good.replacen(&format!("\n{line}"), "\n", 1);
        assert_ne!(without, good, "{line}");
        finds(&without, complaint);
    }
}

#[test]
fn binaries_are_neither_benched_nor_documented_over_the_library() {
    let binary = "[[bin]]\nname = \"toolcrib\"\npath = \"src/main.rs\"";
    let text = manifest("toolcrib-cli", binary);
    finds(&text, "`bench = false` under `[[bin]]`");
    finds(&text, "write `doc = false`");
}

#[test]
fn the_facade_has_few_features() {
    let features: String = ('a'..='g').map(|f| format!("{f} = []\n")).collect();
    finds(
        &manifest("toolcrib", &format!("[features]\n{features}")),
        "7 features; at most 6",
    );
}

#[test]
fn the_workspace_keeps_its_lints_and_takes_nothing_from_git() {
    let text = "[workspace.dependencies]\na = { git = \"https://example.org/a\" }\n\
                [workspace.lints.clippy]\nunwrap_used = \"warn\"";
    finds(text, "`a` comes from git");
    finds(
        text,
        "`workspace.lints.clippy.unwrap_used` must be \"deny\"",
    );
    finds(text, "`profile.release.strip` must be true");
}
