//! The page about the examples names all of them and shows code that compiles.

const PAGE: &str = include_str!("../../../../docs/examples.md");

#[test]
fn each_example_is_on_the_page() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files: Vec<_> = std::fs::read_dir(dir).unwrap().collect();
    assert!(files.len() >= 5);
    for file in files {
        let name = file.unwrap().file_name();
        let name = name.to_str().unwrap();
        let link = format!("../crates/toolcrib/examples/{name}");
        assert!(PAGE.contains(&link), "{name}");
        let printed = format!("\n`{}`", name.trim_end_matches(".rs"));
        assert!(PAGE.contains(&printed), "what {name} prints");
    }
}

#[test]
fn the_code_on_the_page_is_that_of_an_example() {
    let (_, code) = PAGE.split_once("```rust\n").unwrap();
    let (code, _) = code.split_once("```").unwrap();
    assert!(include_str!("../../examples/approver.rs").contains(code.trim_end()));
}
