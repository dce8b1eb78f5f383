//! Notices a model that runs in circles.
//!
//! Two circles: the same failure of a tool again and again, and the same call with
//! the same result again and again. Both are told to the model before they end the
//! run. What is compared are the texts themselves, by hash; what this crate adds to
//! a result is not among them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolcrib_core::{Content, Str, ToolCall, ToolErrorKind, ToolResult};

/// Equal failures of a tool after which the model is told what the tool wants.
const HINT: u32 = 2;
/// Equal failures of a tool that end the run.
pub(crate) const STOP: u32 = 6;
/// Equal calls with equal results of which the model is told.
const TOLD: u32 = 2;
/// Equal calls with equal results that make the next round the last.
const ENOUGH: u32 = 3;

/// What a driver knows of the result of one call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallResult {
    /// What the model reads.
    pub result: ToolResult,
    /// The class of the failure, if it is one.
    pub kind: Option<ToolErrorKind>,
    /// Whether the call may have changed something: what was looked up before may be
    /// different now.
    pub changed: bool,
    /// What the tool wants, for a model that fails with it again and again.
    pub wanted: Str,
}

impl From<ToolResult> for CallResult {
    fn from(result: ToolResult) -> CallResult {
        CallResult {
            kind: result.is_error.then_some(ToolErrorKind::Failed),
            result,
            changed: false,
            wanted: "".into(),
        }
    }
}

/// What was called before and how it ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Guard {
    /// The last failure of each tool, and how often it came in a row.
    failures: BTreeMap<Str, (u64, u32)>,
    /// The arguments that were wrong in it, where they were: what a model reads of the
    /// same mistake may differ.
    wrong: BTreeMap<Str, u64>,
    /// How often each call came with its result since something changed.
    same: BTreeMap<u64, (u64, u32)>,
    /// Calls with results that were seen at all: one of these changes nothing that
    /// was not changed before.
    seen: std::collections::BTreeSet<u64>,
}

/// What a result tells about the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// Nothing.
    Fine,
    /// The same failure again: the result gets a hint.
    FailedAgain,
    /// The same failure for the last time.
    Stuck,
    /// The same call with the same result again: the result says so.
    SameAgain,
    /// The same once more: there is one more round.
    Enough,
}

impl Guard {
    /// Takes one result, in call order.
    pub(super) fn notice(&mut self, call: &ToolCall, ended: &CallResult) -> Notice {
        let text = of_content(&ended.result.content);
        if ended.result.is_error {
            return self.failure(call, text, ended.kind);
        }
        self.failures.remove(&call.name);
        self.wrong.remove(&call.name);
        let key = key_of(call);
        let new = self
            .seen
            .insert(hash([&key.to_le_bytes()[..], &text.to_le_bytes()]));
        if ended.changed && new {
            self.same.clear();
        }
        let (last, count) = self.same.entry(key).or_default();
        if *last == text && *count > 0 {
            *count += 1;
        } else {
            (*last, *count) = (text, 1);
        }
        match *count {
            ..TOLD => Notice::Fine,
            TOLD..ENOUGH => Notice::SameAgain,
            _ => Notice::Enough,
        }
    }

    fn failure(&mut self, call: &ToolCall, text: u64, kind: Option<ToolErrorKind>) -> Notice {
        // A no, or an end, is nobody's mistake.
        if matches!(kind, Some(ToolErrorKind::Denied | ToolErrorKind::Cancelled)) {
            return Notice::Fine;
        }
        let name = &call.name;
        let wrong =
            (kind == Some(ToolErrorKind::BadArgs)).then(|| hash([call.arguments.as_bytes()]));
        let before = match wrong {
            Some(wrong) => self.wrong.insert(name.clone(), wrong),
            None => self.wrong.remove(name),
        };
        let same = wrong.is_some() && wrong == before;
        // A call that gave the same again and again until its tool lost patience is one
        // circle: what it gave counts as well.
        let given = self.same.get_mut(&key_of(call));
        let given = given.filter(|(_, count)| *count >= TOLD);
        let given = given.map_or(0, |(_, count)| std::mem::take(count));
        let (last, count) = self.failures.entry(name.clone()).or_default();
        let first = *count == 0 || !(same || *last == text);
        *count = if first { given + 1 } else { *count + 1 };
        *last = text;
        match *count {
            STOP.. => Notice::Stuck,
            HINT => Notice::FailedAgain,
            _ if first && given > 0 => Notice::FailedAgain,
            _ => Notice::Fine,
        }
    }
}

fn key_of(call: &ToolCall) -> u64 {
    hash([call.name.as_bytes(), call.arguments.as_bytes()])
}

fn of_content(content: &[Content]) -> u64 {
    hash(content.iter().map(|piece| match piece {
        Content::Text(text) => text.as_bytes(),
        Content::Image { data, .. } => data.as_bytes(),
        _ => &[],
    }))
}

/// FNV-1a over parts and their lengths: the same in every process, and a stored run
/// goes on with it.
fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    let mut eat = |bytes: &[u8]| {
        for &byte in bytes {
            state = (state ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    };
    for part in parts {
        eat(&(part.len() as u64).to_le_bytes());
        eat(part);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: "c".into(),
            name: name.into(),
            arguments: arguments.into(),
            extra: None,
        }
    }

    fn fine(text: &str, changed: bool) -> CallResult {
        CallResult {
            changed,
            ..ToolResult::text(&call("t", "{}"), text, false).into()
        }
    }

    fn failed(text: &str, kind: ToolErrorKind) -> CallResult {
        CallResult {
            kind: Some(kind),
            ..ToolResult::text(&call("t", "{}"), text, true).into()
        }
    }

    #[test]
    fn l19_equal_failures_are_counted_by_tool_and_reset_by_anything_else() {
        let mut guard = Guard::default();
        let t = call("t", "{}");
        let no = failed("no", ToolErrorKind::Failed);
        let mut take = |ended: &CallResult| guard.notice(&t, ended);
        assert_eq!((take(&no), take(&no)), (Notice::Fine, Notice::FailedAgain));
        assert_eq!(take(&no), Notice::Fine);
        // A denial neither counts nor resets, a success and another error do reset.
        assert_eq!(take(&failed("denied", ToolErrorKind::Denied)), Notice::Fine);
        assert_eq!((take(&no), take(&no)), (Notice::Fine, Notice::Fine));
        assert_eq!(take(&no), Notice::Stuck);
        take(&fine("yes", false));
        assert_eq!((take(&no), take(&no)), (Notice::Fine, Notice::FailedAgain));
        take(&failed("other", ToolErrorKind::Failed));
        assert_eq!((take(&no), take(&no)), (Notice::Fine, Notice::FailedAgain));
        for _ in 0..20 {
            assert_eq!(take(&failed("denied", ToolErrorKind::Denied)), Notice::Fine);
        }
    }

    #[test]
    fn l19_wrong_arguments_are_the_same_failure_however_it_is_told() {
        let mut guard = Guard::default();
        let mut take = |arguments: &str, text: &str| {
            let ended = failed(text, ToolErrorKind::BadArgs);
            guard.notice(&call("t", arguments), &ended)
        };
        let bad = r#"{"x":"q"}"#;
        assert_eq!(take(bad, "no number. Its schema: {}"), Notice::Fine);
        assert_eq!(take(bad, "no number."), Notice::FailedAgain);
        for _ in 3..STOP {
            assert_eq!(take(bad, "no number."), Notice::Fine);
        }
        assert_eq!(take(bad, "no number."), Notice::Stuck);
        // Another mistake begins anew, the same one with other arguments does not.
        assert_eq!(take("{}", "x is missing."), Notice::Fine);
        assert_eq!(take(r#"{"y":1}"#, "x is missing."), Notice::FailedAgain);
    }

    #[test]
    fn l34_equal_calls_with_equal_results_are_counted_until_something_changed() {
        let mut guard = Guard::default();
        let test = call("test", "{}");
        let red = fine("1 failed", false);
        assert_eq!(guard.notice(&test, &red), Notice::Fine);
        assert_eq!(guard.notice(&test, &red), Notice::SameAgain);
        // Other arguments and another result are another call.
        assert_eq!(
            guard.notice(&call("test", r#"{"a":1}"#), &red),
            Notice::Fine
        );
        guard.notice(&call("edit", r#"{"n":1}"#), &fine("done", true));
        assert_eq!(guard.notice(&test, &red), Notice::Fine);
        assert_eq!(guard.notice(&test, &red), Notice::SameAgain);
        assert_eq!(guard.notice(&test, &red), Notice::Enough);
        assert_eq!(guard.notice(&test, &fine("0 failed", false)), Notice::Fine);
        // Two changes in turn are a circle all the same.
        let mut guard = Guard::default();
        let pair = [call("on", "{}"), call("off", "{}")];
        let told: Vec<_> = (0..10)
            .map(|n| guard.notice(&pair[n % 2], &fine("done", true)))
            .collect();
        assert!(told[..8].contains(&Notice::Enough), "{told:?}");
    }
}
