//! Calls inside macros whose bodies are no plain arguments.

use toolcrib_graph::{CodeGraph, EdgeKind, NodeId};

use crate::support::{load, tree};

/// What a function calls, by name, in order of the names.
fn callees(graph: &CodeGraph, name: &str) -> Vec<String> {
    let id = (0u32..)
        .zip(graph.nodes())
        .find(|(_, node)| &*node.name == name)
        .map(|(id, _)| NodeId(id))
        .unwrap();
    let edges = graph.outgoing(id).iter();
    let called = edges.filter(|edge| edge.kind == EdgeKind::Calls);
    let mut names: Vec<String> = called
        .map(|edge| graph.node(edge.to).name.to_string())
        .collect();
    names.sort();
    names
}

const HELPERS: &str = "\
async fn next(_: &u8) -> Option<u8> { None }
fn ready(_: &u8) -> bool { true }
async fn handle(_: u8) {}
async fn tick() {}
fn stop() {}
fn finish() {}
async fn first() {}
async fn second() {}
struct Work;
impl Work { fn done(&self) {} }
";

#[test]
fn calls_in_the_branches_of_select_and_join_are_seen() {
    let run = "
async fn run(rx: u8, work: Work) {
    tokio::select! {
        biased;
        Some(m) = next(&rx), if ready(&rx) => { handle(m).await; }
        _ = tick() => stop(),
        _ = async { work.done() } => {}
        else => finish(),
    }
}

async fn both() {
    futures::join!(first(), second());
}

async fn either() {
    futures::select! {
        _ = first() => match 1 { 1 => stop(), _ => finish() },
        complete => (),
    };
}
";
    let dir = tree(&[("src/lib.rs", &format!("{HELPERS}{run}"))]);
    let graph = load(dir.path()).graph;
    crate::states::check_invariants(&graph);
    assert_eq!(
        callees(&graph, "run"),
        ["done", "finish", "handle", "next", "ready", "stop", "tick"]
    );
    assert_eq!(callees(&graph, "both"), ["first", "second"]);
    assert_eq!(callees(&graph, "either"), ["finish", "first", "stop"]);
}

#[test]
fn branches_that_do_not_parse_lose_nothing_else() {
    let run = "
async fn run() {
    select! { = => => , if = { first( ) => } }
    select! { a = }
    select! {}
    stop();
}
";
    let dir = tree(&[("src/lib.rs", &format!("{HELPERS}{run}"))]);
    let graph = load(dir.path()).graph;
    crate::states::check_invariants(&graph);
    assert!(callees(&graph, "run").contains(&"stop".to_owned()));
}
