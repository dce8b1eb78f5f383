//! The same names in several source roots: a file means its own.

use toolcrib_graph::{CodeGraph, EdgeKind, SiteState};

use crate::support::{load, sites, tree};

/// The files of the candidates of one call, or `-` for another state.
fn called(graph: &CodeGraph, file: &str, callee: &str) -> String {
    let site = graph
        .sites()
        .iter()
        .find(|s| &*graph.file(s.file).path == file && &*s.callee == callee)
        .unwrap_or_else(|| panic!("{file} {callee}\n{}", sites(graph)));
    let path = |id: &_| graph.file(graph.node(*id).file).path.to_string();
    match &site.state {
        SiteState::Resolved { target, .. } => path(target),
        SiteState::Ambiguous { candidates } => {
            candidates.iter().map(path).collect::<Vec<_>>().join(" or ")
        }
        _ => "-".to_string(),
    }
}

/// The files that the imports of a file lead to.
fn imported(graph: &CodeGraph, file: &str) -> Vec<String> {
    let mut found: Vec<String> = graph
        .edges()
        .iter()
        .filter(|e| e.kind == EdgeKind::Imports)
        .filter(|e| &*graph.file(graph.node(e.from).file).path == file)
        .map(|e| graph.file(graph.node(e.to).file).path.to_string())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Every call site is in exactly one state and its edges agree with it.
fn adds_up(graph: &CodeGraph) {
    let resolved = |s: &&toolcrib_graph::CallSite| matches!(s.state, SiteState::Resolved { .. });
    let sites = graph.sites().iter().filter(resolved).count();
    let counted: u32 = graph
        .edges()
        .iter()
        .filter(|e| e.kind == EdgeKind::Calls)
        .map(|e| e.count)
        .sum();
    assert_eq!(counted as usize, sites);
}

const LISTS: &str = "\
package org.util;
public class Lists {
    public static int size() { return Checks.positive(1); }
    public static int twice() { return org.util.text.Words.count(); }
}
";
const CHECKS: &str = "\
package org.util;
public class Checks {
    public static int positive(int value) { return value; }
    public static int positive(int value, String why) { return value; }
}
";
const WORDS: &str = "\
package org.util.text;
import org.util.Lists;
import static org.util.Checks.positive;
public class Words extends Base {
    public static int count() { return 1; }
    public int all() { return Lists.size() + positive(2) + base(); }
}
class Base {
    int base() { return 0; }
}
";
const USE: &str = "\
package org.app;
import org.util.*;
public class Use {
    int use() { return Lists.size() + Checks.positive(1, \"x\"); }
}
";

#[test]
fn java_flavours_call_their_own_copy() {
    let mut files = Vec::new();
    for root in ["android/core/src", "core/src"] {
        for (path, text) in [
            ("org/util/Lists.java", LISTS),
            ("org/util/Checks.java", CHECKS),
            ("org/util/text/Words.java", WORDS),
        ] {
            files.push((format!("{root}/{path}"), text));
        }
    }
    // Beside one flavour, below neither, and beside both.
    for user in ["android/tests/org/app", "core/tests/org/app", "org/app"] {
        files.push((format!("{user}/Use.java"), USE));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), *t)).collect();
    let dir = tree(&files);
    let graph = load(dir.path()).graph;
    for root in ["android/core/src", "core/src"] {
        let own = |path: &str| format!("{root}/org/util/{path}");
        let from = own("Lists.java");
        // In the same package, by a full name, by import, from a base.
        assert_eq!(
            called(&graph, &from, "Checks.positive"),
            own("Checks.java"),
            "{}",
            sites(&graph)
        );
        let words = own("text/Words.java");
        assert_eq!(
            called(&graph, &from, "org.util.text.Words.count"),
            words.clone()
        );
        assert_eq!(called(&graph, &words, "Lists.size"), from);
        assert_eq!(called(&graph, &words, "positive"), own("Checks.java"));
        assert_eq!(called(&graph, &words, "base"), words.clone());
        assert_eq!(imported(&graph, &words), [own("Checks.java"), from]);
    }
    for (user, root) in [
        ("android/tests", "android/core/src"),
        ("core/tests", "core/src"),
    ] {
        let user = format!("{user}/org/app/Use.java");
        assert_eq!(
            called(&graph, &user, "Lists.size"),
            format!("{root}/org/util/Lists.java")
        );
        assert_eq!(
            called(&graph, &user, "Checks.positive"),
            format!("{root}/org/util/Checks.java")
        );
    }
    // Beside both it is not the one below a further directory.
    assert_eq!(
        called(&graph, "org/app/Use.java", "Lists.size"),
        "core/src/org/util/Lists.java"
    );
    adds_up(&graph);
}

#[test]
fn java_overloads_and_tests_share_a_root_or_a_package() {
    let dir = tree(&[
        (
            "src/main/java/a/Tool.java",
            "package a;\nclass Tool {\n  void run(int x) {}\n  void run(String x) {}\n}\n",
        ),
        (
            "src/test/java/a/ToolTest.java",
            "package a;\nclass ToolTest {\n  void t() { new Tool().run(1); }\n}\n",
        ),
    ]);
    let graph = load(dir.path()).graph;
    let run = called(&graph, "src/test/java/a/ToolTest.java", "new Tool().run");
    let main = "src/main/java/a/Tool.java";
    assert_eq!(run, format!("{main} or {main}"));
}

#[test]
fn python_copies_import_their_own_or_the_nearest() {
    let package = [
        ("pkg/__init__.py", "from pkg.core import start\n"),
        ("pkg/core.py", "def start(): pass\n"),
        (
            "pkg/use.py",
            "import pkg.core\nfrom pkg import start\n\ndef f():\n    start()\n    pkg.core.start()\n",
        ),
    ];
    let user =
        "from pkg.core import start\nimport pkg\n\ndef f():\n    start()\n    pkg.core.start()\n";
    let mut files = vec![
        ("build/tests/check_it.py".to_string(), user),
        ("tests/check_it.py".to_string(), user),
    ];
    for root in ["build/lib", "src"] {
        for (path, text) in package {
            files.push((format!("{root}/{path}"), text));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), *t)).collect();
    let dir = tree(&files);
    let graph = load(dir.path()).graph;
    for root in ["build/lib", "src"] {
        let (from, to) = (format!("{root}/pkg/use.py"), format!("{root}/pkg/core.py"));
        assert_eq!(called(&graph, &from, "start"), to, "{}", sites(&graph));
        assert_eq!(called(&graph, &from, "pkg.core.start"), to);
    }
    for callee in ["start", "pkg.core.start"] {
        assert_eq!(
            called(&graph, "build/tests/check_it.py", callee),
            "build/lib/pkg/core.py"
        );
        // As far from one as from the other.
        assert_eq!(
            called(&graph, "tests/check_it.py", callee),
            "build/lib/pkg/core.py or src/pkg/core.py",
            "{}",
            sites(&graph)
        );
    }
    adds_up(&graph);
}

#[test]
fn go_modules_of_one_path_import_their_own_packages() {
    let module = "module example.com/m\n";
    let tool = "package tool\n\nfunc Run() {}\n";
    let app = "package app\n\nimport \"example.com/m/tool\"\n\nfunc Start() { tool.Run() }\n";
    let other = "package other\n\nimport \"example.com/m/tool\"\n\nfunc Start() { tool.Run() }\n";
    let dir = tree(&[
        ("a/v1/go.mod", module),
        ("a/v1/tool/tool.go", tool),
        ("a/v1/app/app.go", app),
        ("b/v2/go.mod", module),
        ("b/v2/tool/tool.go", tool),
        ("b/v2/app/app.go", app),
        ("b/near/go.mod", "module example.com/near\n"),
        ("b/near/near.go", other),
        ("far/go.mod", "module example.com/far\n"),
        ("far/far.go", other),
    ]);
    let graph = load(dir.path()).graph;
    for (from, to) in [
        ("a/v1/app/app.go", "a/v1/tool/tool.go"),
        ("b/v2/app/app.go", "b/v2/tool/tool.go"),
        ("b/near/near.go", "b/v2/tool/tool.go"),
        ("far/far.go", "a/v1/tool/tool.go or b/v2/tool/tool.go"),
    ] {
        assert_eq!(called(&graph, from, "tool.Run"), to, "{}", sites(&graph));
    }
    adds_up(&graph);
}

#[test]
fn typescript_packages_of_one_name_import_the_nearest() {
    let manifest = r#"{"name": "kit", "main": "src/index.ts"}"#;
    let index = "export function run() {}\n";
    let user = "import { run } from 'kit';\nexport function f() { run(); }\n";
    let dir = tree(&[
        ("v1/kit/package.json", manifest),
        ("v1/kit/src/index.ts", index),
        ("v1/kit/src/self.ts", user),
        ("v1/app/package.json", r#"{"name": "app"}"#),
        ("v1/app/main.ts", user),
        ("v2/kit/package.json", manifest),
        ("v2/kit/src/index.ts", index),
        ("v2/kit/src/self.ts", user),
        ("v2/app/package.json", r#"{"name": "app"}"#),
        ("v2/app/main.ts", user),
    ]);
    let graph = load(dir.path()).graph;
    for version in ["v1", "v2"] {
        for from in ["kit/src/self.ts", "app/main.ts"] {
            let from = format!("{version}/{from}");
            assert_eq!(
                called(&graph, &from, "run"),
                format!("{version}/kit/src/index.ts"),
                "{}",
                sites(&graph)
            );
        }
    }
    adds_up(&graph);
}
