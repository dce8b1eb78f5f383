//! Splitting an answer into the units in which one thing is beside another.
//!
//! A unit is a sentence, a list item's sentence or a table cell's row, with its
//! citations, code spans and quotations. A sentence of citations alone belongs
//! to the one before it. A fenced block belongs to the unit that leads to it,
//! when that unit cites something.

use std::ops::Range;

use super::parse::CitedPlace;

/// What a span of a unit is marked up as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup {
    /// Between backticks.
    Code,
    /// Between double quotes.
    Quotation,
    /// Between fences.
    Fence,
}

#[derive(Clone, Debug)]
pub(super) struct Fragment {
    pub(super) markup: Markup,
    /// The bytes between the marks.
    pub(super) at: Range<usize>,
}

/// One sentence with what it cites and quotes.
#[derive(Clone, Debug, Default)]
pub(super) struct Unit {
    pub(super) at: Range<usize>,
    /// Numbers of citations, in order.
    pub(super) citations: Vec<usize>,
    pub(super) fragments: Vec<Fragment>,
}

/// Splits a text whose citations are known.
pub(super) fn units(text: &str, cited: &[CitedPlace]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut paragraph: Option<Range<usize>> = None;
    let mut at = 0;
    let mut fence: Option<(&str, Range<usize>)> = None;
    for line in text.split_inclusive('\n') {
        let here = at..at + line.len();
        at = here.end;
        let bare = line.trim();
        let marker = ["```", "~~~"].into_iter().find(|m| bare.starts_with(m));
        match (&mut fence, marker) {
            (None, Some(marker)) => {
                close(&mut units, text, cited, &mut paragraph);
                // The line that opens a fence may cite what is in it.
                let info = Unit {
                    at: here.clone(),
                    ..Unit::default()
                };
                push(&mut units, with_citations(info, cited));
                fence = Some((marker, here.end..here.end));
                continue;
            }
            (Some((open, body)), marker) => {
                if marker == Some(*open) {
                    let body = body.clone();
                    fence = None;
                    attach(&mut units, body);
                } else {
                    body.end = here.end;
                }
                continue;
            }
            (None, None) => {}
        }
        if bare.is_empty() {
            close(&mut units, text, cited, &mut paragraph);
        } else if begins_block(bare) {
            close(&mut units, text, cited, &mut paragraph);
            paragraph = Some(here);
        } else {
            match &mut paragraph {
                Some(p) => p.end = here.end,
                None => paragraph = Some(here),
            }
        }
    }
    close(&mut units, text, cited, &mut paragraph);
    units
}

fn begins_block(line: &str) -> bool {
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after_digits.len() < line.len() && after_digits.starts_with(['.', ')']);
    line.starts_with(['#', '|', '>'])
        || numbered
        || ["- ", "* ", "+ "].iter().any(|b| line.starts_with(b))
}

/// Ends a paragraph: its sentences become units.
fn close(
    units: &mut Vec<Unit>,
    text: &str,
    cited: &[CitedPlace],
    paragraph: &mut Option<Range<usize>>,
) {
    let Some(paragraph) = paragraph.take() else {
        return;
    };
    let fragments = fragments(text, &paragraph, cited);
    let first = units.len();
    for at in sentences(text, &paragraph, &fragments, cited) {
        let own = fragments
            .iter()
            .filter(|f| at.start <= f.at.start && f.at.end <= at.end);
        let unit = with_citations(
            Unit {
                fragments: own.cloned().collect(),
                at,
                citations: Vec::new(),
            },
            cited,
        );
        if units.len() > first && only_cites(text, &unit, cited) {
            let last = units.len() - 1;
            units[last].at.end = unit.at.end;
            units[last].citations.extend(unit.citations);
            units[last].fragments.extend(unit.fragments);
        } else {
            units.push(unit);
        }
    }
}

fn push(units: &mut Vec<Unit>, unit: Unit) {
    if !unit.citations.is_empty() {
        units.push(unit);
    }
}

fn with_citations(mut unit: Unit, cited: &[CitedPlace]) -> Unit {
    let inside = |c: &CitedPlace| unit.at.start <= c.at.start && c.at.end <= unit.at.end;
    unit.citations = (0..cited.len()).filter(|&i| inside(&cited[i])).collect();
    unit
}

/// Gives a fenced block to the unit before it, when that unit cites.
fn attach(units: &mut [Unit], body: Range<usize>) {
    if let Some(unit) = units.last_mut().filter(|u| !u.citations.is_empty()) {
        unit.fragments.push(Fragment {
            markup: Markup::Fence,
            at: body,
        });
    }
}

/// Code spans and quotations of a paragraph, those that are citations left out.
fn fragments(text: &str, paragraph: &Range<usize>, cited: &[CitedPlace]) -> Vec<Fragment> {
    let mut found = Vec::new();
    let part = &text[paragraph.clone()];
    let mut i = 0;
    while let Some(offset) = part[i..].find(['`', '"', '“']) {
        let at = i + offset;
        let rest = &part[at..];
        let (open, close, markup) = if rest.starts_with('`') {
            let ticks = rest.bytes().take_while(|&b| b == b'`').count();
            (ticks, "`".repeat(ticks), Markup::Code)
        } else if rest.starts_with('“') {
            ('“'.len_utf8(), "”".to_owned(), Markup::Quotation)
        } else {
            (1, "\"".to_owned(), Markup::Quotation)
        };
        let Some(length) = rest[open..].find(&close) else {
            i = at + open;
            continue;
        };
        let start = paragraph.start + at + open;
        found.push(Fragment {
            markup,
            at: start..start + length,
        });
        i = at + open + length + close.len();
    }
    found.retain(|f| {
        !cited
            .iter()
            .any(|c| c.at.start < f.at.end && f.at.start < c.at.end)
    });
    found
}

/// Sentences end at `.`, `!` or `?` before a space and something that begins
/// one, outside of code, quotations and citations.
fn sentences(
    text: &str,
    paragraph: &Range<usize>,
    fragments: &[Fragment],
    cited: &[CitedPlace],
) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = paragraph.start;
    let covered = |i: usize| {
        fragments.iter().any(|f| f.at.contains(&i)) || cited.iter().any(|c| c.at.contains(&i))
    };
    for (offset, c) in text[paragraph.clone()].char_indices() {
        let i = paragraph.start + offset;
        if !matches!(c, '.' | '!' | '?') || covered(i) {
            continue;
        }
        let rest = &text[i + 1..paragraph.end];
        let after = rest.trim_start();
        let begins = after
            .chars()
            .next()
            .is_some_and(|c| !c.is_lowercase() && !matches!(c, ')' | ']' | ','));
        if rest.starts_with(char::is_whitespace) && begins {
            let end = paragraph.end - after.len();
            found.push(start..end);
            start = end;
        }
    }
    if start < paragraph.end {
        found.push(start..paragraph.end);
    }
    found
}

/// Whether nothing but citations and words that introduce them is in a unit.
fn only_cites(text: &str, unit: &Unit, cited: &[CitedPlace]) -> bool {
    if unit.citations.is_empty() || !unit.fragments.is_empty() {
        return false;
    }
    let mut rest = String::new();
    let mut from = unit.at.start;
    for &i in &unit.citations {
        rest.push_str(text.get(from..cited[i].at.start).unwrap_or(""));
        rest.push(' ');
        from = cited[i].at.end;
    }
    rest.push_str(text.get(from..unit.at.end).unwrap_or(""));
    rest.split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .all(|w| {
            matches!(
                w.to_lowercase().as_str(),
                "see" | "source" | "sources" | "file" | "and" | "in" | "also"
            )
        })
}
