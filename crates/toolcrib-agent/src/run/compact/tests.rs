use std::collections::BTreeMap;

use proptest::prelude::*;
use toolcrib_core::{AssistantMessage, Block};

use super::*;
use crate::{Budget, Rules};

/// What one turn of the model adds.
#[derive(Clone, Debug)]
enum Turn {
    Say(usize),
    /// Calls of one of a few lookups, each with the size of its result.
    Call(Vec<(u8, usize)>),
    User(usize),
}

fn turn() -> impl Strategy<Value = Turn> {
    let size = prop_oneof![0usize..300, 300usize..5_000];
    prop_oneof![
        1 => (1usize..500).prop_map(Turn::Say),
        4 => prop::collection::vec((0u8..3, size), 1..4).prop_map(Turn::Call),
        1 => (1usize..500).prop_map(Turn::User),
    ]
}

fn history(turns: &[Turn]) -> History {
    let mut history = History::new();
    let mut ids = 0;
    for turn in turns {
        match turn {
            Turn::User(size) => history.push(Message::user("u".repeat(*size))),
            Turn::Say(size) => history.push(Message::Assistant(AssistantMessage {
                blocks: vec![Block::Text("s".repeat(*size).into())],
                model: "m".into(),
            })),
            Turn::Call(calls) => {
                let calls: Vec<_> = calls
                    .iter()
                    .map(|(which, size)| {
                        ids += 1;
                        let call = ToolCall {
                            id: format!("c{ids}").into(),
                            name: "look".into(),
                            arguments: format!("{{\"q\":{which}}}").into(),
                            extra: None,
                        };
                        (call, *size)
                    })
                    .collect();
                history.push(Message::Assistant(AssistantMessage {
                    blocks: calls.iter().map(|(c, _)| Block::Call(c.clone())).collect(),
                    model: "m".into(),
                }));
                for (call, size) in calls {
                    let text = "r".repeat(size);
                    history.push(Message::Tool(ToolResult::text(&call, text, false)));
                }
            }
        }
    }
    history
}

fn full(turns: &[Turn], window: u64) -> Run {
    let rules = Rules {
        window: Some(window),
        ..Rules::default()
    };
    let question = Message::user("THE QUESTION");
    let mut run = Run::new(History::new(), question, Budget::rounds(9), rules).unwrap();
    history(turns)
        .messages()
        .for_each(|message| run.push(message.clone()));
    run
}

fn all(history: &History) -> Vec<Message> {
    history.messages().cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l23_what_is_left_is_shorter_in_order_and_ends_as_before(
        turns in prop::collection::vec(turn(), 0..14),
    ) {
        let run = full(&turns, 1_000);
        let before = run.history().clone();
        let cut = tail(&before);
        prop_assert!(before.len() - cut >= 6.min(before.len()));
        prop_assert!(!matches!(all(&before).get(cut), Some(Message::Tool(_))));

        let kept = std::cell::RefCell::new(BTreeMap::new());
        let keep = |text: &str| {
            let handle = toolcrib_core::spill_handle(text);
            kept.borrow_mut().insert(handle.clone(), text.to_owned());
            Some(handle)
        };
        let first = without_superseded(&before);
        let second = without_bodies(&first, &keep);
        let third = run.summarised(&second, cut, "it was about this");
        for shorter in [&first, &second, &third] {
            prop_assert!(toolcrib_session::repair(shorter).is_none(), "in order");
            // The tail is as it was.
            let end = |history: &History| all(history)[history.len() - (before.len() - cut)..].to_vec();
            prop_assert_eq!(end(shorter), end(&before));
            // The question is still there, once.
            let asked = all(shorter).iter().filter(|m| match m {
                Message::User(content) => content.contains(&Content::text("THE QUESTION")),
                _ => false,
            }).count();
            prop_assert_eq!(asked, 1);
        }
        prop_assert!(bytes_of(&first) <= bytes_of(&before));
        prop_assert!(bytes_of(&second) <= bytes_of(&first));
        prop_assert_eq!((first.len(), second.len()), (before.len(), before.len()));
        // Whatever was left out can be read or was there again later.
        for (was, now) in all(&before).iter().zip(all(&second)) {
            let (Message::Tool(was), Message::Tool(now)) = (was, &now) else { continue };
            prop_assert_eq!(&was.call_id, &now.call_id);
            if was != now {
                let Content::Text(text) = &now.content[0] else { unreachable!() };
                let told = text.contains("made again later")
                    || kept.borrow().iter().any(|(handle, whole)| {
                        text.contains(&**handle) && was.content == [Content::text(whole.as_str())]
                    });
                prop_assert!(told, "{}", text);
            }
        }
        // Doing it again changes nothing.
        prop_assert_eq!(all(&without_bodies(&second, &keep)), all(&second));
    }

    #[test]
    fn l23_a_transcript_that_is_not_shorter_is_not_taken(
        turns in prop::collection::vec(turn(), 4..14),
        longer in any::<bool>(),
    ) {
        let mut run = full(&turns, 1_000);
        run.phase = Phase::Compact(Compaction::Full);
        let before = all(run.history());
        let mut other = run.history().clone();
        if longer {
            other.push(Message::user("more"));
        }
        prop_assert!(!run.compacted(Some(other)).unwrap());
        prop_assert_eq!(all(run.history()), before);
        // It goes on all the same, and does not ask for it in a circle.
        prop_assert!(!matches!(run.step(), crate::Step::Compact(_)));
    }
}

#[test]
fn l23_it_is_time_at_seven_tenths_of_the_window_and_again_once_it_has_grown() {
    let turns = [
        Turn::Say(399),
        Turn::Say(399),
        Turn::Say(399),
        Turn::Say(399),
        Turn::Say(399),
        Turn::Say(399),
    ];
    // 12 + 2,394 bytes are 601 tokens by the rule of four.
    assert!(!full(&turns, 860).is_full());
    let mut run = full(&turns, 857);
    assert!(run.is_full());
    assert!(matches!(run.step(), crate::Step::Compact(Compaction::Full)));
    run.compacted(None).unwrap();
    assert!(!run.is_full());
    run.push(Message::user("u".repeat(4 * 90)));
    assert!(run.is_full());
    // The provider's own count is believed more than bytes.
    run.measure(Some(100), run.bytes);
    assert!(!run.is_full());
}
