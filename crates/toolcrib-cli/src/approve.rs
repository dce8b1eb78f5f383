//! Who says whether a tool may change something: the person at the terminal, or what
//! the command line allows.
//!
//! Without a terminal nothing is waited for. A yes for always counts for one tool as
//! it is described now, with the command that was shown, in one repository: a tool that changed is asked about again.

mod remembered;
mod show;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolcrib_core::{BoxFuture, Effect, Mode, Preview, Registry, Selector, ToolSpec};
use toolcrib_dispatch::{Approver, Decision, PolicyApprover, Question};

use crate::args::{AskArgs, Format, ModeArg};
use crate::exit::CliError;
use crate::place::Workspace;
use crate::terminal::say;

use remembered::Remembered;

/// What a run may do unasked. Naming a file of tools allows what destroys nothing;
/// without one, nothing can change anything.
pub(crate) fn mode(args: &AskArgs) -> Mode {
    match args.mode {
        Some(ModeArg::Plan) => Mode::Plan,
        Some(ModeArg::Ask) => Mode::Ask,
        Some(ModeArg::Auto) => Mode::Auto,
        Some(ModeArg::Yolo) => Mode::Yolo,
        None if args.tools.is_empty() => Mode::Plan,
        None => Mode::Auto,
    }
}

/// Who is asked in a run over these tools.
pub(crate) fn approver(
    args: &AskArgs,
    workspace: &Workspace,
    registry: &Registry,
) -> Result<Arc<dyn Approver>, CliError> {
    let allow: Vec<Selector> = args.allow.iter().cloned().map(Selector).collect();
    for selector in &allow {
        let known = selector
            .exact_name()
            .is_none_or(|name| registry.get(name).is_some());
        if !known {
            return Err(CliError::usage(format!(
                "--allow names the tool `{}`, which is not there; `toolcrib tools` lists tools",
                selector.0
            )));
        }
    }
    let policy = PolicyApprover::allowing(allow);
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !terminal || args.format == Format::Json {
        return Ok(Arc::new(policy));
    }
    let state = workspace.places.state.as_deref();
    Ok(Arc::new(Terminal {
        policy,
        remembered: Remembered::read(state, &workspace.root)?,
    }))
}

/// Asks on the terminal.
struct Terminal {
    policy: PolicyApprover,
    remembered: Remembered,
}

impl Approver for Terminal {
    fn decide<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            if self.policy.allows(&question.spec) || self.remembered.has(question) {
                return Decision::Once;
            }
            say(&asked(question));
            loop {
                // What was typed before the question is no answer to it.
                forget_typed();
                say(KEYS);
                let Some(line) = line().await else {
                    return Decision::Deny(Some("there was no answer".to_owned()));
                };
                let Some(decision) = decision(&line) else {
                    continue;
                };
                if decision == Decision::Always
                    && let Err(error) = self.remembered.add(question)
                {
                    say(&format!(
                        "toolcrib: {error}; it is allowed for this session"
                    ));
                }
                return decision;
            }
        })
    }
}

const KEYS: &str =
    "  [y] once  [s] this session  [a] always here  [n] no, or n and a reason  [c] cancel the run";

fn asked(question: &Question) -> String {
    let what = match question.spec.effect {
        Effect::ReadOnly => "asks to run",
        Effect::Destructive => "may destroy something",
        _ => "wants to change something",
    };
    let mut text = format!(
        "toolcrib: {} {what}\n{}",
        name(&question.spec),
        show::preview(&question.preview)
    );
    // A command line does not say what the command is given to read.
    let arguments = question.arguments.as_str().trim();
    if matches!(question.preview, Preview::Command { .. }) && arguments != "{}" {
        text.push_str("\n    given ");
        text.push_str(&show::long(arguments));
    }
    text
}

fn name(spec: &ToolSpec) -> String {
    match &*spec.source.0 {
        "builtin" | "file" => spec.name.to_string(),
        source => format!("{} ({})", spec.name, show::line(source)),
    }
}

/// What a typed line says; `None` when it says nothing known.
fn decision(line: &str) -> Option<Decision> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let reason = Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty());
    Some(match (word.to_ascii_lowercase().as_str(), reason) {
        ("y" | "yes", None) => Decision::Once,
        ("s" | "session", None) => Decision::Session,
        ("a" | "always", None) => Decision::Always,
        ("n" | "no", reason) => Decision::Deny(reason),
        ("c" | "cancel", None) => Decision::CancelRun,
        _ => return None,
    })
}

/// Tells the waiting thread that nobody wants the line any more.
struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Drops what waits to be read at the terminal.
fn forget_typed() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }
}

/// The next line that nobody has read; `None` at the end of input. Dropping the
/// future leaves a line typed later to whoever reads next.
async fn line() -> Option<String> {
    let wanted = Wanted(Arc::new(AtomicBool::new(true)));
    let still = Arc::clone(&wanted.0);
    let (send, receive) = tokio::sync::oneshot::channel();
    // Not on the runtime's own threads, which would be waited for at its end.
    std::thread::spawn(move || {
        let _ = send.send(typed(&still));
    });
    receive.await.ok().flatten()
}

fn typed(wanted: &AtomicBool) -> Option<String> {
    let stdin = std::io::stdin();
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        const STEP: Duration = Duration::from_millis(50);
        let step = Timespec::try_from(STEP).ok()?;
        loop {
            if !wanted.load(Ordering::Relaxed) {
                return None;
            }
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut fds, Some(&step)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break,
                Err(_) => return None,
            }
        }
    }
    let mut line = String::new();
    match stdin.read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l12_each_key_means_one_thing_and_anything_else_asks_again() {
        let of = |line| decision(line);
        assert_eq!(of("y\n"), Some(Decision::Once));
        assert_eq!(of(" Yes "), Some(Decision::Once));
        assert_eq!(of("s"), Some(Decision::Session));
        assert_eq!(of("always"), Some(Decision::Always));
        assert_eq!(of("n"), Some(Decision::Deny(None)));
        assert_eq!(
            of("n use a branch"),
            Some(Decision::Deny(Some("use a branch".into())))
        );
        assert_eq!(of("c"), Some(Decision::CancelRun));
        for other in ["", "\n", "yy", "y please", "ok", "1"] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
