//! What building a graph costs beside bare parsing of the same files, how it
//! scales to two threads, what a cache of what was read saves, its peak memory,
//! and how long lookups take.
//!
//! Processor time rather than wall time wherever that is meant, since it repeats
//! on a busy machine. Trees are given by `TOOLCRIB_BENCH_TREES`, separated by
//! `:`; without it this repository is measured. A tree that is not there is said
//! and passed by.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use toolcrib_graph::{
    CachedProvider, CodeGraph, ExploreArea, ListFiles, Lookup, LookupCall, ReadSource, ScanOptions,
    SearchSymbols, Snapshot, SymbolNeighbors,
};
use tree_sitter::Parser;

/// Builds of each kind; the best counts.
const REPEATS: usize = 3;
/// Calls of each lookup on each tree, at most.
const CALLS: usize = 2_000;

fn main() {
    if let Ok(tree) = std::env::var("TOOLCRIB_BENCH_PEAK") {
        let snapshot = Snapshot::load(tree, &ScanOptions::default()).unwrap();
        let lookup = Lookup::new(Arc::new(snapshot.graph));
        std::hint::black_box(&lookup);
        println!("{}", peak_kib());
        return;
    }
    for tree in trees() {
        if tree.is_dir() {
            measure(&tree);
        } else {
            println!(
                "\n{}: no directory, passed by; unpack a tree there or name others in TOOLCRIB_BENCH_TREES",
                tree.display()
            );
        }
    }
}

fn trees() -> Vec<PathBuf> {
    match std::env::var_os("TOOLCRIB_BENCH_TREES") {
        Some(list) => std::env::split_paths(&list).collect(),
        None => vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")],
    }
}

fn measure(tree: &Path) {
    let options = |threads| ScanOptions {
        threads: Some(threads),
        ..ScanOptions::default()
    };
    let load = |threads| Snapshot::load(tree, &options(threads)).unwrap();
    let snapshot = load(1);
    let parsed: u64 = parsed_files(&snapshot.graph)
        .map(|(_, text)| text.len() as u64)
        .sum();
    let megabytes = parsed as f64 / 1e6;

    let (bare_cpu, _) = best(|| parse_all(&snapshot.graph));
    let (one_cpu, one_wall) = best(|| drop(load(1)));
    let (_, two_wall) = best(|| drop(load(2)));
    let graph = Arc::new(snapshot.graph);
    let (index_cpu, _) = best(|| drop(Lookup::new(Arc::clone(&graph))));

    let name = tree.canonicalize().unwrap();
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    println!(
        "\n{name}: {} files, {megabytes:.1} MB in a language that is parsed, {} nodes, {} edges, {} call sites",
        graph.files().len(),
        graph.nodes().len(),
        graph.edges().len(),
        graph.sites().len(),
    );
    println!(
        "  bare tree-sitter parsing  {:>7.2} MB per CPU second",
        megabytes / bare_cpu.as_secs_f64()
    );
    println!(
        "  whole build, one thread   {:>7.2} MB per CPU second, {:.2} of bare parsing",
        megabytes / one_cpu.as_secs_f64(),
        bare_cpu.as_secs_f64() / one_cpu.as_secs_f64()
    );
    let (cold, warm, size) = kept(tree);
    println!(
        "  with a cache              {:>7.2} CPU seconds cold, {:.2} warm ({:.0} % of {:.2} without), {:.1} MB on disk",
        cold.as_secs_f64(),
        warm.as_secs_f64(),
        100.0 * warm.as_secs_f64() / one_cpu.as_secs_f64(),
        one_cpu.as_secs_f64(),
        size as f64 / 1e6,
    );
    println!(
        "  two threads               {:>7.2} times as fast ({:.2} s, {:.2} s)",
        one_wall.as_secs_f64() / two_wall.as_secs_f64(),
        two_wall.as_secs_f64(),
        one_wall.as_secs_f64(),
    );
    println!(
        "  index of the lookups      {:>7.1} ms",
        index_cpu.as_secs_f64() * 1e3
    );
    println!(
        "  peak memory               {:>7.1} MB",
        peak_of(tree) as f64 / 1024.0
    );
    lookups(&Lookup::new(graph));
}

/// Processor time of a first and a later start with a cache, one thread, and the
/// bytes that it takes.
fn kept(tree: &Path) -> (Duration, Duration, u64) {
    let dir = tempfile::tempdir().unwrap();
    let options = ScanOptions {
        threads: Some(1),
        ..ScanOptions::default()
    };
    let provider = CachedProvider::new(dir.path(), tree);
    let load = || drop(Snapshot::load_with(tree, &options, &provider).unwrap());
    let (cold, _) = best(|| {
        let _ = std::fs::remove_file(provider.path());
        load();
    });
    let parsed = provider.parsed();
    let (warm, _) = best(load);
    assert_eq!(provider.parsed(), parsed, "a later start parses nothing");
    (
        cold,
        warm,
        std::fs::metadata(provider.path()).unwrap().len(),
    )
}

/// The least processor and wall time of some runs.
fn best(mut run: impl FnMut()) -> (Duration, Duration) {
    let mut least = (Duration::MAX, Duration::MAX);
    for _ in 0..REPEATS {
        let (cpu, wall) = (cpu_time(), Instant::now());
        run();
        least = (least.0.min(cpu_time() - cpu), least.1.min(wall.elapsed()));
    }
    least
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

fn parsed_files(graph: &CodeGraph) -> impl Iterator<Item = (tree_sitter::Language, &str)> {
    graph
        .files()
        .iter()
        .filter_map(|file| Some((grammar(&file.path)?, &*file.text)))
}

fn grammar(path: &str) -> Option<tree_sitter::Language> {
    Some(match path.rsplit_once('.')?.1 {
        "rs" => tree_sitter_rust::LANGUAGE.into(),
        "py" | "pyi" => tree_sitter_python::LANGUAGE.into(),
        "go" => tree_sitter_go::LANGUAGE.into(),
        "java" => tree_sitter_java::LANGUAGE.into(),
        "c" => tree_sitter_c::LANGUAGE.into(),
        "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => tree_sitter_cpp::LANGUAGE.into(),
        "js" | "mjs" | "cjs" | "jsx" => tree_sitter_javascript::LANGUAGE.into(),
        "ts" | "mts" | "cts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX.into(),
        _ => return None,
    })
}

fn parse_all(graph: &CodeGraph) {
    let mut parser = Parser::new();
    for (language, text) in parsed_files(graph) {
        parser.set_language(&language).unwrap();
        std::hint::black_box(parser.parse(text, None));
    }
}

/// Peak memory of a process that does nothing but build this graph, in KiB.
fn peak_of(tree: &Path) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .env("TOOLCRIB_BENCH_PEAK", tree)
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn lookups(lookup: &Lookup) {
    let graph = lookup.graph();
    let step = (graph.nodes().len() / CALLS).max(1);
    let nodes = || graph.nodes().iter().step_by(step);
    let timed = |name: &str, calls: Vec<LookupCall>| {
        let mut times: Vec<Duration> = calls
            .iter()
            .map(|call| {
                let start = Instant::now();
                // A name that is not unique is an error, which costs as well.
                let _ = std::hint::black_box(lookup.run(call));
                start.elapsed()
            })
            .collect();
        times.sort();
        let at = |share: f64| {
            let last = times.len() - 1;
            times[(last as f64 * share) as usize].as_secs_f64() * 1e3
        };
        println!(
            "  {name:<17} p50 {:>7.3} ms  p99 {:>7.3} ms  max {:>7.3} ms  ({} calls)",
            at(0.5),
            at(0.99),
            at(1.0),
            times.len()
        );
    };
    timed(
        "search_symbols",
        nodes()
            .map(|node| {
                LookupCall::SearchSymbols(SearchSymbols {
                    query: node.name.to_string(),
                    ..Default::default()
                })
            })
            .collect(),
    );
    // Words of doc comments, as a person would type them.
    timed(
        "search, phrases",
        nodes()
            .filter_map(|node| node.doc.as_deref())
            .map(|doc| {
                let words: Vec<&str> = doc.split_whitespace().take(4).collect();
                LookupCall::SearchSymbols(SearchSymbols {
                    query: words.join(" "),
                    ..Default::default()
                })
            })
            .collect(),
    );
    timed(
        "explore, a name",
        nodes()
            .map(|node| {
                LookupCall::ExploreArea(ExploreArea {
                    query: node.qualified_name.to_string(),
                    ..Default::default()
                })
            })
            .collect(),
    );
    let paths = || {
        let step = (graph.files().len() / CALLS).max(1);
        graph
            .files()
            .iter()
            .step_by(step)
            .map(|file| file.path.to_string())
    };
    let folders = paths().filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned()));
    timed(
        "explore, a path",
        folders
            .clone()
            .map(|query| {
                LookupCall::ExploreArea(ExploreArea {
                    query,
                    ..Default::default()
                })
            })
            .collect(),
    );
    timed(
        "symbol_neighbors",
        nodes()
            .map(|node| {
                LookupCall::SymbolNeighbors(SymbolNeighbors {
                    name: node.qualified_name.to_string(),
                    ..Default::default()
                })
            })
            .collect(),
    );
    timed(
        "read_source",
        paths()
            .map(|path| {
                LookupCall::ReadSource(ReadSource {
                    path,
                    ..Default::default()
                })
            })
            .collect(),
    );
    timed(
        "list_files",
        folders
            .map(|path| {
                LookupCall::ListFiles(ListFiles {
                    path: Some(path),
                    ..Default::default()
                })
            })
            .collect(),
    );
}
