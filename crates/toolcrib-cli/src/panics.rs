//! Panics: into the log, and to the user only when they end the command.
//!
//! A tool that panics is a failed call that the loop survives; what it panicked
//! with may hold anything and must not reach the terminal.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::{Mutex, PoisonError};

use crate::exit::CliError;

static LAST: Mutex<String> = Mutex::new(String::new());

/// Runs a command; a panic that nothing else caught becomes an error.
pub(crate) fn guarded<T>(command: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    set_hook(Box::new(|info| {
        let text = info.to_string().replace('\n', " ");
        tracing::error!(panic = %text);
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }));
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        let text = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        Err(CliError::failed(format!(
            "internal error, please report it: {text}"
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_that_says_where() {
        let error = guarded(|| -> Result<(), CliError> { panic!("on purpose") }).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("internal error") && text.contains("on purpose"),
            "{text}"
        );
        assert!(text.contains("panics.rs"), "{text}");
    }
}
