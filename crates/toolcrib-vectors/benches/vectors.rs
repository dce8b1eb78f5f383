//! What a query, a tool and a scan of 5,181 tools cost.
fn main() {
    divan::main();
}
