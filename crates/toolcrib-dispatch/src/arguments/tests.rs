use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_text_is_read_or_explained_within_bounds(text in "([{}\\[\\]\":,a1\n\\\\ü ]{0,30}){0,60}") {
        match read("tool", &text) {
            Ok((arguments, _)) => {
                let value: Value = serde_json::from_str(arguments.as_str()).unwrap();
                prop_assert!(value.is_object());
            }
            Err(error) => {
                let (why, echo) = error.model.split_once("Received: ").unwrap();
                prop_assert!(why.contains("`tool`"));
                prop_assert!(echo.chars().count() <= ECHO + 2);
            }
        }
    }
}

#[test]
fn the_place_is_found_across_lines() {
    let long = format!(
        "{{\"a\":\n\"{}\",\n\n!!!}}{}",
        "x".repeat(2_000),
        " ".repeat(2_000)
    );
    let error = read("tool", &long).unwrap_err();
    assert!(error.model.contains("!!!"), "{}", error.model);
    assert_eq!(line_and_column("{}\n {} x", 6), (2, 3));
}

#[test]
fn a_repair_has_one_name() {
    use Repair::*;
    for repair in [
        EmptyArguments,
        StringHeldObject,
        FirstOfSeveralObjects,
        UnsafeName,
    ] {
        assert_eq!(serde_json::to_value(repair).unwrap(), repair.as_str());
    }
}
