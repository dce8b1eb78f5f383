//! How good an answer is.
//!
//! A need is met by the first tool that serves it, and one tool meets one need.

use crate::Query;

/// Means over queries, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// Share of needs met in the first 1, 3, 5 and 10.
    pub recall: [f64; 4],
    /// Share of queries with any need met in the first 1 and 5.
    pub hit: [f64; 2],
    /// Mean of 1 / rank of the first useful tool within 10.
    pub mrr: f64,
    /// Discounted gain within 5, against the best order.
    pub ndcg: f64,
}

/// The scores of `answers`, one list of places a query, best first.
pub fn score(queries: &[&Query], answers: &[Vec<usize>]) -> Scores {
    let mut sum = Scores::default();
    for (query, answer) in queries.iter().zip(answers) {
        let needs = query.needs.len().max(1) as f64;
        let (met, first) = met(query, answer);
        let within = |k: usize| met.iter().filter(|rank| **rank <= k).count() as f64;
        for (recall, k) in sum.recall.iter_mut().zip([1, 3, 5, 10]) {
            *recall += within(k) / needs;
        }
        let Some(first) = first else { continue };
        for (hit, k) in sum.hit.iter_mut().zip([1, 5]) {
            *hit += f64::from(u8::from(first <= k));
        }
        sum.mrr += 1.0 / first as f64;
        let gain = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
        let ideal: f64 = (1..=query.needs.len().min(5)).map(gain).sum();
        let got: f64 = met
            .iter()
            .filter(|rank| **rank <= 5)
            .map(|&rank| gain(rank))
            .sum();
        sum.ndcg += got / ideal;
    }
    let count = queries.len().max(1) as f64;
    Scores {
        recall: sum.recall.map(|v| v / count),
        hit: sum.hit.map(|v| v / count),
        mrr: sum.mrr / count,
        ndcg: sum.ndcg / count,
    }
}

/// The ranks at which needs are met, and the first rank of any useful tool.
fn met(query: &Query, answer: &[usize]) -> (Vec<usize>, Option<usize>) {
    let mut open: Vec<&Vec<usize>> = query.needs.iter().collect();
    let mut ranks = Vec::new();
    let mut first = None;
    let mut seen = Vec::new();
    for &tool in answer.iter().take(10) {
        if seen.contains(&tool) {
            continue;
        }
        seen.push(tool);
        let rank = seen.len();
        if query.needs.iter().any(|need| need.contains(&tool)) {
            first = first.or(Some(rank));
        }
        if let Some(at) = open.iter().position(|need| need.contains(&tool)) {
            open.remove(at);
            ranks.push(rank);
        }
    }
    (ranks, first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(needs: &[&[usize]]) -> Query {
        Query {
            id: "q".into(),
            query: String::new(),
            needs: needs.iter().map(|need| need.to_vec()).collect(),
            half: 0,
        }
    }

    #[test]
    fn a_tool_meets_one_need_and_a_need_is_met_once() {
        let q = query(&[&[1, 2], &[2]]);
        assert_eq!(met(&q, &[1, 2]).0, [1, 2]);
        assert_eq!(met(&q, &[2, 1]).0, [1]);
        assert_eq!(met(&q, &[9, 2, 2, 1]), (vec![2], Some(2)));
        assert_eq!(met(&q, &[]), (vec![], None));
    }

    #[test]
    fn a_repeat_takes_no_rank_but_a_place_among_ten() {
        let q = query(&[&[7]]);
        assert_eq!(met(&q, &[1, 1, 7]).1, Some(2));
        assert_eq!(met(&q, &[0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 7]).1, None);
    }

    #[test]
    fn by_hand() {
        let (a, b) = (query(&[&[0]]), query(&[&[0], &[1], &[2]]));
        let scores = score(&[&a, &b], &[vec![5, 0], vec![1, 4, 4, 4, 0]]);
        assert_eq!(scores.recall[0], (0.0 + 1.0 / 3.0) / 2.0);
        assert_eq!(scores.recall[2], (1.0 + 2.0 / 3.0) / 2.0);
        assert_eq!(scores.hit, [0.5, 1.0]);
        assert_eq!(scores.mrr, 0.75);
        let second = (1.0 + 0.5) / (1.0 + 1.0 / 3f64.log2() + 0.5);
        assert!((scores.ndcg - (1.0 / 3f64.log2() + second) / 2.0).abs() < 1e-12);
    }
}
