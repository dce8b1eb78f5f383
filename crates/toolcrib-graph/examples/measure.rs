//! Builds the graph of a directory and says what is in it and what it took.
//!
//! `cargo run --release -p toolcrib-graph --example measure -- DIR [THREADS] [sites|nodes]`

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use toolcrib_graph::{ScanOptions, Snapshot};

fn main() {
    let mut args = std::env::args().skip(1);
    let root = args.next().unwrap();
    let threads = args.next().map(|n| n.parse().unwrap());
    let list = args.next().unwrap_or_default();
    let options = ScanOptions {
        threads,
        ..ScanOptions::default()
    };
    let start = Instant::now();
    let cpu = cpu_seconds();
    let snapshot = Snapshot::load(root, &options).unwrap();
    let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let graph = &snapshot.graph;
    if list == "nodes" {
        for node in graph.nodes() {
            let path = &graph.file(node.file).path;
            let line = node.span.start_line;
            println!("{}\t{}\t{path}\t{line}", node.kind, node.qualified_name);
        }
    }
    if list == "sites" {
        for site in graph.sites() {
            let (state, target) = match &site.state {
                toolcrib_graph::SiteState::Resolved { target, .. } => {
                    ("resolved", graph.node(*target).qualified_name.to_string())
                }
                toolcrib_graph::SiteState::External { module } => ("external", module.to_string()),
                other => (other.as_str(), String::new()),
            };
            println!(
                "{}\t{}\t{}-{}\t{}\t{state}\t{target}\t{}",
                graph.file(site.file).path,
                site.span.start_line,
                site.span.start_byte,
                site.span.end_byte,
                site.callee,
                graph.node(site.caller).qualified_name,
            );
        }
    }
    let mb = snapshot.report.bytes as f64 / 1e6;
    println!(
        "{} files, {mb:.2} MB, {} nodes, {} edges, {} sites {:?}",
        snapshot.report.files,
        graph.nodes().len(),
        graph.edges().len(),
        graph.sites().len(),
        graph.site_counts()
    );
    println!(
        "wall {wall:.2} s, cpu {cpu:.2} s, {:.2} MB per CPU second, peak {} MB",
        mb / cpu,
        peak_kb() / 1024
    );
    for problem in &snapshot.report.problems {
        println!("problem: {problem}");
    }
}

/// User and system time of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |i: usize| -> f64 { fields.get(i).and_then(|f| f.parse().ok()).unwrap_or(0.0) };
    (ticks(11) + ticks(12)) / 100.0
}

fn peak_kb() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
