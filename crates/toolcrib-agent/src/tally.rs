//! What a run has spent so far.

use serde::{Deserialize, Serialize};
use toolcrib_core::{Cost, Usage};

use crate::{Budget, Limit};

/// Counters of one run. Counts that nobody reported are absent, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Tally {
    /// Rounds begun; never more than the budget's.
    pub rounds: u32,
    /// Tool-free attempts after the last round; 0 or 1.
    pub extra_attempts: u32,
    /// Calls handed to tools.
    pub calls: u64,
    /// Sum of the reported token counts.
    pub usage: Usage,
    /// Sum of the reported costs; partial when some request reported none.
    pub cost: Option<Cost>,
    /// Requests whose cost is unknown.
    uncosted: u32,
    /// Tokens charged against the budget: reported, else estimated.
    charged_in: u64,
    charged_out: u64,
}

/// Stands in for a tokenizer where a provider reports nothing.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;

impl Tally {
    /// Adds one reply; the byte counts are those of the request and the reply.
    pub(crate) fn add(&mut self, usage: &Usage, cost: Option<&Cost>, sent: u64, received: u64) {
        self.charged_in += usage.input.unwrap_or(sent / BYTES_PER_TOKEN);
        self.charged_out += usage.output.unwrap_or(received / BYTES_PER_TOKEN);
        self.usage.add(usage);
        match (cost, &mut self.cost) {
            (None, _) => self.add_unknown_cost(),
            (Some(cost), Some(sum)) => {
                sum.usd += cost.usd;
                sum.partial |= cost.partial;
                sum.estimated |= cost.estimated;
            }
            (Some(cost), none) => {
                *none = Some(Cost {
                    partial: cost.partial || self.uncosted > 0,
                    ..*cost
                });
            }
        }
    }

    /// A request that may be billed, but whose price will never be known.
    pub(crate) fn add_unknown_cost(&mut self) {
        self.uncosted += 1;
        if let Some(sum) = &mut self.cost {
            sum.partial = true;
        }
    }

    /// The first spent limit of those that end a run at once.
    pub(crate) fn spent(&self, budget: &Budget, elapsed: std::time::Duration) -> Option<Limit> {
        let over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used >= limit);
        let cost = |limit: f64| self.cost.is_some_and(|cost| cost.usd >= limit);
        if over(
            self.charged_in.saturating_add(self.charged_out),
            budget.tokens,
        ) {
            Some(Limit::Tokens)
        } else if over(self.charged_in, budget.tokens_in) {
            Some(Limit::TokensIn)
        } else if over(self.charged_out, budget.tokens_out) {
            Some(Limit::TokensOut)
        } else if budget.cost.is_some_and(cost) {
            Some(Limit::Cost)
        } else if budget.wall_time.is_some_and(|limit| elapsed >= limit) {
            Some(Limit::WallTime)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l07_cost_is_the_sum_of_what_was_reported_and_unknown_is_none() {
        let mut tally = Tally::default();
        let none = Usage::default();
        tally.add(&none, None, 0, 0);
        assert_eq!((tally.cost, &tally.usage), (None, &Usage::default()));
        tally.add(&none, Some(&Cost::reported(0.25)), 0, 0);
        tally.add(&none, Some(&Cost::reported(0.5)), 0, 0);
        let cost = tally.cost.unwrap();
        assert_eq!(
            (cost.usd, cost.partial, cost.estimated),
            (0.75, true, false)
        );

        let mut all = Tally::default();
        all.add(&none, Some(&Cost::reported(0.25)), 0, 0);
        assert!(!all.cost.unwrap().partial);
        all.add_unknown_cost();
        assert!(all.cost.unwrap().partial);
    }

    #[test]
    fn a_limit_of_all_tokens_adds_both_directions() {
        let mut tally = Tally::default();
        let usage = Usage {
            input: Some(60),
            output: Some(40),
            ..Usage::default()
        };
        tally.add(&usage, None, 0, 0);
        let spent = |tokens| {
            let budget = Budget {
                tokens: Some(tokens),
                ..Budget::default()
            };
            tally.spent(&budget, std::time::Duration::ZERO)
        };
        assert_eq!((spent(100), spent(101)), (Some(Limit::Tokens), None));
    }

    #[test]
    fn a_token_limit_counts_bytes_where_the_provider_counts_nothing() {
        let budget = Budget {
            tokens_in: Some(100),
            ..Budget::default()
        };
        let mut tally = Tally::default();
        tally.add(&Usage::default(), None, 396, 4_000);
        assert_eq!(tally.spent(&budget, Default::default()), None);
        tally.add(&Usage::default(), None, 4, 0);
        assert_eq!(
            tally.spent(&budget, Default::default()),
            Some(Limit::TokensIn)
        );
        assert_eq!(tally.usage.input, None);
    }
}
