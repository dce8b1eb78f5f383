//! Names and paths close to one that does not exist.
//!
//! A wrong call usually has a typo, a wrong qualifier or a wrong directory;
//! each of the three is measured, and the nearest few are offered.

use super::Lookup;
use super::index::{letters, separators_unified};
use super::words::query_words;
use crate::model::NodeId;

/// How many near names or paths an error offers.
pub(crate) const NEAR: usize = 5;

/// The distance of `a` and `b` in edits (insert, delete, replace, swap of two
/// neighbours), or `None` when it exceeds `limit`.
pub(crate) fn distance(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        let mut least = i;
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
            least = least.min(row[j]);
        }
        if least > limit {
            return None;
        }
        before = std::mem::replace(&mut above, row);
    }
    Some(above[b.len()]).filter(|&d| d <= limit)
}

impl Lookup {
    /// Up to [`NEAR`] symbols whose names are closest to `name`, nearest first.
    pub(crate) fn near_symbols(&self, name: &str) -> Vec<NodeId> {
        let unified = separators_unified(name.trim().trim_end_matches("()"));
        let bare = unified.rsplit('.').next().unwrap_or("");
        if bare.is_empty() {
            return Vec::new();
        }
        let chars: Vec<char> = bare.chars().collect();
        let limit = (chars.len() / 3).clamp(1, 4);
        let wanted = query_words(bare);
        let mut scored: Vec<(usize, NodeId)> = Vec::new();
        let mut last: Option<(&str, Option<usize>)> = None;
        let mut candidate: Vec<char> = Vec::new();
        let own = letters(bare);
        for (lower, id, theirs) in self.index.names() {
            // Each edit changes at most two bits; containment only adds some.
            let apart = own & !theirs != 0 && theirs & !own != 0;
            if apart && (own ^ theirs).count_ones() as usize > 2 * limit {
                continue;
            }
            let score = match last {
                Some((name, score)) if name == lower => score,
                _ => {
                    candidate.clear();
                    candidate.extend(lower.chars());
                    let score = distance(&chars, &candidate, limit)
                        .map(|d| d * 2)
                        .or_else(|| contained(bare, lower));
                    last = Some((lower, score));
                    score
                }
            };
            if let Some(score) = score {
                scored.push((score, id));
            }
        }
        if scored.len() < NEAR && wanted.len() > 1 {
            let mut seen: std::collections::BTreeMap<NodeId, usize> = Default::default();
            for word in &wanted {
                self.index
                    .name_words
                    .exact(word, |id| *seen.entry(NodeId(id)).or_default() += 1);
            }
            scored.extend(
                seen.into_iter()
                    .filter(|&(_, n)| n * 2 >= wanted.len())
                    .map(|(id, n)| (20 + wanted.len() - n, id)),
            );
        }
        // Of equally near names, those under the same qualifiers come first.
        let qualifiers: Vec<&str> = unified.split('.').rev().skip(1).collect();
        for (score, id) in &mut scored {
            let theirs = separators_unified(&self.graph.node(*id).qualified_name);
            let shared = qualifiers
                .iter()
                .filter(|q| theirs.split('.').any(|t| t == **q))
                .count();
            *score = *score * 16 + 15 - shared.min(15);
        }
        scored.sort_unstable();
        let mut found: Vec<NodeId> = Vec::new();
        for (_, id) in scored {
            if !found.contains(&id) {
                found.push(id);
            }
            if found.len() == NEAR {
                break;
            }
        }
        found
    }

    /// Up to [`NEAR`] paths closest to `path`, nearest first.
    pub(crate) fn near_paths(&self, path: &str) -> Vec<String> {
        let lower = path.to_lowercase();
        let parts: Vec<&str> = lower
            .split(['/', '\\'])
            .filter(|p| !p.is_empty() && *p != "." && *p != "..")
            .collect();
        let Some(&name) = parts.last() else {
            return Vec::new();
        };
        let chars: Vec<char> = name.chars().take(200).collect();
        let limit = (chars.len() / 3).clamp(1, 4);
        let mut scored: Vec<(usize, &str)> = Vec::new();
        for file in self.graph.files() {
            let candidate = file.path.to_lowercase();
            let mut theirs = candidate.rsplit('/');
            let file_name = theirs.next().unwrap_or("");
            let shared = parts
                .iter()
                .rev()
                .zip(candidate.rsplit('/'))
                .take_while(|(a, b)| *a == b)
                .count();
            let others = parts
                .iter()
                .filter(|p| candidate.split('/').any(|c| c == **p));
            let overlap = others.count();
            let file_chars: Vec<char> = file_name.chars().take(200).collect();
            let score = if shared > 0 {
                Some(10 - shared.min(10))
            } else {
                distance(&chars, &file_chars, limit)
                    .map(|d| 20 + 10 * d)
                    .or_else(|| stem_eq(name, file_name).then_some(25))
                    .or_else(|| (overlap > 0 && parts.len() > 1).then_some(100))
            };
            if let Some(score) = score {
                scored.push((score * 16 + 15 - overlap.min(15), &file.path));
            }
        }
        scored.sort_unstable();
        scored.truncate(NEAR);
        scored.into_iter().map(|(_, p)| p.to_owned()).collect()
    }
}

fn contained(wanted: &str, name: &str) -> Option<usize> {
    let (short, long) = if wanted.len() < name.len() {
        (wanted, name)
    } else {
        (name, wanted)
    };
    (short.len() >= 4 && long.contains(short)).then(|| 10 + (long.len() - short.len()).min(9))
}

fn stem_eq(a: &str, b: &str) -> bool {
    let stem = |s: &str| s.split('.').next().unwrap_or("").to_owned();
    !stem(a).is_empty() && stem(a) == stem(b)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_counts_a_swap_as_one_edit() {
        let of = |a: &str, b: &str| {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            distance(&a, &b, 3)
        };
        assert_eq!(of("truncate", "trucnate"), Some(1));
        assert_eq!(of("cap", "cap"), Some(0));
        assert_eq!(of("cap", "capped"), Some(3));
        assert_eq!(of("cap", "search"), None);
        assert_eq!(of("größe", "grösse"), Some(2));
    }
}
