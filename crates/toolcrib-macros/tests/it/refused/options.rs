use toolcrib::tool;

/// Does it.
#[tool(effect = "readonly")]
async fn effect() {}

/// Does it.
#[tool(readonly)]
async fn unknown() {}

/// Does it.
#[tool(name = "fs.read")]
async fn name() {}

/// Does it.
#[tool(timeout_secs = 0)]
async fn timeout() {}

/// Does it.
#[tool(title = "A", title = "B")]
async fn twice() {}

/// Does it.
#[tool]
async fn größe() {}

fn main() {}
