use serde_json::{Value, json};
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::kit::one;

fn tools(count: usize) -> Value {
    (0..count)
        .map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}}))
        .collect()
}

#[tokio::test]
async fn m05_s59_pages_are_followed_to_the_end() {
    let fleet = one(&FakeMcp::new()
        .with("tools", tools(200))
        .with("page_size", 1));
    let manifest = fleet.refresh("fake").await.unwrap();
    assert_eq!(manifest.tools.len(), 200);
    assert_eq!(&*manifest.tools[199].name, "t199");
    assert!(manifest.problems.is_empty());
    fleet.shutdown().await;
}

#[tokio::test]
async fn m05_a_cursor_that_comes_again_ends_the_list() {
    let fake = FakeMcp::new()
        .with("tools", tools(9))
        .with("page_size", 3)
        .with("repeat_cursor", true);
    let fleet = one(&fake);
    let manifest = fleet.refresh("fake").await.unwrap();
    assert_eq!(manifest.tools.len(), 6, "each page once");
    insta::assert_snapshot!(manifest.problems.join("\n"), @"tools/list is cut after 6 entries: page 2 names a page that was read already");
    fleet.shutdown().await;
}

#[tokio::test]
async fn m05_a_later_page_that_fails_keeps_the_earlier_ones() {
    let fake = FakeMcp::new()
        .with("tools", tools(9))
        .with("page_size", 3)
        .with("fail_page", 3);
    let fleet = one(&fake);
    let manifest = fleet.refresh("fake").await.unwrap();
    assert_eq!(manifest.tools.len(), 6);
    insta::assert_snapshot!(manifest.problems.join("\n"), @"tools/list is cut after 6 entries: page 3 failed: page lost (code -32603)");
    fleet.shutdown().await;
}
