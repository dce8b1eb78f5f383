use super::process::message;
use super::*;

fn user(text: &str) -> Said {
    Said::User(vec![Content::text(text)])
}

fn session(said: Vec<Said>) -> Session {
    Session {
        id: "s".to_owned(),
        system: "Be brief.".to_owned(),
        said,
        cost: None,
    }
}

#[test]
fn p35_lines_that_are_no_messages_are_told_from_those_that_are() {
    let call = r#"{"jsonrpc":"2.0","method":"x"}"#;
    assert_eq!(message(call.as_bytes()).as_deref(), Some(call));
    assert_eq!(
        message(format!("  {call}\r").as_bytes()).as_deref(),
        Some(call)
    );
    for noise in [
        "",
        "running 1 test",
        "{",
        "[1]",
        r#"{"level":"info","message":"started"}"#,
        r#"{"jsonrpc":"1.0","method":"x"}"#,
        r#"{"jsonrpc":2}"#,
        "\u{fffd}{",
    ] {
        assert_eq!(message(noise.as_bytes()), None, "{noise}");
    }
}

#[test]
fn p35_a_session_is_gone_on_with_while_the_conversation_only_grew() {
    let before = || session(vec![user("a"), Said::Agent("one  two\n".to_owned())]);
    let goes = |said: &[Said]| {
        let found = before().goes_on("Be brief.", said);
        found.map(|(_, new)| new.len())
    };
    let same = Said::Agent("one two".to_owned());
    assert_eq!(
        goes(&[user("a"), same.clone(), user("b"), user("c")]),
        Some(2)
    );
    assert_eq!(goes(&[user("a"), same.clone()]), None);
    assert_eq!(goes(&[user("a")]), None);
    assert_eq!(goes(&[user("x"), same.clone(), user("b")]), None);
    let other = Said::Agent("one three".to_owned());
    assert_eq!(goes(&[user("a"), other, user("b")]), None);
    assert_eq!(
        goes(&[user("a"), same.clone(), user("b"), same.clone()]),
        None
    );
    let said = [user("a"), same, user("b")];
    assert!(before().goes_on("Be long.", &said).is_none());
}

#[test]
fn p35_a_new_session_begins_with_the_whole_conversation() {
    let texts = |blocks: Vec<Value>| -> Vec<String> {
        let text = |block: &Value| block["text"].as_str().unwrap().to_owned();
        blocks.iter().map(text).collect()
    };
    assert_eq!(
        texts(opening("Be brief.", &[user("a")], false)),
        ["Be brief.", "a"]
    );
    assert_eq!(texts(opening(" ", &[user(" ")], false)), ["(empty)"]);
    let said = [user("a"), Said::Agent("one".to_owned()), user("b")];
    assert_eq!(
        texts(opening("Be brief.", &said, false)),
        [
            "Be brief.",
            "The conversation so far:",
            "The user wrote:",
            "a",
            "You wrote:\none",
            "Now the user writes:",
            "b"
        ]
    );
    let image = Said::User(vec![Content::Image {
        media_type: "image/png".into(),
        data: "aGk=".into(),
    }]);
    assert_eq!(
        opening("", std::slice::from_ref(&image), true),
        [json!({"type": "image", "mimeType": "image/png", "data": "aGk="})]
    );
    assert_eq!(
        texts(opening("", &[image], false)),
        ["(an image that this agent cannot be shown)"]
    );
}

#[test]
fn p35_a_command_is_split_like_a_shell_and_expands_nothing() {
    let model = AcpModel::new("opencode acp 'a b' $HOME").unwrap();
    assert_eq!(model.program.program, "opencode");
    assert_eq!(model.program.args, ["acp", "a b", "$HOME"]);
    assert_eq!(&*model.profile.id, "acp:opencode acp 'a b' $HOME");
    let relative = AcpModel::new("bin/agent").unwrap();
    assert!(std::path::Path::new(&relative.program.program).is_absolute());
    assert_eq!(relative.program.name(), "agent");
    for wrong in ["", "  ", "a 'b", "''"] {
        let error = AcpModel::new(wrong).unwrap_err();
        assert_eq!(error.kind, Kind::Unsupported);
    }
}
