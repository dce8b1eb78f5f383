//! What methods give that give their receiver, and what patterns take out of one.

use toolcrib_graph::SiteState;

use crate::support::{load, sites, tree};

/// Where the calls of a file lead that are certain, by what is called.
fn resolved(path: &str, text: &str, name: &str) -> Vec<String> {
    let dir = tree(&[(path, text)]);
    let graph = load(dir.path()).graph;
    let found: Vec<String> = graph
        .sites()
        .iter()
        .filter(|site| &*site.name == name)
        .map(|site| match &site.state {
            SiteState::Resolved { target, .. } => graph.node(*target).qualified_name.to_string(),
            other => other.as_str().to_string(),
        })
        .collect();
    assert!(!found.is_empty(), "{}", sites(&graph));
    found
}

#[test]
fn an_inherited_method_gives_the_type_it_is_called_on() {
    let python = "\
class Base:
    @classmethod
    def make(cls):
        return cls()
    def chain(self):
        return self
    def other(self, it):
        it = self
        it = Plain()
        return it

class Child(Base):
    def last(self): pass

class Plain:
    def last(self): pass

Child.make().last()
Child().chain().chain().last()
Child().other(1).last()
";
    assert_eq!(
        resolved("a.py", python, "last"),
        ["a.Child.last", "a.Child.last", "a.Plain.last"]
    );
    let script = "\
class Base { chain() { return this; } }
class Child extends Base { last() {} }
new Child().chain().chain().last();
";
    assert_eq!(resolved("a.js", script, "last"), ["a.Child.last"]);
}

#[test]
fn rust_patterns_take_fields_out_of_structs_and_variants() {
    let rust = "\
pub struct It;
impl It { pub fn show(&self) {} }
pub struct Own { it: It, by: It }
pub enum E { B { it: It } }
impl Own {
    fn short(&self) { let Own { it, .. } = self; it.show(); }
    fn named(&self) { let Own { it: x, .. } = self; x.show(); }
    fn own(&self) { let Self { by, .. } = self; by.show(); }
}
fn variant(e: E) { match e { E::B { it } => it.show() } }
fn bound(e: E) { match e { E::B { it: z } => z.show() } }
fn tested(o: Own) { if let Own { it, .. } = o { it.show(); } }
fn parameter(Own { it, .. }: Own) { it.show(); }
";
    assert_eq!(resolved("src/lib.rs", rust, "show"), ["lib::It::show"; 7]);
}

#[test]
fn rust_patterns_count_what_they_pass_over() {
    let rust = "\
use std::collections::HashMap;
pub struct It;
pub struct By;
impl It { pub fn show(&self) {} }
impl By { pub fn show(&self) {} }
pub struct Own(It, By);
fn pair() { let (_, by) = (It, By); by.show(); }
fn own(own: Own) { let Own(_, by) = own; by.show(); }
fn passed(all: Vec<(It, By)>) { all.iter().for_each(|(_, by)| by.show()); }
fn folded(all: Vec<By>) { all.iter().fold(It, |_, by| { by.show(); It }); }
fn map(map: HashMap<It, By>) { for (_, by) in &map { by.show(); } }
fn rest(own: (It, It, By)) { let (.., by) = own; by.show(); }
fn noted() { let (/* first */ it, _) = (It, By); it.show(); }
";
    let by = "lib::By::show";
    assert_eq!(
        resolved("src/lib.rs", rust, "show"),
        [by, by, by, by, by, "unresolved", "lib::It::show"]
    );
}

#[test]
fn rust_variables_that_begin_as_none_are_open() {
    let rust = "\
pub struct It;
impl It { pub fn show(&self) {} }
fn late() { let mut it = None; it = Some(It); it.unwrap().show(); }
fn tried() -> Option<()> { let it = None; it?.show(); None }
fn taken() { let it = None; if let Some(it) = it { it.show(); } }
";
    assert_eq!(resolved("src/lib.rs", rust, "show"), ["unresolved"; 3]);
}

#[test]
fn python_classes_hold_what_their_type_variables_are_given() {
    let python = "\
from typing import Generic, TypeVar

K = TypeVar('K')
T = TypeVar('T', covariant=True)
B = TypeVar('B', bound='Other')

class Child:
    def last(self): pass

class Other:
    def last(self): pass

class Box(Generic[K, T]):
    def __init__(self, value: T):
        self.value = value
    def get(self) -> T:
        return self.value

class Kept(Box[str, Child]):
    pass

class Bound(Generic[B]):
    def get(self) -> B: ...

def use(box: Box[str, Child], kept: Kept, bound: Bound):
    box.get().last()
    box.value.last()
    kept.get().last()
    bound.get().last()
";
    assert_eq!(
        resolved("a.py", python, "last"),
        [
            "a.Child.last",
            "a.Child.last",
            "a.Child.last",
            "a.Other.last"
        ]
    );
}

#[test]
fn a_call_before_a_local_is_declared_is_of_what_is_visible_then() {
    let cpp = "\
void go() {}
struct Late { Late(); };
void f() {
    go();
    auto go = [](int n) { return go(n - 1); };
    go(1);
    auto other = [&] { go(2); };
}
void g() {
    auto first = [] { second(); };
    auto second = [] { first(); };
}
";
    assert_eq!(
        resolved("a.cpp", cpp, "go"),
        ["go", "f::go", "f::go", "f::go"]
    );
    assert_eq!(resolved("a.cpp", cpp, "second"), ["unresolved"]);
    assert_eq!(resolved("a.cpp", cpp, "first"), ["g::first"]);
}

#[test]
fn a_value_of_an_anonymous_class_has_its_methods() {
    let java = "\
class B { void run() {} B me() { return this; } }
interface Job { void run(); }
class A {
    Job kept = new Job() { public void run() {} };
    void f() {
        new B() { void run() {} }.run();
        var job = new B() { void run() { me(); } void extra() { run(); } };
        job.run();
        job.extra();
        job.me();
        new Job() { public void run() {} }.run();
        new B().run();
        var list = new B() {{ me(); }};
        list.run();
    }
}
";
    assert_eq!(
        resolved("A.java", java, "run"),
        [
            "A.f.$2.run",
            "A.f.$3.run",
            "A.f.$3.run",
            "A.f.$4.run",
            "B.run",
            "B.run"
        ]
    );
    assert_eq!(resolved("A.java", java, "extra"), ["A.f.$3.extra"]);
    assert_eq!(resolved("A.java", java, "me"), ["B.me"; 3]);
}

#[test]
fn what_every_enum_has_gives_its_values() {
    let java = "\
enum Colour { RED, BLUE; void paint() {} }
class Other { void paint() {} }
class A {
    void f(Other other) {
        Colour.valueOf(\"RED\").paint();
        Colour.values()[0].paint();
        for (var colour : Colour.values()) colour.paint();
        other.valueOf(1).paint();
    }
}
";
    assert_eq!(
        resolved("A.java", java, "paint"),
        ["Colour.paint", "Colour.paint", "Colour.paint", "unresolved"]
    );
    assert_eq!(resolved("A.java", java, "values"), ["external"; 2]);
}

#[test]
fn what_is_made_without_being_called_is_a_call_of_its_constructor() {
    let files = [
        (
            "part.h",
            "\
struct Base { Base(int n); Base(); };
struct Part { Part(int n); Part(); };
struct Plain { int n; };
enum class Grit { kFine };
typedef int Count;
using Piece = Part;
using PiecePtr = Part*;
template <class T> struct Box { Box(T item); };
struct Kid : Base, Box<int> {
  Kid();
  Kid(int n);
  Part part; Piece piece; Part* to; Part& ref; PiecePtr hidden;
  Grit grit; Count count; int n; std::string name; std::mutex other;
};
",
        ),
        (
            "kid.cc",
            "\
#include \"part.h\"
Kid::Kid() : Base(1), Box<int>(2), part(3), piece{4}, to(0), ref(*to), hidden(0),
  grit(Grit::kFine), count(1), n(2), name(\"x\"), other() {}
Kid::Kid(int part) : Kid() {}
template <class T> void make() { T made; }
void f() {
  Part x;
  Piece p; static Plain plain;
  Part *a, &b = x, many[2];
  Grit g; Count c; int i; size_t s; std::string t; PiecePtr q;
  extern Part e;
}
Part global;
extern Part known;
",
        ),
    ];
    let graph = load(tree(&files).path()).graph;
    assert_eq!(
        sites(&graph),
        "\
kid.cc:2 Base => Base::Base (import)
kid.cc:2 Box<int> => Box::Box (import)
kid.cc:2 part => Part::Part (receiver)
kid.cc:2 piece => Part::Part (receiver)
kid.cc:4 Kid => Kid::Kid (import)
kid.cc:7 Part => Part::Part~2 (import)
kid.cc:8 Piece => Part::Part~2 (import)
kid.cc:8 Plain => Plain (import)
kid.cc:13 Part => Part::Part~2 (import)
"
    );
}
