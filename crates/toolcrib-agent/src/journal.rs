//! Writes a run into its session as it happens, without the keys that a model put into
//! its calls: those run as they were written, and are kept nowhere.

use toolcrib_core::{Block, Message};
use toolcrib_dispatch::{CallOutcome, Redactor};
use toolcrib_session::{ResultRow, Row, SessionError, SessionLog};

use crate::Run;

pub(crate) struct Journal<'a> {
    log: Option<&'a SessionLog>,
    redactor: &'a Redactor,
    /// Rows were written since the last sync.
    unsynced: bool,
}

impl<'a> Journal<'a> {
    pub(crate) fn new(log: Option<&'a SessionLog>, redactor: &'a Redactor) -> Journal<'a> {
        Journal {
            log,
            redactor,
            unsynced: false,
        }
    }

    pub(crate) fn append(&mut self, row: impl FnOnce() -> Row) -> Result<(), SessionError> {
        if let Some(log) = self.log {
            log.append(&cleaned(row(), self.redactor))?;
            self.unsynced = true;
        }
        Ok(())
    }

    /// Writes the messages that are new, with what is known of the results among
    /// them.
    pub(crate) fn messages(
        &mut self,
        run: &mut Run,
        outcomes: &[CallOutcome],
    ) -> Result<(), SessionError> {
        if self.log.is_none() {
            return Ok(());
        }
        let round = run.tally().rounds;
        let mut outcomes = outcomes.iter();
        for item in run.take_messages() {
            let row = match &***item {
                Message::Tool(result) => {
                    let outcome = outcomes.next();
                    Row::ToolResult(result_row(result.clone(), outcome))
                }
                message if round == 0 => Row::message(message.clone()),
                message => Row::message_in(round, message.clone()),
            };
            self.append(|| row)?;
        }
        Ok(())
    }

    /// Waits until all rows are on disk.
    pub(crate) async fn sync(&mut self) -> Result<(), SessionError> {
        let (Some(log), true) = (self.log, self.unsynced) else {
            return Ok(());
        };
        self.unsynced = false;
        let log = log.clone();
        match tokio::task::spawn_blocking(move || log.sync()).await {
            Ok(synced) => synced,
            // The runtime is going down; the rows are written all the same.
            Err(_) => Ok(()),
        }
    }
}

fn cleaned(mut row: Row, redactor: &Redactor) -> Row {
    match &mut row {
        Row::Message(row) => clean(&mut row.message, redactor),
        Row::ToolResult(row) => row.result.name = redactor.shared(&row.result.name),
        Row::Compaction(row) => row
            .messages
            .iter_mut()
            .for_each(|message| clean(message, redactor)),
        _ => {}
    }
    row
}

fn clean(message: &mut Message, redactor: &Redactor) {
    match message {
        Message::Assistant(message) => {
            for block in &mut message.blocks {
                if let Block::Call(call) = block {
                    *call = redactor.call(call);
                }
            }
        }
        Message::Tool(result) => result.name = redactor.shared(&result.name),
        _ => {}
    }
}

fn result_row(result: toolcrib_core::ToolResult, outcome: Option<&CallOutcome>) -> ResultRow {
    let mut row = ResultRow::new(result);
    if let Some(outcome) = outcome.filter(|o| o.result.call_id == row.result.call_id) {
        row.kind = outcome.kind;
        row.bytes = outcome.bytes;
        row.shown_bytes = outcome.cut.as_ref().map(|cut| cut.shown_bytes);
        row.spill = outcome.cut.as_ref().and_then(|cut| cut.spill.clone());
        row.ms = u64::try_from(outcome.elapsed.as_millis()).unwrap_or(u64::MAX);
        let names = outcome.repairs.iter().map(ToString::to_string);
        row.repairs = names.collect();
        row.details = outcome.details.clone();
    }
    row
}
