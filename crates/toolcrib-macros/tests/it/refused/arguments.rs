use toolcrib::{ToolContext, tool};

/// Adds the parts.
#[tool]
async fn pair((a, b): (i64, i64), _: bool) -> i64 {
    a + b
}

/// Shows a value.
#[tool]
async fn opaque(value: impl std::fmt::Display) -> String {
    value.to_string()
}

/// Counts.
#[tool]
async fn borrowed(items: &[String], total: &mut u64, #[state] seen: &mut u64) {
    let _ = (items, total, seen);
}

/// Waits.
#[tool]
async fn by_value(cx: ToolContext) {
    let _ = cx;
}

/// Lists.
#[tool]
async fn defaults(
    #[default = 3] a: u32,
    #[state(shared)] b: u32,
    #[state]
    #[default(1)]
    c: u32,
) {
    let _ = (a, b, c);
}

fn main() {}
