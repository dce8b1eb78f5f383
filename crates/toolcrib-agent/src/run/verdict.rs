//! What becomes of a reply without calls: an answer, a request to try again, or
//! the end.

use toolcrib_core::{Finish, Message, Str};

use super::{OutOfTurn, Phase, Run};
use crate::leak::leaked_markup;
use crate::{End, Event, Limit, Rejection, RejectionReason, Unanswered, words};

/// How many replies without text and calls end a run.
const SILENT: u8 = 3;
/// How many answers in a row that are cut off make the next round the last.
const CUT: u8 = 3;

impl Run {
    /// Decides whether a reply without calls can be tried as the answer.
    pub(super) fn consider(&mut self, text: Str, finish: &Finish) {
        let last_chance = self.tally.extra_attempts > 0;
        self.cut = match finish {
            Finish::Length => self.cut.saturating_add(1),
            _ => 0,
        };
        if self.cut >= CUT {
            // The attempt after the last round takes what there is.
            self.hurry.get_or_insert(Limit::Cut);
        }
        if text.trim().is_empty() {
            let error = match finish {
                Finish::Length => words::CUT_EMPTY,
                _ => words::EMPTY,
            };
            self.reject(RejectionReason::Empty, error.into());
        } else if let Some(found) = leaked_markup(&text) {
            let error = words::markup(found, self.will_offer_tools(), self.rules.format.is_none());
            self.reject(RejectionReason::Markup, error.into());
        } else if *finish == Finish::Length && !last_chance {
            self.reject(RejectionReason::Cut, words::CUT_ANSWER.into());
        } else if let (Finish::Other(why), false) = (finish, last_chance) {
            // A reason nobody knows may stand for an error: it does not count as success.
            self.reject(RejectionReason::Cut, words::ended_oddly(why).into());
        } else {
            self.phase = Phase::Check(text);
        }
    }

    /// The provider wants the turn back as it is: no message of ours comes between.
    pub(super) fn paused(&mut self, text: &str) {
        self.rejection = Some(Rejection {
            reason: RejectionReason::Paused,
            error: "the provider paused it and never finished it".into(),
        });
        self.phase = Phase::Ready;
        if text.trim().is_empty() {
            self.count_silence();
        }
    }

    /// Takes the driver's word that the text of [`Step::CheckAnswer`](crate::Step::CheckAnswer) is an answer.
    ///
    /// # Errors
    /// [`OutOfTurn`] when no text was to be checked; nothing changes then.
    pub fn answer_accepted(&mut self) -> Result<(), OutOfTurn> {
        match std::mem::replace(&mut self.phase, Phase::Ready) {
            Phase::Check(text) => {
                self.over(End::Answered(text));
                Ok(())
            }
            other => {
                self.phase = other;
                Err(self.out_of_turn("answer_accepted"))
            }
        }
    }

    /// Takes the parser's error about the text of [`Step::CheckAnswer`](crate::Step::CheckAnswer).
    ///
    /// # Errors
    /// [`OutOfTurn`] when no text was to be checked; nothing changes then.
    pub fn answer_rejected(&mut self, error: &str) -> Result<(), OutOfTurn> {
        let Phase::Check(_) = self.phase else {
            return Err(self.out_of_turn("answer_rejected"));
        };
        // A parser may repeat what it could not read, at any length.
        const MOST: usize = 800;
        let error = match error.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &error[..end]),
            None => error.trim().trim_end_matches('.').to_owned(),
        };
        self.reject(RejectionReason::Unparsable, error.into());
        Ok(())
    }

    fn reject(&mut self, reason: RejectionReason, error: Str) {
        self.events.push(Event::AnswerRejected {
            round: self.tally.rounds,
            reason,
            error: error.clone(),
        });
        let request = words::again(
            &error,
            self.rules.format.as_deref(),
            self.will_offer_tools() || !self.rules.tools,
        );
        self.rejection = Some(Rejection { reason, error });
        if reason == RejectionReason::Empty {
            if self.count_silence() {
                return;
            }
        } else {
            self.silent = 0;
        }
        if self.finale && self.tally.extra_attempts > 0 {
            self.phase = self.out_of_attempts();
        } else {
            self.push(Message::user(request));
            self.phase = Phase::Ready;
        }
    }

    /// Whether the run ended because of it.
    fn count_silence(&mut self) -> bool {
        self.silent += 1;
        let ended = self.silent == SILENT;
        if ended {
            self.over(End::Unanswered(Unanswered::Silent));
        }
        ended
    }

    pub(super) fn out_of_attempts(&self) -> Phase {
        let last = self.rejection.clone().unwrap_or_else(|| Rejection {
            reason: RejectionReason::Empty,
            error: words::EMPTY.into(),
        });
        Phase::Over(End::Unanswered(Unanswered::Spent {
            limit: self.hurry.unwrap_or(Limit::Rounds),
            rounds: self.tally.rounds,
            extra: self.tally.extra_attempts,
            last,
        }))
    }
}
