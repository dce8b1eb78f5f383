//! Makes a transcript shorter: what is superseded goes first, then old results, then
//! all but the end is summarised by the model. Each step is taken only if the one
//! before was not enough.

use std::time::Instant;

use toolcrib_core::{
    Content, FinalRound, Finish, History, Message, ReplyEvent, Request, Str, ToolChoice,
};
use toolcrib_session::Row;
use tracing::Instrument as _;

use super::{Driver, millis, shown, spans, until};
use crate::leak::leaked_markup;
use crate::run::compact::{bytes_of, tail, without_bodies, without_superseded};
use crate::{Compaction, Event, RunError, words};

/// Most bytes of a summary.
const SUMMARY: usize = 16 * 1024;

impl Driver<'_> {
    pub(super) async fn compact(&mut self, why: Compaction) -> Result<(), RunError> {
        let before = bytes_of(self.run.history());
        let wanted = self.run.wanted_bytes(&why);
        let mut shorter = without_superseded(self.run.history());
        if bytes_of(&shorter) > wanted {
            let keep = |text: &str| self.dispatcher.keep(text);
            shorter = without_bodies(&shorter, &keep);
        }
        let mut summarised = false;
        if bytes_of(&shorter) > wanted {
            let cut = tail(&shorter);
            // A summary of one message is no shorter than it.
            if cut > 1
                && let Some(summary) = self.summary(&shorter, cut).await?
            {
                let with_summary = self.run.summarised(&shorter, cut, &summary);
                if bytes_of(&with_summary) < bytes_of(&shorter) {
                    shorter = with_summary;
                    summarised = true;
                }
            }
        }
        if self.cancel.is_cancelled() {
            self.run.cancelled();
            return Ok(());
        }
        let after = bytes_of(&shorter);
        if !self.run.compacted(Some(shorter))? {
            return Ok(());
        }
        let messages = || self.run.history().messages().cloned().collect();
        let reason = match why {
            Compaction::Full => "full",
            Compaction::Overflow { .. } => "overflow",
        };
        self.journal
            .append(|| Row::compaction(messages(), reason, before, after))?;
        self.emit(|run| Event::Compacted {
            reason: reason.into(),
            bytes_before: before,
            bytes_after: after,
            messages: run.history().len() as u64,
            summarised,
        });
        Ok(())
    }

    /// What the model says of the messages before `cut`. `None` when it says nothing
    /// that can be used: the messages then stay.
    async fn summary(&mut self, history: &History, cut: usize) -> Result<Option<Str>, RunError> {
        if self.run.is_spent() {
            return Ok(None);
        }
        let agent = self.agent;
        let mut asked: History = history.messages().take(cut).cloned().collect();
        asked.push(Message::User(vec![Content::text(words::SUMMARISE)]));
        let tool_choice = match agent.model.profile().final_round {
            FinalRound::Keep if !self.plan.tools().is_empty() => ToolChoice::None,
            _ => ToolChoice::Withhold,
        };
        let request = Request {
            plan: &self.plan,
            history: &asked,
            tool_choice: &tool_choice,
            max_output_tokens: agent.max_output_tokens,
        };
        let redactor = agent.dispatcher.redactor();
        let mut retried = Vec::new();
        let mut on_event = |event: ReplyEvent<'_>| {
            if let ReplyEvent::Retrying { reason, .. } = event {
                retried.push(Str::from(&*redactor.text(reason)));
            }
        };
        let began = Instant::now();
        let deadline = self.deadline();
        let span = spans::chat(agent.model.profile());
        let asked_again = agent.model.stream(request, &mut on_event);
        let replied = tokio::select! {
            biased;
            () = self.cancel.cancelled() => {
                spans::record_error(&span, "cancelled");
                return Ok(None);
            }
            () = until(deadline) => {
                spans::record_error(&span, "timeout");
                return Ok(None);
            }
            replied = asked_again.instrument(span.clone()) => replied,
        };
        let ms = millis(began.elapsed());
        let round = self.run.tally().rounds;
        self.retried = retried;
        self.journal_retries(round)?;
        let mut reply = match replied {
            Ok(reply) => reply,
            Err(mut error) => {
                shown::clean_error(&mut error, agent.dispatcher.redactor());
                spans::record_error(&span, spans::class(&error.kind));
                tracing::info!(%error, "the transcript could not be summarised");
                self.run.request_lost(&error);
                return Ok(None);
            }
        };
        shown::clean(&mut reply, agent.dispatcher.redactor());
        self.price(&mut reply);
        spans::record_reply(&span, &reply);
        self.run.summary_cost(&reply, bytes_of(&asked));
        let (usage, cost) = (reply.usage.clone(), reply.cost);
        self.journal.append(|| Row::usage(round, usage, cost, ms))?;
        let text = reply.message.text();
        let text = text.trim();
        let usable = matches!(reply.finish, Finish::Stop | Finish::Other(_))
            && !text.is_empty()
            && leaked_markup(text).is_none();
        let end = text.floor_char_boundary(SUMMARY);
        Ok(usable.then(|| text[..end].into()))
    }
}
