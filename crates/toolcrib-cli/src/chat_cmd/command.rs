//! What a line of a chat means.

/// One line as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing to do.
    Blank,
    /// For the model.
    Say(String),
    Help,
    Tools,
    /// Show the model, or change it.
    Model(Option<String>),
    Cost,
    Calls,
    Fork,
    /// Go on with another session.
    Resume(String),
    Quit,
    /// A command that is none, and the nearest one.
    Unknown(String, &'static str),
    /// A command without what it needs, and how to write it.
    Lacks(&'static str),
}

/// Each command and what it does.
pub(super) const COMMANDS: [(&str, &str); 8] = [
    ("/help", "these commands"),
    ("/tools", "the tools that the model sees or can load"),
    (
        "/model [MODEL]",
        "the model that answers, or another one from now on",
    ),
    ("/cost", "tokens and money so far"),
    ("/calls", "the tool calls of the last answer, one a line"),
    ("/fork", "go on in a copy of this session"),
    (
        "/resume SESSION",
        "go on with another session: its name, a part of it, or last",
    ),
    ("/quit", "leave; so does the end of input"),
];

/// Reads a line. A message that begins with a slash is written with two.
pub(super) fn parse(line: &str) -> Line {
    let line = line.trim();
    if line.is_empty() {
        return Line::Blank;
    }
    let Some(command) = line.strip_prefix('/') else {
        return Line::Say(line.to_owned());
    };
    if command.starts_with('/') {
        return Line::Say(command.to_owned());
    }
    let (word, rest) = command
        .split_once(char::is_whitespace)
        .unwrap_or((command, ""));
    let rest = rest.trim();
    match word {
        "help" | "?" => Line::Help,
        "tools" => Line::Tools,
        "model" => Line::Model((!rest.is_empty()).then(|| rest.to_owned())),
        "cost" => Line::Cost,
        "calls" => Line::Calls,
        "fork" => Line::Fork,
        "resume" if rest.is_empty() => Line::Lacks("/resume SESSION, such as /resume last"),
        "resume" => Line::Resume(rest.to_owned()),
        "quit" | "exit" | "q" => Line::Quit,
        _ => Line::Unknown(word.to_owned(), nearest(word)),
    }
}

fn nearest(word: &str) -> &'static str {
    let names = COMMANDS
        .iter()
        .map(|(form, _)| form.split(' ').next().unwrap_or(form));
    names
        .max_by(|a, b| {
            let close = |name: &str| strsim::jaro_winkler(word, name.trim_start_matches('/'));
            close(a).total_cmp(&close(b))
        })
        .unwrap_or("/help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_or_commands() {
        assert_eq!(parse("  "), Line::Blank);
        assert_eq!(parse(" where is it? "), Line::Say("where is it?".into()));
        assert_eq!(parse("//etc/hosts"), Line::Say("/etc/hosts".into()));
        assert_eq!(parse("/model"), Line::Model(None));
        assert_eq!(
            parse("/model  ollama:x "),
            Line::Model(Some("ollama:x".into()))
        );
        assert_eq!(parse("/resume last"), Line::Resume("last".into()));
        assert!(matches!(parse("/resume"), Line::Lacks(_)));
        assert_eq!(parse("/tool"), Line::Unknown("tool".into(), "/tools"));
        assert_eq!(parse("/exit"), Line::Quit);
    }

    #[test]
    fn every_command_that_is_shown_is_understood() {
        for (form, _) in COMMANDS {
            assert!(!matches!(parse(form), Line::Unknown(..)), "{form}");
        }
    }
}
