//! How modules of TypeScript and JavaScript find each other, and what their
//! declarations say about receivers.

use toolcrib_graph::{CodeGraph, EdgeKind, NodeKind, SiteState};

use crate::support::{load, sites, tree};

fn target(graph: &CodeGraph, callee: &str) -> String {
    let site = graph
        .sites()
        .iter()
        .find(|s| &*s.callee == callee)
        .unwrap_or_else(|| panic!("{callee}\n{}", sites(graph)));
    match &site.state {
        SiteState::Resolved { target, .. } => graph.node(*target).qualified_name.to_string(),
        SiteState::External { module } => format!("external {module}"),
        other => other.as_str().to_string(),
    }
}

fn all(graph: &CodeGraph, expected: &[(&str, &str)]) {
    for (callee, name) in expected {
        assert_eq!(target(graph, callee), *name, "{callee}\n{}", sites(graph));
    }
}

#[test]
fn imports_lead_through_every_kind_of_path() {
    let dir = tree(&[
        (
            "tsconfig.json",
            "{ /* a */ \"compilerOptions\": { \"paths\": { \"~/*\": [\"./app/*\"], } } }",
        ),
        (
            "packages/util/package.json",
            "{ \"name\": \"@w/util\", \"main\": \"dist/main.js\", \"exports\": { \".\": { \"import\": \"./dist/main.js\" }, \"./deep\": \"./dist/esm/deep.js\" } }",
        ),
        ("packages/util/src/main.ts", "export function main() {}\n"),
        ("packages/util/src/deep.ts", "export default () => 1;\n"),
        (
            "packages/util/src/other.ts",
            "export const other = () => 1;\n",
        ),
        (
            "app/one.ts",
            "export function one() {}\nexport default class One { go() {} }\n",
        ),
        ("app/two/index.js", "module.exports = function two() {};\n"),
        ("app/three.mts", "export { one as three } from './one';\n"),
        (
            "app/four.js",
            "const inner = () => 1;\nmodule.exports = { inner, outer: inner, late() {} };\n",
        ),
        ("app/five.ts", "function five() {}\nexport = five;\n"),
        ("app/types.d.ts", "export declare function typed(): void;\n"),
        ("app/six.ts", "export * as six from './one';\n"),
        (
            "app/use.ts",
            "\
import { main } from '@w/util';
import deep from '@w/util/deep';
import { other } from '@w/util/other';
import One, { one } from '~/one';
import two from './two';
import { three } from './three.mjs';
import four, { inner } from './four';
import * as space from './four.js';
import five = require('./five');
import { typed } from './types';
import { six } from './six';
import { gone } from './gone';
import lib from 'lib/deep';
main(); deep(); other(); one(); two(); three(); inner(); four.outer(); space.late();
five(); typed(); six.one(); gone(); lib.go(); new One().go();
const { late } = require('./four');
late();
require('./one').one();
",
        ),
    ]);
    let graph = load(dir.path()).graph;
    all(
        &graph,
        &[
            ("main", "packages/util/src/main.main"),
            ("deep", "packages/util/src/deep.default"),
            ("other", "packages/util/src/other.other"),
            ("one", "app/one.one"),
            ("two", "app/two/index.two"),
            ("three", "app/one.one"),
            ("inner", "app/four.inner"),
            ("four.outer", "app/four.inner"),
            ("space.late", "app/four.late"),
            ("late", "app/four.late"),
            ("five", "app/five.five"),
            ("typed", "app/types.typed"),
            ("six.one", "app/one.one"),
            ("gone", "unresolved"),
            ("lib.go", "external lib/deep"),
            ("new One().go", "app/one.One.go"),
        ],
    );
}

#[test]
fn declarations_type_receivers() {
    let dir = tree(&[(
        "a.ts",
        "\
interface Base<T> { each(call: (item: T, at: number) => void): void; first: T }
export class Node<T> { constructor(readonly value: T, done?: (node: Node<T>) => void) {} get(): T { return this.value; } }
class Leaf extends Node<Item> { own() { return this.get(); } }
class Item { run(): Item { return this; } static of(): Item { return new Item(); } }
type Handler = (item: Item) => Node<Item>;
type Box = { item: Item } & { count: number };
function each(list: Item[], call: (item: Item) => void) { list.forEach(call); }
function on(handler: Handler) {}
function pick(x: string): Item;
function pick(x: number): Item;
function pick(x: any) { return x; }
const handle: Handler = (it) => { it.run(); return new Leaf(it); };
async function later(): Promise<Item> { return Item.of(); }
function narrow(x: unknown) { if (x instanceof Item && true) { x.run(); } }
function box({ item: boxed }: Box, { inner }: { inner: Leaf }) { boxed.run(); inner.own().run(); }
function run(base: Base<Item>, leaf: Leaf | null, table: Record<string, Item>, maybe?: Item) {
    each([], (one) => one.run());
    on((two) => two.run().run());
    base.each((three) => three.run());
    base.first.run();
    leaf?.get().run();
    leaf!.value.run();
    table['a'].run();
    maybe?.run();
    pick(1).run();
    handle(maybe).get().run();
    later().then((four) => four.run());
    for (const five of [Item.of()]) five.run();
    const [six, { seven }] = [Item.of(), unknown()];
    six.run();
    seven.run();
    (maybe ?? Item.of()).run();
    const hoisted = () => eight.run();
    const eight = Item.of();
    new Node(1, (nine) => nine.get());
    [Item.of()].map((i) => i.run()).filter(Boolean)[0].run();
}
",
    )]);
    let graph = load(dir.path()).graph;
    for callee in [
        "it.run",
        "x.run",
        "boxed.run",
        "inner.own().run",
        "one.run",
        "two.run",
        "two.run().run",
        "three.run",
        "base.first.run",
        "leaf?.get().run",
        "leaf!.value.run",
        "table['a'].run",
        "maybe?.run",
        "pick(1).run",
        "handle(maybe).get().run",
        "four.run",
        "five.run",
        "six.run",
        "(maybe ?? Item.of()).run",
        "eight.run",
        "[Item.of()].map((i) => i.run()).filter(Boolean)[0].run",
    ] {
        assert_eq!(target(&graph, callee), "a.Item.run", "{callee}");
    }
    assert_eq!(target(&graph, "seven.run"), "unresolved");
    assert_eq!(target(&graph, "nine.get"), "a.Node.get");
    assert_eq!(target(&graph, "base.each"), "dynamic");
    let named = |name: &str| {
        let nodes = graph.nodes().iter();
        nodes.filter(|n| &*n.name == name).count()
    };
    assert_eq!(named("pick"), 1, "overloads are one function");
}

#[test]
fn members_have_no_bare_names_and_titles_none_at_all() {
    let dir = tree(&[(
        "a.test.ts",
        "\
export const timer = { setTimeout(f: any) { return setTimeout(f); }, log() { log(); } };
class A { clear() { clear(); } x = clear(); }
test('helper', () => { helper(); });
it('log', () => { timer.log(); });
",
    )]);
    let graph = load(dir.path()).graph;
    all(
        &graph,
        &[
            ("setTimeout", "external globals"),
            ("log", "unresolved"),
            ("clear", "unresolved"),
            ("helper", "unresolved"),
            ("timer.log", "a.test.timer.log"),
        ],
    );
}

#[test]
fn routes_lead_to_their_handlers() {
    let dir = tree(&[
        (
            "routes.js",
            "\
const express = require('express');
const { list, items } = require('./handlers');
const router = express.Router();
router.get('/items', auth, list);
router.route('/items/:id').put(items.put).delete((req, res) => res.end());
client.get('/not-a-route', list);
router.use('/x', list);
module.exports = router;
",
        ),
        (
            "handlers.js",
            "exports.list = (req, res) => {};\nexports.items = { put(req, res) {} };\n",
        ),
    ]);
    let graph = load(dir.path()).graph;
    let mut found: Vec<String> = Vec::new();
    for node in graph.nodes().iter().filter(|n| n.kind == NodeKind::Route) {
        found.push(node.name.to_string());
    }
    assert_eq!(found, ["GET /items", "PUT /items/:id", "DELETE /items/:id"]);
    let edges: Vec<(String, String)> = graph
        .edges()
        .iter()
        .filter(|e| e.kind == EdgeKind::RoutesTo)
        .map(|e| {
            let name = |id| graph.node(id).qualified_name.to_string();
            (name(e.from), name(e.to))
        })
        .collect();
    assert_eq!(
        edges,
        [
            ("routes.GET /items".into(), "handlers.list".into()),
            ("routes.PUT /items/:id".into(), "handlers.items.put".into()),
        ]
    );
}

#[test]
fn members_are_assigned_in_older_scripts() {
    let dir = tree(&[
        (
            "app.js",
            "\
var app = exports = module.exports = {};
app.init = function init() { this.defaults(); helper(); };
app.defaults = function () {};
function helper() {}
function View(name) {}
View.prototype.render = function render() { helper(); };
View.of = () => new View('x');
unknown.thing = function () { helper(); };
",
        ),
        ("use.js", "const app = require('./app');\napp.init();\n"),
    ]);
    let graph = load(dir.path()).graph;
    all(
        &graph,
        &[
            ("app.init", "app.app.init"),
            ("this.defaults", "app.app.defaults"),
            ("helper", "app.helper"),
            ("View", "app.View"),
        ],
    );
    let render = graph.by_qualified_name("app.View.render").unwrap();
    let calls = graph.outgoing(render).iter();
    assert_eq!(calls.filter(|e| e.kind == EdgeKind::Calls).count(), 1);
    assert!(graph.by_qualified_name("app.View.of").is_some());
}
