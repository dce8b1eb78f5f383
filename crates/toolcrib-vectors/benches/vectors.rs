//! What a query, the vectors of 5,181 tools and a scan of them cost: `cargo bench -p toolcrib-vectors`.

use divan::{Bencher, black_box};
use std::hash::{DefaultHasher, Hash, Hasher};
use toolcrib_vectors::{DIMS, Table, Vector, VectorSet};

const TOOLS: usize = 5_181;

fn main() {
    Table::builtin();
    divan::main();
}

fn noise(seed: usize) -> Vector {
    let component = |at: usize| {
        let mut hasher = DefaultHasher::new();
        (seed, at).hash(&mut hasher);
        (hasher.finish() as i8).max(-127)
    };
    Vector::from_components(std::array::from_fn::<i8, DIMS, _>(component))
}

fn tool(at: usize) -> String {
    format!(
        "get_repository_item_{at}: Retrieves one item of a repository by its identifier, with its labels, comments and \
         history. Use it when the user names an issue, a pull request or a discussion. (owner repo itemNumber page)"
    )
}

#[divan::bench]
fn scan_5181(bencher: Bencher<'_, '_>) {
    let mut set = VectorSet::with_capacity(TOOLS);
    (0..TOOLS).for_each(|at| set.push(&noise(at)));
    let (query, mut scores) = (noise(TOOLS), Vec::new());
    bencher.bench_local(|| set.scores(black_box(&query), &mut scores));
}

#[divan::bench]
fn embed_query() -> Vector {
    Table::builtin().embed(black_box(
        "look across GitHub for open bug reports that mention SSO timeouts",
    ))
}

#[divan::bench]
fn embed_100_kilobytes(bencher: Bencher<'_, '_>) {
    let text = "look across GitHub ".repeat(5_300);
    bencher.bench(|| Table::builtin().embed(black_box(&text)));
}

#[divan::bench]
fn embed_5181_tools(bencher: Bencher<'_, '_>) {
    let texts: Vec<String> = (0..TOOLS).map(tool).collect();
    bencher.bench(|| {
        let mut set = VectorSet::with_capacity(TOOLS);
        texts
            .iter()
            .for_each(|text| set.push(&Table::builtin().embed(text)));
        set
    });
}

#[divan::bench]
fn read_table(bencher: Bencher<'_, '_>) {
    let bytes: &'static [u8] = include_bytes!("../data/table.bin");
    bencher.bench(|| Table::from_bytes(black_box(bytes)));
}
