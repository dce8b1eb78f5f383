//! Where a chat's lines come from: an editor on a terminal, else plain lines.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;
use rustyline::{DefaultEditor, config::Configurer as _};
use toolcrib_dispatch::Redactor;

use crate::exit::CliError;
use crate::terminal::say;

/// Longest line of a pipe in bytes, its end not counted.
pub(super) const LIMIT: u64 = 128 * 1024;
/// Lines kept of what was typed.
const HISTORY: usize = 1_000;

/// What was read.
pub(super) enum Read {
    Line(String),
    /// Interrupted while a line was typed.
    Interrupted,
    /// A line of a pipe with more bytes than it may have, and what it goes on in, which
    /// were passed over.
    TooLong,
    End,
}

/// The source of lines.
pub(super) enum Input {
    Editor(Box<DefaultEditor>, Option<PathBuf>, Redactor),
    Pipe,
}

impl Input {
    /// An editor with what was typed in earlier chats where standard input and
    /// output are a terminal; plain lines elsewhere. What is remembered of a line holds
    /// no secret.
    pub(super) fn open(state: Option<&Path>, redactor: Redactor) -> Input {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Input::Pipe;
        }
        let Ok(mut editor) = DefaultEditor::new() else {
            return Input::Pipe;
        };
        let _ = editor.set_max_history_size(HISTORY);
        let file = state.map(|state| state.join("chat_history"));
        if let Some(file) = &file {
            // There is none before the first chat.
            let _ = editor.load_history(file);
        }
        Input::Editor(Box::new(editor), file, redactor)
    }

    /// Whether a person types.
    pub(super) fn is_editor(&self) -> bool {
        matches!(self, Input::Editor(..))
    }

    /// What sets the terminal back as it is now: the editor changes it while it waits.
    pub(super) fn restorer(&self) -> impl Fn() + Send + 'static {
        #[cfg(unix)]
        {
            use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
            let stdin = std::io::stdin();
            let before = tcgetattr(&stdin).ok().filter(|_| self.is_editor());
            move || {
                if let Some(before) = &before {
                    let _ = tcsetattr(&stdin, OptionalActions::Now, before);
                }
            }
        }
        #[cfg(not(unix))]
        || ()
    }

    /// The next line. One that ends with a backslash goes on in the next.
    pub(super) fn read(&mut self) -> Result<Read, CliError> {
        let mut whole = String::new();
        let mut over = false;
        loop {
            let prompt = if whole.is_empty() { "> " } else { ". " };
            let line = match self.line(prompt, &mut over)? {
                Read::Line(line) => line,
                Read::End if over => return Ok(Read::TooLong),
                Read::End if !whole.is_empty() => return Ok(Read::Line(whole)),
                other => return Ok(other),
            };
            match line.strip_suffix('\\') {
                Some(more) => {
                    whole.push_str(more);
                    whole.push('\n');
                }
                None if over => return Ok(Read::TooLong),
                None => {
                    whole.push_str(&line);
                    return Ok(Read::Line(whole));
                }
            }
        }
    }

    /// The next line of a source; only the end of one that is `over` the limit.
    fn line(&mut self, prompt: &str, over: &mut bool) -> Result<Read, CliError> {
        let failed = |error: &dyn std::fmt::Display| {
            CliError::failed(format!("cannot read standard input: {error}"))
        };
        match self {
            Input::Editor(editor, _, redactor) => match editor.readline(prompt) {
                Ok(line) => {
                    // A line that cannot be remembered was read all the same.
                    let _ = editor.add_history_entry(&*redactor.text(&line));
                    Ok(Read::Line(line))
                }
                Err(ReadlineError::Interrupted) => Ok(Read::Interrupted),
                Err(ReadlineError::Eof) => Ok(Read::End),
                Err(error) => Err(failed(&error)),
            },
            Input::Pipe => {
                let mut bytes = Vec::new();
                let mut stdin = std::io::stdin().lock();
                let mut more = || {
                    let had = bytes.len();
                    let most = &mut (&mut stdin).take(LIMIT + 1);
                    let read = most.read_until(b'\n', &mut bytes);
                    let read = read.map_err(|error| failed(&error))? as u64;
                    let cut = read > LIMIT && bytes.last() != Some(&b'\n');
                    if cut || had > 0 {
                        *over = true;
                        let end = bytes.len().saturating_sub(3);
                        bytes.drain(..end);
                    }
                    Ok((read, cut))
                };
                let (read, mut cut) = more()?;
                if read == 0 {
                    return Ok(Read::End);
                }
                while cut {
                    cut = more()?.1;
                }
                let line = String::from_utf8_lossy(&bytes);
                Ok(Read::Line(line.trim_end_matches(['\n', '\r']).to_owned()))
            }
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if let Input::Editor(editor, Some(file), _) = self {
            let kept = file
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .map_err(ReadlineError::Io)
                .and_then(|()| editor.save_history(&*file));
            if let Err(error) = kept {
                say(&format!("toolcrib: what was typed is not kept: {error}"));
            }
        }
    }
}
