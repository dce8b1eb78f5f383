use std::collections::HashMap;

use serde_json::Value;
use toolcrib_core::ToolName;
use toolcrib_mcp::exported_name;

/// The collection is third-party data and not part of the repository.
const CORPUS: &str = "TOOLCRIB_CORPUS";

#[test]
#[ignore = "reads the collection of real definitions that TOOLCRIB_CORPUS names"]
fn m10_every_tool_of_the_collection_has_a_name_of_its_own_under_any_server_name() {
    let file = std::env::var(CORPUS).expect("TOOLCRIB_CORPUS names tools.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let tools: Vec<(String, String)> = text
        .lines()
        .map(|line| {
            let tool: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| tool[key].as_str().unwrap().to_owned();
            (text("server"), text("tool"))
        })
        .collect();
    assert!(tools.len() > 4_000);
    for dress in [
        "{}",
        "mcp__{}",
        "{}_",
        "my {} server",
        "the-very-long-name-of-the-{}-server-at-work",
    ] {
        let mut seen = HashMap::new();
        for (server, tool) in &tools {
            let server = dress.replace("{}", server);
            let name = exported_name(&server, tool);
            assert!(ToolName::parse(name.as_str()).is_ok(), "{name}");
            assert_eq!(name, exported_name(&server, tool));
            let origin = (server, tool.clone());
            if let Some(other) = seen.insert(name.clone(), origin.clone()) {
                panic!("{name} stands for {origin:?} and {other:?}");
            }
        }
    }
}
