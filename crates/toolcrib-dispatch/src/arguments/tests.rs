use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_text_is_read_or_explained_within_bounds(text in "([{}\\[\\]\":,a1\n\\\\ü ]{0,30}){0,60}") {
        match read("tool", &text) {
            Ok(read) => {
                let value: Value = serde_json::from_str(read.arguments.as_str()).unwrap();
                prop_assert!(value.is_object());
                prop_assert_eq!(value, read.value);
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
    let error = read("tool", &long).err().unwrap();
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
        assert_eq!(serde_json::to_value(&repair).unwrap(), repair.as_str());
        assert_eq!(repair.to_string(), repair.as_str());
    }
    for repair in [
        NumberInString("a[1]".into()),
        JsonInString("a[1]".into()),
        NullLeftOut("a[1]".into()),
    ] {
        let json = serde_json::to_value(&repair).unwrap();
        assert_eq!(json[repair.as_str()], "a[1]");
        assert_eq!(repair.to_string(), format!("{} a[1]", repair.as_str()));
        assert_eq!(serde_json::from_value::<Repair>(json).unwrap(), repair);
    }
}
