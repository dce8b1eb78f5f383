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
fn go_library_methods_are_not_project_methods() {
    let dir = tree(&[
        ("go.mod", "module example.com/app\n"),
        (
            "pool/pool.go",
            "\
package pool

import (
	\"bytes\"
	. \"strings\"
	str \"strings\"
	\"sync\"

	\"github.com/other/pool\"
)

type Pool struct {
	sync.Mutex
	held *bytes.Buffer
}

func (p *Pool) Get() *Pool          { return p }
func (p *Pool) Write(b []byte)      {}
func (p *Pool) String() string      { return \"\" }
func (p *Pool) Do(f func())         {}
func (p *Pool) Add(n int)           {}
func (p *Pool) Error() string       { return \"\" }
func (p *Pool) Trim(s string)       {}
func Split(s string) []string       { return nil }
func Repeat(s string, n int) string { return s }

func use(other interface{ Get() int }, unknown any, err error) {
	var once sync.Once
	once.Do(func() {})
	var group sync.WaitGroup
	group.Add(1)
	buffer := &bytes.Buffer{}
	buffer.Write(nil)
	_ = buffer.String()
	p := &Pool{held: buffer}
	p.Lock()
	p.held.Write(nil)
	_ = err.Error()
	str.Split(\"a\", \"b\")
	TrimSpace(\" \")
	made := pool.New()
	made.Get()
	other.Get()
	len := func(s string) int { return 0 }
	len(\"\")
	shared := sync.Pool{New: func() any { return p }}
	shared.Get().(*bytes.Buffer).String()
	each(shared.Get()).Add(1)
	for _, f := range []func(){} {
		f()
	}
}

func each(v any) *bytes.Buffer { return nil }
",
        ),
    ]);
    let graph = load(dir.path()).graph;
    let own = "example.com/app/pool";
    for name in [
        "Pool.Get",
        "Pool.Write",
        "Pool.String",
        "Pool.Do",
        "Pool.Add",
        "Pool.Error",
        "Pool.Trim",
        "Split",
        "Repeat",
    ] {
        assert_eq!(
            callers(&graph, &format!("{own}.{name}")),
            [""; 0],
            "{}",
            sites(&graph)
        );
    }
    let external = |callee: &str| {
        let site = graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
        match &site.state {
            SiteState::External { module } => module.to_string(),
            other => format!("{other:?}"),
        }
    };
    for (callee, module) in [
        ("once.Do", "sync"),
        ("group.Add", "sync"),
        ("buffer.Write", "bytes"),
        ("p.Lock", "sync"),
        ("p.held.Write", "bytes"),
        ("err.Error", "builtin"),
        ("str.Split", "strings"),
        ("TrimSpace", "strings"),
        ("pool.New", "github.com/other/pool"),
        ("made.Get", "github.com/other/pool"),
        ("shared.Get", "sync"),
        ("each(shared.Get()).Add", "bytes"),
    ] {
        assert_eq!(external(callee), module, "{callee}");
    }
    let unresolved = |callee: &str| {
        let site = graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
        site.state == SiteState::Unresolved
    };
    assert!(unresolved("other.Get") && unresolved("len") && unresolved("f"));
}

#[test]
fn java_library_methods_are_not_project_methods() {
    let dir = tree(&[
        (
            "src/app/Pool.java",
            "\
package app;

import static org.assertj.Assertions.*;
import java.util.*;
import java.util.concurrent.locks.Lock;
import org.slf4j.Logger;

class Pool extends org.base.Shared {
    void lock() {}
    void get(Object key) {}
    void add(Object item) {}
    void info(String text) {}
    int length() { return 0; }
    void run() {}
    void close() {}
    void isEqualTo(Object o) {}
    static void parse(String s) {}
    void size(int a) {}

    void use(Lock held, Logger log, Map<String, Integer> map, Object unknown, var odd) throws Exception {
        held.lock();
        map.get(\"a\");
        new ArrayList<String>().add(\"a\");
        log.info(\"a\");
        \"a\".length();
        Thread worker = new Thread(() -> {});
        worker.run();
        unknown.close();
        odd.run();
        odd.field.lock();
        assertThat(1).isEqualTo(2);
        Integer.parse(\"1\");
        shared();
        size();
        Object list = map.values();
        ((List<?>) list).add(null);
        for (var entry : map.entrySet()) entry.getValue().length();
        missing.lock();
    }
}
",
        ),
    ]);
    let graph = load(dir.path()).graph;
    for name in [
        "lock",
        "get",
        "add",
        "info",
        "length",
        "run",
        "close",
        "isEqualTo",
        "parse",
        "size",
    ] {
        assert_eq!(
            callers(&graph, &format!("app.Pool.{name}")),
            [""; 0],
            "{}",
            sites(&graph)
        );
    }
    let external = |callee: &str| {
        let site = graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
        match &site.state {
            SiteState::External { module } => module.to_string(),
            other => format!("{other:?}"),
        }
    };
    for (callee, module) in [
        ("held.lock", "java.util.concurrent.locks"),
        ("map.get", "java.util"),
        ("log.info", "org.slf4j"),
        ("\"a\".length", "java.lang"),
        ("worker.run", "java.lang"),
        ("assertThat", "org.base"),
        ("Integer.parse", "java.lang"),
        ("shared", "org.base"),
    ] {
        assert_eq!(external(callee), module, "{callee}\n{}", sites(&graph));
    }
    for callee in [
        "unknown.close",
        "odd.run",
        "odd.field.lock",
        "missing.lock",
        "size",
    ] {
        assert_eq!(
            external(callee),
            "Unresolved",
            "{callee}\n{}",
            sites(&graph)
        );
    }
}

#[test]
fn c_library_functions_are_not_project_functions() {
    let dir = tree(&[
        (
            "pool/pool.h",
            "struct pool { int (*read)(int); };\nint pool_get(struct pool *p);\nint error(int status);\n",
        ),
        (
            "pool/pool.c",
            "\
#include \"pool.h\"
int pool_get(struct pool *p) { return p->read(1); }
int error(int status) { return status; }
static int read(int fd) { return fd; }
int open(const char *path) { return read(0); }
int helper(int a, int b) { return a + b; }
int get(void) { return 1; }
",
        ),
        (
            "app/app.c",
            "\
#include <stdio.h>
#include <unistd.h>
#include <error.h>
#include <vendor/table.h>
int use(struct table *t, struct pool *p, int (*get)(void)) {
    open(\"a\");
    read(1);
    error(1);
    helper(1);
    helper(1, 2);
    t->read(2);
    get();
    missing()->read(3);
    return p->read(4);
}
",
        ),
        (
            "app/own.c",
            "#include \"../pool/pool.h\"\nint own(struct pool *p) { return error(pool_get(p)) + p->read(1) + error(1, 2); }\n",
        ),
    ]);
    let graph = load(dir.path()).graph;
    for (name, expected) in [
        ("open", vec![]),
        ("read", vec!["open"]),
        ("error", vec!["own"]),
        ("pool_get", vec!["own"]),
        ("helper", vec![]),
        ("get", vec![]),
    ] {
        assert_eq!(callers(&graph, name), expected, "{name}\n{}", sites(&graph));
    }
    let state = |callee: &str| {
        let site = graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
        site.state.clone()
    };
    let external = SiteState::External {
        module: "libc".into(),
    };
    assert_eq!(state("open"), external, "{}", sites(&graph));
    assert_eq!(state("helper"), SiteState::Unresolved);
    assert_eq!(state("get"), SiteState::Unresolved);
    assert_eq!(state("t->read"), SiteState::Unresolved);
    assert!(matches!(state("p->read"), SiteState::Dynamic { .. }));
}

#[test]
fn cpp_library_methods_are_not_project_methods() {
    let dir = tree(&[
        (
            "pool.h",
            "\
namespace app {
class Pool {
 public:
  void push_back(int); void size(); void find(int); void get(); void reset(); void lock();
  void first(); void swap(Pool&); void close(); void end(); void at(int); void str();
};
void sort(int); void move(int); void max(int, int); void swap(Pool&, Pool&);
}
void close(int); void find(int); void lock();
",
        ),
        (
            "use.cc",
            "\
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <boost/lib.hpp>
#include \"pool.h\"

template <typename T>
void use(std::vector<int> v, std::map<int, app::Pool*>& m, std::unique_ptr<app::Pool> p,
         boost::thing& b, Unknown& u, T t, std::shared_ptr<std::mutex> s, std::vector<app::Pool> pools) {
  v.push_back(1);
  v.size();
  m.find(1);
  m.end();
  p.get();
  p.reset();
  s->lock();
  b.close();
  b.inner().find(1);
  u.lock();
  t.swap(t);
  std::sort(1);
  std::move(1);
  boost::max(1, 2);
  pools.at(0).close();
  pools.at(0);
  std::string(\"a\").find(1);
  auto x = v.begin();
  x->first();
  other()->str();
  missing(1).at(1);
  p->close();
  m[1]->size();
  [](auto& y) { y.reset(); }(u);
}
",
        ),
    ]);
    let graph = load(dir.path()).graph;
    for name in [
        "push_back",
        "find",
        "get",
        "reset",
        "lock",
        "first",
        "swap",
        "end",
        "at",
        "str",
    ] {
        let name = format!("app::Pool::{name}");
        assert_eq!(callers(&graph, &name), [""; 0], "{name}\n{}", sites(&graph));
    }
    for name in [
        "app::sort",
        "app::move",
        "app::max",
        "app::swap",
        "close",
        "find",
        "lock",
    ] {
        assert_eq!(callers(&graph, name), [""; 0], "{name}\n{}", sites(&graph));
    }
    assert_eq!(callers(&graph, "app::Pool::close"), ["use"]);
    assert_eq!(callers(&graph, "app::Pool::size"), ["use"]);
    let site = |callee: &str| {
        let site = graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
        site.state.clone()
    };
    let external = |module: &str| SiteState::External {
        module: module.into(),
    };
    for callee in [
        "v.push_back",
        "m.find",
        "p.get",
        "p.reset",
        "s->lock",
        "std::sort",
    ] {
        assert_eq!(site(callee), external("std"), "{callee}\n{}", sites(&graph));
    }
    for callee in ["b.close", "u.lock", "t.swap", "other()->str", "y.reset"] {
        assert_eq!(site(callee), SiteState::Unresolved, "{callee}");
    }
}

#[test]
fn the_samples_plant_phantoms_too() {
    let rust = load(fixture("sample_rust")).graph;
    assert_eq!(
        callers(&rust, "pantry::report::table::Table::push"),
        ["pantry::report::render"]
    );
    let go = load(fixture("sample_go")).graph;
    for name in ["Write", "Close", "Lock", "Encode"] {
        let name = format!("example.com/relay/api.Cache.{name}");
        assert_eq!(callers(&go, &name), [""; 0]);
    }
    let java = load(fixture("sample_java")).graph;
    for name in ["get", "add", "lock", "getMessage"] {
        let name = format!("org.library.lending.Shelf.{name}");
        assert_eq!(callers(&java, &name), [""; 0]);
    }
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

#[test]
fn code_that_no_build_reads_defines_and_calls_nothing() {
    let dir = tree(&[(
        "a.c",
        "\
#if 0
static int dead(void) { return live(); }
#include \"nowhere.h\"
#else
static int live(void) { return 1; }
#endif
#if 1
static int taken(void) { return live(); }
#elif defined(OTHER)
static int other(void) { return taken(); }
#else
static int left(void) { return taken(); }
#endif
#ifdef UNKNOWN
static int one(void) { return live(); }
#else
static int two(void) { return live(); }
#endif
",
    )]);
    let graph = load(dir.path()).graph;
    let names: Vec<&str> = graph.nodes().iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["a.c", "live", "taken", "one", "two"]);
    let sites: Vec<u32> = graph.sites().iter().map(|s| s.span.start_line).collect();
    assert_eq!(sites, [8, 15, 17]);
}

#[test]
fn go_dot_imports_bring_no_names_that_are_not_exported() {
    let dir = tree(&[
        ("go.mod", "module shop\n"),
        (
            "tools/tools.go",
            "package tools\n\nfunc len(x string) int { return 0 }\n\nfunc helper() {}\n\ntype error struct{}\n\nfunc Shown() {}\n",
        ),
        (
            "main.go",
            "\
package main

import . \"shop/tools\"

func main() {
	_ = len(\"x\")
	helper()
	Shown()
	var e error
	_ = e.Error()
}
",
        ),
        (
            "other.go",
            "package main\n\nfunc use() {\n\thelper := func() {}\n\thelper()\n}\n",
        ),
    ]);
    let graph = load(dir.path()).graph;
    assert_eq!(callers(&graph, "shop/tools.len"), [""; 0]);
    assert_eq!(callers(&graph, "shop/tools.helper"), [""; 0]);
    assert_eq!(callers(&graph, "shop/tools.Shown"), ["shop.main"]);
    assert_eq!(
        sites(&graph),
        "\
main.go:6 len => external builtin
main.go:7 helper => unresolved
main.go:8 Shown => shop/tools.Shown (import)
main.go:10 e.Error => external builtin
other.go:5 helper => unresolved
"
    );
    let references = graph
        .edges()
        .iter()
        .filter(|edge| edge.kind == EdgeKind::References)
        .count();
    assert_eq!(references, 0);
}

#[test]
fn cpp_constructors_are_called_by_what_makes_a_value() {
    let dir = tree(&[(
        "a.cc",
        "\
#include <memory>
struct Plain { explicit Plain(int x); Plain(int a, int b); int n; };
Plain::Plain(int x) : n(x) {}
Plain::Plain(int a, int b) : n(a + b) {}
template <class T> struct Box { Box(T v) : v(v) {} T v; };
struct Bare { int a; };
int grow(int), *place;
void parens() { Plain x(1); }
void braces() { Plain x{1}; }
void value() { auto x = Plain{1, 2}; }
void several() { Plain a(1), b(2, 3); }
void by_name(int n) { Plain x(n); }
void filled() { Bare x = {1}; }
void unique() { auto x = std::make_unique<Plain>(1); }
void shared() { auto x = std::make_shared<Box<int>>(1); }
void boxed() { Box<int> x(1); }
void deduced() { Box x{1}; }
void fresh() { auto x = new Box<int>(1); }
void written() { auto x = Box<int>(1); }
void prototype() { Plain other(int); }
Plain everywhere(1);
",
    )]);
    let graph = load(dir.path()).graph;
    let made = |name: &str| callers(&graph, name);
    assert_eq!(
        made("Plain::Plain"),
        ["a.cc", "parens", "braces", "several", "by_name", "unique"],
        "{}",
        sites(&graph)
    );
    assert_eq!(made("Plain::Plain~2"), ["value", "several"]);
    assert_eq!(
        made("Box::Box"),
        ["shared", "boxed", "deduced", "fresh", "written"]
    );
    // A function and a variable of one declaration stand side by side.
    assert!(graph.by_qualified_name("place").is_some());
    assert!(graph.by_qualified_name("grow::place").is_none());
}
