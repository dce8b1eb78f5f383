//! The limits of one run.
//!
//! Rounds always exist and are exact, and so are tool calls. What only the
//! provider can count (tokens, money) and time are checked before each request,
//! so that they overshoot by the call in flight at most. Where a provider counts
//! no tokens, four bytes stand for one, so that a limit is never without effect.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one run may spend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Model requests whose reply counts, the tool-free last one included. At
    /// least 1; 1 means that the first request already takes no tool calls.
    pub rounds: u32,
    /// Prompt and generated tokens together, over all requests.
    pub tokens: Option<u64>,
    /// Prompt tokens over all requests.
    pub tokens_in: Option<u64>,
    /// Generated tokens over all requests.
    pub tokens_out: Option<u64>,
    /// US dollars. Has an effect only where the provider reports a cost or the
    /// model's profile has a price.
    pub cost: Option<f64>,
    /// From the start of the run. A request or a call under way when it is reached
    /// may go on for a twentieth of it, at most 2 s, and is then dropped.
    pub wall_time: Option<Duration>,
    /// Calls handed to tools. When they are spent, the next round is the last.
    pub tool_calls: Option<u64>,
}

/// Twenty rounds and nothing else: what money and time a task is worth only the caller
/// knows. A request that hangs is ended by the stream's idle limit and a call by its
/// tool's timeout, so the run ends all the same.
impl Default for Budget {
    fn default() -> Budget {
        Budget {
            rounds: 20,
            tokens: None,
            tokens_in: None,
            tokens_out: None,
            cost: None,
            wall_time: None,
            tool_calls: None,
        }
    }
}

/// One limit of a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// [`Budget::rounds`].
    Rounds,
    /// [`Budget::tool_calls`].
    ToolCalls,
    /// [`Budget::tokens`].
    Tokens,
    /// [`Budget::tokens_in`].
    TokensIn,
    /// [`Budget::tokens_out`].
    TokensOut,
    /// [`Budget::cost`].
    Cost,
    /// [`Budget::wall_time`].
    WallTime,
    /// The same call with the same result, three times; not a part of the budget.
    Repeats,
    /// Replies that were cut off at the output limit, three in a row; not a part of the
    /// budget.
    Cut,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Rounds => "rounds",
            Limit::ToolCalls => "tool calls",
            Limit::Tokens => "tokens",
            Limit::TokensIn => "input tokens",
            Limit::TokensOut => "output tokens",
            Limit::Cost => "cost",
            Limit::WallTime => "time",
            Limit::Repeats => "repeated calls",
            Limit::Cut => "cut replies",
        })
    }
}

/// Why a [`Budget`] cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// No round at all.
    #[error("a budget of 0 rounds allows no request; give at least 1 round")]
    NoRounds,
    /// A cost that is no amount.
    #[error("a cost limit of {0} is not an amount; give US dollars, at least 0")]
    Cost(f64),
}

impl Budget {
    /// The default limits with another number of rounds.
    pub fn rounds(rounds: u32) -> Budget {
        Budget {
            rounds,
            ..Budget::default()
        }
    }

    /// Checks that the limits can be kept at all.
    ///
    /// # Errors
    /// [`BudgetError`] names the limit that makes no sense.
    pub fn check(&self) -> Result<(), BudgetError> {
        if self.rounds == 0 {
            return Err(BudgetError::NoRounds);
        }
        match self.cost {
            Some(usd) if !(usd >= 0.0 && usd.is_finite()) => Err(BudgetError::Cost(usd)),
            _ => Ok(()),
        }
    }

    /// The limit with its amount, for people: `20 rounds`, `$0.5`.
    pub fn describe(&self, limit: Limit) -> String {
        fn of<T: fmt::Display>(amount: Option<T>, limit: Limit) -> String {
            match amount {
                Some(amount) => format!("{amount} {limit}"),
                None => limit.to_string(),
            }
        }
        match limit {
            Limit::Rounds => of(Some(self.rounds), limit),
            Limit::ToolCalls => of(self.tool_calls, limit),
            Limit::Tokens => of(self.tokens, limit),
            Limit::TokensIn => of(self.tokens_in, limit),
            Limit::TokensOut => of(self.tokens_out, limit),
            Limit::Cost => self
                .cost
                .map_or_else(|| limit.to_string(), |usd| format!("${usd}")),
            Limit::Repeats | Limit::Cut => limit.to_string(),
            Limit::WallTime => self.wall_time.map_or_else(
                || limit.to_string(),
                |time| format!("{} s", time.as_secs_f64()),
            ),
        }
    }
}
