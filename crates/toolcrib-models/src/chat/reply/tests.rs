use super::*;

fn with_calls(ids: &[&str]) -> Message {
    let call = |id: &&str| {
        Block::Call(ToolCall {
            id: (*id).into(),
            name: "read".into(),
            arguments: "{}".into(),
            extra: None,
        })
    };
    Message::Assistant(AssistantMessage {
        blocks: ids.iter().map(call).collect(),
        model: "m".into(),
    })
}

fn ids(history: &History, given: &[Option<&str>]) -> Vec<String> {
    let mut ids = Ids::new(history);
    given
        .iter()
        .map(|id| ids.unique(id.map(str::to_owned)).to_string())
        .collect()
}

#[test]
fn p19_missing_and_repeated_ids_become_unique_and_fit_every_template() {
    let empty = History::new();
    assert_eq!(
        ids(&empty, &[None, Some("a"), Some("a"), Some(""), None]),
        ["call00001", "a", "call00002", "call00003", "call00004"]
    );
    let history: History = [with_calls(&["a", "call00003"]), with_calls(&["b"])]
        .into_iter()
        .collect();
    assert_eq!(
        ids(&history, &[Some("b"), None, Some("c")]),
        ["call00004", "call00005", "c"]
    );
}
