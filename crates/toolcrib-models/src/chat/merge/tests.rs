use super::*;

/// Chunks, each a list of pieces, as JSON.
fn merge(chunks: &[&str]) -> Result<Vec<[String; 3]>, MergeError> {
    let mut calls = Calls::default();
    for chunk in chunks {
        calls.next_chunk();
        let pieces: Vec<CallDelta<'_>> = serde_json::from_str(chunk).unwrap();
        for piece in &pieces {
            calls.push(piece)?;
        }
    }
    Ok(calls
        .into_slots()
        .into_iter()
        .map(|slot| {
            let id = slot.id.unwrap_or_else(|| "-".into());
            [id, slot.name.finish(), slot.arguments.finish()]
        })
        .collect())
}

fn check(chunks: &[&str], expected: &[[&str; 3]]) {
    let merged = merge(chunks).unwrap();
    assert_eq!(merged, expected, "{chunks:#?}");
}

#[test]
fn p19_the_wire_as_documented() {
    check(
        &[
            r#"[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]"#,
            r#"[{"index":0,"function":{"arguments":"{\"p"}}]"#,
            r#"[{"index":0,"function":{"arguments":"\":1}"}}]"#,
            r#"[{"index":1,"id":"b","function":{"name":"list","arguments":""}}]"#,
            r#"[{"index":1,"function":{"arguments":"{}"}}]"#,
        ],
        &[["a", "read", r#"{"p":1}"#], ["b", "list", "{}"]],
    );
}

#[test]
fn p19_one_index_for_all_calls() {
    let expected = [["a", "read", r#"{"p":1}"#], ["b", "read", r#"{"p":2}"#]];
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}]"#,
            r#"[{"index":0,"id":"b","function":{"name":"read","arguments":"{\"p\":2}"}}]"#,
        ],
        &expected,
    );
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}},
                {"index":0,"id":"b","function":{"name":"read","arguments":"{\"p\":2}"}}]"#,
        ],
        &expected,
    );
    // Even without ids, and where the arguments come as objects.
    check(
        &[
            r#"[{"index":0,"function":{"name":"read","arguments":{"p":1}}}]"#,
            r#"[{"index":0,"function":{"name":"read","arguments":{"p":2}}}]"#,
            r#"[{"index":0,"function":{"name":"list","arguments":{}}},
                {"index":0,"function":{"name":"list","arguments":{}}}]"#,
        ],
        &[
            ["-", "read", r#"{"p":1}"#],
            ["-", "read", r#"{"p":2}"#],
            ["-", "list", "{}"],
            ["-", "list", "{}"],
        ],
    );
}

#[test]
fn p19_missing_index() {
    check(
        &[
            r#"[{"id":"a","function":{"name":"read","arguments":"{\"p"}}]"#,
            r#"[{"function":{"arguments":"\":1}"}}]"#,
            r#"[{"id":"b","function":{"name":"list"}}]"#,
            r#"[{"index":null,"function":{"arguments":"{}"}}]"#,
        ],
        &[["a", "read", r#"{"p":1}"#], ["b", "list", "{}"]],
    );
    // Only later pieces lack it.
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]"#,
            r#"[{"function":{"arguments":"{\"p\""}}]"#,
            r#"[{"function":{"arguments":":1}"}}]"#,
        ],
        &[["a", "read", r#"{"p":1}"#]],
    );
}

#[test]
fn p19_an_index_that_grows_with_each_piece() {
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]"#,
            r#"[{"index":1,"function":{"arguments":"{\"p\""}}]"#,
            r#"[{"index":2,"function":{"arguments":":1}"}}]"#,
            r#"[{"index":3,"id":"b","function":{"name":"list","arguments":"{}"}}]"#,
        ],
        &[["a", "read", r#"{"p":1}"#], ["b", "list", "{}"]],
    );
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}]"#,
            r#"[{"index":1,"id":"a","function":{"name":"read","arguments":"\"p\":1"}}]"#,
            r#"[{"index":2,"id":"a","function":{"name":"read","arguments":"}"}}]"#,
        ],
        &[["a", "read", r#"{"p":1}"#]],
    );
}

#[test]
fn p19_ids_first_late_repeated_empty_or_changing() {
    let one = [["a", "read", r#"{"p":1}"#]];
    check(
        &[
            r#"[{"index":0,"id":"a"}]"#,
            r#"[{"index":0,"function":{"name":"read"}}]"#,
            r#"[{"index":0,"id":"","function":{"arguments":"{\"p\":1}"}}]"#,
        ],
        &one,
    );
    check(
        &[
            r#"[{"index":0,"function":{"name":"read","arguments":"{\"p\""}}]"#,
            r#"[{"index":0,"id":"a","function":{"arguments":":1}"}}]"#,
        ],
        &one,
    );
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}]"#,
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}]"#,
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]"#,
        ],
        &one,
    );
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}]"#,
            r#"[{"index":0,"id":"x","function":{"name":null,"arguments":":1}"}}]"#,
        ],
        &one,
    );
    // One id for two calls: both are kept; the reply makes the ids differ.
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]"#,
            r#"[{"index":1,"id":"a","function":{"name":"list","arguments":"{}"}}]"#,
        ],
        &[["a", "read", "{}"], ["a", "list", "{}"]],
    );
}

#[test]
fn p19_names_in_pieces_and_arguments_before_the_name() {
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"get_"}}]"#,
            r#"[{"index":0,"function":{"name":"weather"}}]"#,
            r#"[{"index":0,"function":{"arguments":"{}"}}]"#,
        ],
        &[["a", "get_weather", "{}"]],
    );
    check(
        &[
            r#"[{"index":0,"function":{"arguments":"{\"p\""}}]"#,
            r#"[{"index":0,"function":{"arguments":":1}"}}]"#,
            r#"[{"index":0,"id":"a","function":{"name":"read"}}]"#,
        ],
        &[["a", "read", r#"{"p":1}"#]],
    );
}

#[test]
fn p19_interleaved_calls() {
    check(
        &[
            r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}},
                {"index":1,"id":"b","function":{"name":"list","arguments":""}}]"#,
            r#"[{"index":1,"function":{"arguments":"{\"q\""}},{"index":0,"function":{"arguments":"{\"p\""}}]"#,
            r#"[{"index":0,"function":{"arguments":":1}"}}]"#,
            r#"[{"index":1,"function":{"arguments":":2}"}}]"#,
        ],
        &[["a", "read", r#"{"p":1}"#], ["b", "list", r#"{"q":2}"#]],
    );
}

#[test]
fn p19_absurd_indexes_are_labels_and_size_nothing() {
    check(
        &[
            r#"[{"index":4000000000,"id":"a","function":{"name":"read","arguments":"{\"p\""}}]"#,
            r#"[{"index":4000000000,"function":{"arguments":":1}"}}]"#,
            r#"[{"index":-7,"id":"b","function":{"name":"list","arguments":"{}"}}]"#,
            r#"[{"index":"x","id":"c","function":{"name":"list","arguments":"{}"}}]"#,
        ],
        &[
            ["a", "read", r#"{"p":1}"#],
            ["b", "list", "{}"],
            ["c", "list", "{}"],
        ],
    );
}

#[test]
fn p19_a_piece_that_could_belong_to_two_calls_is_an_error() {
    let merged = merge(&[
        r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]"#,
        r#"[{"index":1,"function":{"arguments":"{\"p\":1}"}}]"#,
        r#"[{"index":1,"id":"b","function":{"name":"list"}}]"#,
    ]);
    assert_eq!(merged, Err(MergeError::Ambiguous));
}

#[test]
fn p19_no_reply_has_a_thousand_calls() {
    let chunks: Vec<String> = (0..=MOST)
        .map(|n| {
            format!(
                r#"[{{"index":{n},"id":"c{n}","function":{{"name":"read","arguments":"{{}}"}}}}]"#
            )
        })
        .collect();
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    assert_eq!(merge(&chunks[..MOST]).unwrap().len(), MOST);
    assert_eq!(merge(&chunks), Err(MergeError::TooMany));
}
