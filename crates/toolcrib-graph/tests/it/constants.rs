//! Calls of constants and variables whose values are not written as functions.

use crate::support::{load, sites, tree};

#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let dir = tree(files);
    let graph = load(dir.path()).graph;
    crate::states::check_invariants(&graph);
    let found = sites(&graph);
    let found: Vec<&str> = found.lines().collect();
    assert_eq!(found, expected);
}

#[test]
fn a_constant_that_is_called_is_called_whatever_it_holds() {
    check(
        &[
            (
                "a.ts",
                "\
import * as internal from './internal.js'
export const k: (x: number) => number = internal.work
export const plain = internal.work
export const d: { (x: number): number } = internal.dual(1, (x: number) => x)
",
            ),
            (
                "b.ts",
                "\
import * as A from './a.js'
import { k, plain, d } from './a.js'
export function caller() {
  A.k(1); k(2); A.plain(3); plain(4); A.d(5); d(6);
}
export function other(d: any, k: () => void) {
  d(7); k();
}
export function local() {
  const d = window.x;
  d(8);
}
",
            ),
            (
                "internal.ts",
                "\
export const work = (x: number): number => x;
export const dual = (n: number, f: any) => f;
",
            ),
        ],
        &[
            "a.ts:4 internal.dual => internal.dual (import)",
            "b.ts:4 A.k => a.k (import)",
            "b.ts:4 k => a.k (import)",
            "b.ts:4 A.plain => internal.work (import)",
            "b.ts:4 plain => internal.work (import)",
            "b.ts:4 A.d => a.d (import)",
            "b.ts:4 d => a.d (import)",
            "b.ts:7 d => unresolved",
            "b.ts:7 k => unresolved",
            "b.ts:11 d => external globals",
        ],
    );
}

#[test]
fn variables_of_packages_and_modules_are_called() {
    check(
        &[
            ("go.mod", "module ex/gx\n"),
            (
                "a.go",
                "\
package gx

var Do = func(x int) {}
var Alias = target
var Later func(int)

func target() {}

type S struct{ cb func() }

func (s *S) run(Do2 func()) {
	s.cb()
	Do(1)
	Alias()
	Later(2)
	Do2()
	Later := Do2
	Later()
}
",
            ),
            (
                "m.py",
                "\
from functools import partial

def base(a, b): ...

p = partial(base, 1)
f = lambda x: x
g = base

def run(p2):
    p(2)
    f(3)
    g(1, 2)
    p2()
",
            ),
        ],
        &[
            "a.go:12 s.cb => unresolved",
            "a.go:13 Do => ex/gx.Do (scope)",
            "a.go:14 Alias => ex/gx.target (scope)",
            "a.go:15 Later => ex/gx.Later (scope)",
            "a.go:16 Do2 => unresolved",
            "a.go:18 Later => unresolved",
            "m.py:5 partial => external functools",
            "m.py:10 p => m.p (scope)",
            "m.py:11 f => m.f (scope)",
            "m.py:12 g => m.base (scope)",
            "m.py:13 p2 => unresolved",
        ],
    );
}

#[test]
fn compiled_exports_leave_one_target() {
    check(
        &[(
            "dist/a.js",
            "\
exports.made = exports.named = void 0;
function named() {}
const made = exports.made = wrap(1);
function run() { named(); made(); }
",
        )],
        &[
            "dist/a.js:3 wrap => unresolved",
            "dist/a.js:4 named => dist/a.named~2 (scope)",
            "dist/a.js:4 made => dist/a.made~2 (scope)",
        ],
    );
}
