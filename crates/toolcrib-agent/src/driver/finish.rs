//! The end of a run: outcome, report, last rows and last event.

use toolcrib_core::Str;
use toolcrib_session::Row;

use super::Driver;
use super::watch::millis;
use crate::{Answer, End, Event, Outcome, Report, RunError, Step};

impl Driver<'_> {
    pub(super) async fn outcome<A>(
        mut self,
        answer: &Answer<A>,
        ended: Result<Option<A>, RunError>,
    ) -> Outcome<A> {
        let (accepted, error) = match ended {
            Ok(accepted) => (accepted, None),
            Err(error) => {
                self.run.failed(error.to_string());
                (None, Some(error))
            }
        };
        self.run.tick(self.elapsed());
        let end = match self.run.step() {
            Step::Done(end) => end,
            _ => End::Failed("the run did not end".into()),
        };
        let mut report = self.report();
        if matches!(end, End::Answered(_)) {
            report.partial = None;
        }
        let text = match &end {
            End::Answered(text) => Some(text.clone()),
            _ => None,
        };
        let outcome = match end {
            End::Answered(text) => match accepted.map_or_else(|| answer.parse(&text), Ok) {
                Ok(answer) => Outcome::Answered { answer, report },
                Err(error) => Outcome::Failed {
                    error: RunError::Stored(error.into()),
                    report,
                },
            },
            End::Unanswered(reason) => Outcome::Unanswered { reason, report },
            End::Stopped(limit) => Outcome::Stopped { limit, report },
            End::Cancelled => Outcome::Cancelled { report },
            End::Failed(text) => Outcome::Failed {
                error: error.unwrap_or(RunError::Stored(text)),
                report,
            },
        };
        self.finish(&outcome, text).await;
        outcome
    }

    /// The last rows and the last event. A run that has its answer keeps it even
    /// when they cannot be written.
    async fn finish<A>(&mut self, outcome: &Outcome<A>, answer: Option<Str>) {
        let kind = outcome.kind();
        // It may name a tool as the model wrote it.
        let redactor = self.agent.dispatcher.redactor();
        let reason = outcome.reason().map(|why| redactor.text(&why).into_owned());
        let report = outcome.report();
        // After a failed write more of them would only fail again.
        let session_failed = matches!(
            outcome,
            Outcome::Failed {
                error: RunError::Session(_),
                ..
            }
        );
        if !session_failed {
            let row = || {
                let kind = format!("{kind:?}").to_lowercase();
                Row::finished(kind, reason.clone(), report.rounds)
            };
            let written = match self.journal.messages(&mut self.run, &[]) {
                Ok(()) => self.journal.append(row),
                Err(error) => Err(error),
            };
            let written = match written {
                Ok(()) => self.journal.sync().await,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                tracing::warn!(%error, "the end of the run is missing in its session");
            }
        }
        self.pass_on_events();
        self.emit(|_| Event::RunFinished {
            outcome: kind,
            answer,
            reason: reason.map(Str::from),
            limit: outcome.limit(),
            rounds: report.rounds,
            extra_attempts: report.extra_attempts,
            calls: report.calls,
            usage: report.usage.clone(),
            cost: report.cost,
            ms: millis(report.elapsed),
        });
    }

    fn report(&self) -> Report {
        let tally = self.run.tally();
        let unfinished = Some(self.unfinished.trim()).filter(|text| !text.is_empty());
        Report {
            rounds: tally.rounds,
            extra_attempts: tally.extra_attempts,
            calls: tally.calls,
            usage: tally.usage.clone(),
            cost: tally.cost,
            elapsed: self.run.elapsed(),
            finish: self.run.finish().cloned(),
            partial: unfinished.map(Str::from).or_else(|| self.run.last_text()),
            history: self.run.history().clone(),
            surface: self.run.surface().clone(),
            budget: self.run.budget().clone(),
        }
    }
}
