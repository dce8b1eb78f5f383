//! A library's method that shares its name with a project's is never an edge.

use toolcrib_graph::{CodeGraph, EdgeKind, SiteState};

use crate::support::{fixture, load, sites, tree};

fn callers(graph: &CodeGraph, name: &str) -> Vec<String> {
    let id = graph
        .by_qualified_name(name)
        .unwrap_or_else(|| panic!("{name}"));
    graph
        .incoming(id)
        .filter(|e| e.kind == EdgeKind::Calls)
        .map(|e| graph.node(e.from).qualified_name.to_string())
        .collect()
}

#[test]
fn python_library_methods_are_not_project_methods() {
    let dir = tree(&[(
        "app.py",
        "\
import threading, re, subprocess
from concurrent.futures import Future

class Pool:
    def acquire(self): pass
    def get(self, key): pass
    def append(self, x): pass
    def match(self, text): pass
    def join(self, parts): pass
    def result(self): pass
    def open(self): pass

lock = threading.Lock()

def use(unknown, f: Future, names: list[str], table: dict):
    lock.acquire()
    with lock: pass
    {}.get(1)
    table.get(1)
    [].append(1)
    names.append('x')
    re.compile('x').match('y')
    ', '.join(names)
    f.result()
    unknown.acquire()
    unknown.thing.get('x')
    open('f')
    subprocess.run(['x']).get(1)
",
    )]);
    let graph = load(dir.path()).graph;
    for name in [
        "acquire", "get", "append", "match", "join", "result", "open",
    ] {
        assert_eq!(
            callers(&graph, &format!("app.Pool.{name}")),
            [""; 0],
            "{}",
            sites(&graph)
        );
    }
    let state = |callee: &str| {
        let site = graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
        site.state.clone()
    };
    assert_eq!(
        state("lock.acquire"),
        SiteState::External {
            module: "threading".into()
        }
    );
    assert_eq!(
        state("', '.join"),
        SiteState::External {
            module: "builtins".into()
        }
    );
    assert_eq!(
        state("names.append"),
        SiteState::External {
            module: "builtins".into()
        }
    );
    assert_eq!(
        state("f.result"),
        SiteState::External {
            module: "concurrent".into()
        }
    );
    assert_eq!(state("unknown.acquire"), SiteState::Unresolved);
    assert_eq!(state("unknown.thing.get"), SiteState::Unresolved);
}

#[test]
fn rust_library_methods_are_not_project_methods() {
    let dir = tree(&[(
        "src/lib.rs",
        "\
use std::collections::HashMap;
use regex::Regex;

pub struct Pool;
impl Pool {
    pub fn push(&self) {}
    pub fn get(&self) {}
    pub fn lock(&self) {}
    pub fn take(&self) {}
    pub fn is_match(&self) {}
    pub fn new() -> Pool { Pool }
    pub fn parse(&self) {}
    pub fn len(&self) {}
}
pub fn parse() {}
pub fn take() {}

pub fn run(map: &HashMap<String, u8>, m: std::sync::Mutex<u8>, text: &str) {
    let mut list = Vec::new();
    list.push(1);
    map.get(text);
    m.lock().unwrap();
    text.parse::<u8>().ok();
    list.iter().take(1).len();
    std::mem::take(&mut list);
    let re = Regex::new(text).unwrap();
    re.is_match(text);
    (|x: &dyn std::any::Any| x.type_id())(&1);
    unknown().push();
    serde_json::Value::new();
}
",
    )]);
    let graph = load(dir.path()).graph;
    for name in [
        "push", "get", "lock", "take", "is_match", "new", "parse", "len",
    ] {
        let name = format!("src::Pool::{name}");
        let name = if graph.by_qualified_name(&name).is_some() {
            name
        } else {
            name.replace("src::", "lib::")
        };
        assert_eq!(callers(&graph, &name), [""; 0], "{}", sites(&graph));
    }
    let site = |callee: &str| graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
    assert_eq!(
        site("re.is_match").state,
        SiteState::External {
            module: "regex".into()
        }
    );
    assert_eq!(
        site("list.push").state,
        SiteState::External {
            module: "std".into()
        }
    );
    assert_eq!(site("unknown().push").state, SiteState::Unresolved);
}

#[test]
fn the_samples_plant_phantoms_too() {
    let rust = load(fixture("sample_rust")).graph;
    assert_eq!(
        callers(&rust, "pantry::report::table::Table::push"),
        ["pantry::report::render"]
    );
    let python = load(fixture("sample_python")).graph;
    assert_eq!(callers(&python, "ledger.accounts.Account.append"), [""; 0]);
    assert_eq!(
        callers(&python, "ledger.store.Store.get"),
        ["tests.test_store.test_create_and_get"]
    );
}
