//! A variable that is given another value is no longer known to hold the first.

use toolcrib_graph::SiteState;

use crate::states::check_invariants;
use crate::support::{load, sites, tree};

/// What became of the calls of `save` in each function of a file.
fn saves(path: &str, text: &str) -> Vec<(String, String)> {
    let dir = tree(&[(path, text)]);
    let graph = load(dir.path()).graph;
    check_invariants(&graph);
    let mut found: Vec<(String, String)> = graph
        .sites()
        .iter()
        .filter(|site| &*site.name == "save")
        .map(|site| {
            let name = |id| graph.node(id).qualified_name.to_string();
            let state = match &site.state {
                SiteState::Resolved { target, .. } => name(*target),
                SiteState::Ambiguous { candidates } => {
                    let names: Vec<String> = candidates.iter().map(|id| name(*id)).collect();
                    format!("? {}", names.join(" "))
                }
                other => other.as_str().to_string(),
            };
            (graph.node(site.caller).name.to_string(), state)
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{}", sites(&graph));
    found
}

fn check(found: &[(String, String)], expected: &[(&str, &str)]) {
    let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(found, expected);
}

#[test]
fn python_variables_given_other_values_are_open() {
    let found = saves(
        "a.py",
        "\
class Repo:
    def save(self): pass

class Other:
    def save(self): pass

def branch(f):
    r = Repo()
    if f:
        r = {}
    r.save()

def capture(x):
    r = Repo()
    match x:
        case {'a': r}:
            pass
    r.save()

def closure():
    r = Repo()
    def inner():
        return r.save()
    r = Other()
    return inner

def either(f):
    r = Repo()
    if f:
        r = Other()
    r.save()

def default(r=None):
    if r is None:
        r = Repo()
    r.save()

def looped(xs):
    r = Repo()
    for x in xs:
        r.save()
        r = x

def nothing(f):
    r = Repo()
    if f:
        r = None
    r.save()

def outer():
    r = Repo()
    def inner(x):
        nonlocal r
        r = x
    inner(1)
    r.save()

def plain(x):
    r = x
    r = Repo()
    r.save()

def stated(r: Repo, x):
    if x:
        r = x.made()
    r.save()

def used():
    shared.save()

def whiled(x):
    r = Repo()
    while x:
        r.save()
        r = Repo()

shared = Repo()

def change(x):
    global shared
    shared = x

class Held:
    def __init__(self, x):
        self.one = Repo()
        self.two = Repo()
    def clear(self, x):
        self.one = x
        self.two = None
    def of_one(self):
        self.one.save()
    def of_two(self):
        self.two.save()
",
    );
    check(
        &found,
        &[
            ("branch", "? a.Repo.save"),
            ("capture", "? a.Repo.save"),
            ("default", "a.Repo.save"),
            ("either", "? a.Repo.save a.Other.save"),
            ("inner", "? a.Repo.save a.Other.save"),
            ("looped", "? a.Repo.save"),
            ("nothing", "a.Repo.save"),
            ("of_one", "? a.Repo.save"),
            ("of_two", "a.Repo.save"),
            ("outer", "? a.Repo.save"),
            ("plain", "a.Repo.save"),
            ("stated", "a.Repo.save"),
            ("used", "? a.Repo.save"),
            ("whiled", "a.Repo.save"),
        ],
    );
}

const SCRIPT: &str = "\
export class Repo { save() {} }
export class Other { save() {} }
export function branch(f) { let r = new Repo(); if (f) { r = {}; } r.save(); }
export function either(f) { let r = new Repo(); if (f) r = new Other(); r.save(); }
export function inner(x) { let r = new Repo(); function set() { r = x; } set(); r.save(); }
export function later(f) { let r = null; if (f) { r = new Repo(); } r.save(); }
export function nothing(f) { let r = new Repo(); if (f) { r = null; } r.save(); }
export function shadowed(f) { let r = new Repo(); { let r; r = f; } r.save(); }
export function unknown(f, x) { var r = new Repo(); if (f) r = x; r.save(); }
let shared = new Repo();
export function used() { shared.save(); }
export function set(x) { shared = x; }
";

#[test]
fn script_variables_given_other_values_are_open() {
    check(
        &saves("a.js", SCRIPT),
        &[
            ("branch", "? a.Repo.save"),
            ("either", "? a.Repo.save a.Other.save"),
            ("inner", "? a.Repo.save"),
            ("later", "a.Repo.save"),
            ("nothing", "a.Repo.save"),
            ("shadowed", "a.Repo.save"),
            ("unknown", "? a.Repo.save"),
            ("used", "? a.Repo.save"),
        ],
    );
}

#[test]
fn types_that_a_compiler_keeps_stay_certain() {
    check(
        &saves("a.ts", SCRIPT),
        &[
            ("branch", "a.Repo.save"),
            ("either", "? a.Repo.save a.Other.save"),
            ("inner", "a.Repo.save"),
            ("later", "a.Repo.save"),
            ("nothing", "a.Repo.save"),
            ("shadowed", "a.Repo.save"),
            ("unknown", "a.Repo.save"),
            ("used", "a.Repo.save"),
        ],
    );
    let java = "\
class Repo { void save() {} }
class Other extends Repo { }
class A {
  void declared(boolean f) { Repo r = new Repo(); if (f) { r = new Other(); } r.save(); }
  void inferred(boolean f) { var r = new Repo(); if (f) r = new Other(); r.save(); }
}
";
    check(
        &saves("A.java", java),
        &[("declared", "Repo.save"), ("inferred", "Repo.save")],
    );
    let rust = "\
pub struct Repo;
impl Repo { pub fn save(&self) {} }
pub struct Other;
impl Other { pub fn save(&self) {} }
pub fn inner(f: bool) { let r = Repo; if f { let r = Other; drop(r); } r.save(); }
pub fn shadowed() { let r = Repo; let r = Other; r.save(); }
";
    check(
        &saves("src/lib.rs", rust),
        &[
            ("inner", "lib::Repo::save"),
            ("shadowed", "lib::Other::save"),
        ],
    );
}
