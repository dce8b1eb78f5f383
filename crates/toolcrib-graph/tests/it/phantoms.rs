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

#[test]
fn script_library_methods_are_not_project_methods() {
    let dir = tree(&[
        (
            "src/pool.ts",
            "\
export class Pool {
    take() {}
    get() {}
    map() {}
    push() {}
    then() {}
    describe() {}
    json() {}
    find() {}
}
export function take() {}
export function describe() {}
",
        ),
        (
            "src/app.ts",
            "\
import { take, map } from 'rxjs';
import { describe } from 'vitest';
import axios from 'axios';
import { Pool } from './pool';

export async function use(source: any, names: string[], table: Map<string, number>, p: Pool) {
    source.pipe(take(1), map((x) => x));
    describe('x', () => {});
    names.map((n) => n).find((n) => n === 'a');
    names.push('x');
    table.get('x');
    new Map().get('y');
    (await axios.get('/x')).json();
    fetch('/y').then((r) => r.json());
    source.take(1);
    unknown().get();
    [...names].find(Boolean);
    p.get();
    const local = (push: () => void) => push();
    take.describe();
}
",
        ),
    ]);
    let graph = load(dir.path()).graph;
    for name in ["take", "map", "push", "then", "describe", "json", "find"] {
        let name = format!("src/pool.Pool.{name}");
        assert_eq!(callers(&graph, &name), [""; 0], "{}", sites(&graph));
    }
    assert_eq!(callers(&graph, "src/pool.Pool.get"), ["src/app.use"]);
    assert_eq!(callers(&graph, "src/pool.take"), [""; 0]);
    assert_eq!(callers(&graph, "src/pool.describe"), [""; 0]);
    let state = |callee: &str| {
        let site = graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
        site.state.clone()
    };
    let external = |module: &str| SiteState::External {
        module: module.into(),
    };
    assert_eq!(state("take"), external("rxjs"));
    assert_eq!(state("describe"), external("vitest"));
    assert_eq!(state("names.push"), external("globals"));
    assert_eq!(state("table.get"), external("globals"));
    assert_eq!(state("axios.get"), external("axios"));
    assert_eq!(state("source.take"), SiteState::Unresolved);
    assert_eq!(state("push"), SiteState::Unresolved);
    let sample = load(fixture("sample_ts")).graph;
    assert_eq!(callers(&sample, "src/catalog/item.Item.take"), [""; 0]);
    assert_eq!(callers(&sample, "src/catalog/shelf.Shelf.map"), [""; 0]);
    assert_eq!(callers(&sample, "src/catalog/shelf.Shelf.find"), [""; 0]);
}
