use toolcrib::tool;

struct Report;

/// Reports.
#[tool]
async fn report() -> Report {
    Report
}

/// Reports, or fails.
#[tool]
async fn attempt() -> Result<String, Report> {
    Err(Report)
}

fn main() {}
