//! What a running batch shows to whoever watches.

use toolcrib_core::{Preview, ToolCall};

use crate::{CallOutcome, Decision};

/// One step of a batch under way. Several calls may run at once, so steps of
/// different calls interleave; those of one call are in the order of the variants.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum DispatchEvent<'a> {
    /// Somebody is asked whether the call may run. It has not begun.
    ApprovalNeeded {
        /// Its place in the batch.
        index: usize,
        /// As it would run.
        call: &'a ToolCall,
        /// What would happen.
        preview: &'a Preview,
    },
    /// There is an answer. One that never came has no such event.
    ApprovalGiven {
        /// Its place in the batch.
        index: usize,
        /// As it would run.
        call: &'a ToolCall,
        /// The answer.
        decision: &'a Decision,
    },
    /// The call was allowed and begins to run. A refused call has no such event.
    Started {
        /// Its place in the batch.
        index: usize,
        /// As it runs.
        call: &'a ToolCall,
    },
    /// The tool reported a partial text. The model never reads it.
    Progress {
        /// Its place in the batch.
        index: usize,
        /// As it runs.
        call: &'a ToolCall,
        /// What the tool said.
        text: &'a str,
    },
    /// The call has its outcome. Every call has exactly one such event.
    Finished {
        /// Its place in the batch.
        index: usize,
        /// As it ran, or as the transcript holds it.
        call: &'a ToolCall,
        /// What came of it.
        outcome: &'a CallOutcome,
    },
}
