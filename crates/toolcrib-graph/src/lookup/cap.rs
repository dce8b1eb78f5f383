//! Fitting an answer into its characters: whole records only.
//!
//! The limit counts characters, not bytes, and includes the head, the
//! `(truncated)` marker and the follow-up call, so that nothing downstream has
//! to cut again.

use super::{Rest, Voice};

/// The most characters one answer has.
pub const MAX_CHARS: usize = 8_000;

/// The word that marks an answer cut by [`MAX_CHARS`].
pub const TRUNCATED: &str = "(truncated)";

/// Characters of one record; what is longer is clipped by whoever renders it.
pub(crate) const MAX_RECORD: usize = 1_200;

/// How many of `records` fit between a head and a tail within `limit`
/// characters. Head and tail are written for a count, since they state it.
pub(crate) fn fitting(limit: usize, records: &[String], frame: impl Fn(usize) -> usize) -> usize {
    let mut sums = Vec::with_capacity(records.len() + 1);
    sums.push(0usize);
    for record in records {
        sums.push(sums[sums.len() - 1] + record.chars().count() + 1);
    }
    let mut count = sums.partition_point(|&s| s <= limit).saturating_sub(1);
    while count > 0 && sums[count] + frame(count) > limit {
        count -= 1;
    }
    count
}

/// One page of a listing.
pub(crate) struct Page {
    /// How many of the records it has.
    pub(crate) shown: usize,
    /// What it leaves out.
    pub(crate) rest: Option<Rest>,
    /// Head, records, notes, follow-up.
    pub(crate) text: String,
}

/// Sets out as many of `records` as fit. `head` and `rest` are told how many
/// records are shown; `rest` also whether the characters ended the page.
pub(crate) fn page(
    voice: &Voice,
    limit: usize,
    records: &[String],
    notes: &str,
    head: impl Fn(usize) -> String,
    rest: impl Fn(usize, bool) -> Option<Rest>,
) -> Page {
    let tail = |shown: usize| rest(shown, shown < records.len());
    let shown = fitting(limit, records, |shown| {
        let follow_up = tail(shown).map_or(0, |r| r.line(voice).chars().count());
        head(shown).chars().count() + 1 + notes.chars().count() + follow_up
    });
    let rest = tail(shown);
    let mut text = head(shown);
    text.push('\n');
    for record in &records[..shown] {
        text.push_str(record);
        text.push('\n');
    }
    text.push_str(notes);
    if let Some(rest) = &rest {
        text.push_str(&rest.line(voice));
    }
    Page { shown, rest, text }
}

/// `text` with at most `max` characters, the last of them `…` when it was cut.
pub(crate) fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => {
            let mut cut: String = text.chars().take(max.saturating_sub(1)).collect();
            cut.push('…');
            cut
        }
    }
}

/// `text` on one line, control characters made visible as spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g05_a_record_is_never_split_and_characters_are_counted() {
        let records: Vec<String> = (0..10).map(|_| "é".repeat(9)).collect();
        assert_eq!(fitting(100, &records, |_| 0), 10);
        assert_eq!(fitting(99, &records, |_| 0), 9);
        assert_eq!(fitting(100, &records, |k| k), 9);
        assert_eq!(fitting(5, &records, |_| 0), 0);
        assert_eq!(clip("éééé", 3), "éé…");
        assert_eq!(clip("ééé", 3), "ééé");
    }
}
