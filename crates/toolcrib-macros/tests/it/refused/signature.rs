use toolcrib::{ToolContext, tool};

#[tool]
async fn undocumented(a: i64) -> i64 {
    a
}

/// # Errors
/// Only what a reader of the code needs.
#[tool]
async fn documented_for_programmers(a: i64) -> i64 {
    a
}

/// Adds one.
#[tool]
fn blocking(a: i64) -> i64 {
    a + 1
}

/// Shows a value.
#[tool]
async fn generic<T>(value: T) -> String
where
    T: std::fmt::Display,
{
    value.to_string()
}

/// Reads raw memory.
#[tool]
async unsafe fn peek(address: u64) -> u64 {
    address
}

/// Waits.
#[tool]
async fn twice(first: &ToolContext, second: &ToolContext) {
    let _ = (first, second);
}

struct Server;

impl Server {
    /// Says whether it is up.
    #[tool]
    async fn up(&self) -> bool {
        true
    }
}

/// Not a function.
#[tool]
const LIMIT: u32 = 1;

fn main() {}
