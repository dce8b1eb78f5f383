//! What may be written where: colour, links, and one live line.
//!
//! The live line goes to standard error and only to a terminal, so that neither
//! a pipe nor a log ever sees it.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

/// Prints to standard output. A reader that went away ends the process quietly,
/// as `head` expects.
pub(crate) fn print(text: &str) {
    if let Err(error) = write(text) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        say(&format!(
            "toolcrib: cannot write to standard output: {error}"
        ));
        std::process::exit(1);
    }
}

/// Prints to standard output, for whom it matters that it arrives.
///
/// # Errors
/// What kept it from being written; a broken pipe is a reader that went away.
pub(crate) fn write(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// `1 call`, `2 calls`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Says on standard error what a person should know of text from elsewhere.
pub(crate) fn warn(text: &str) {
    say(&format!("toolcrib: {}", harmless_line(text, 400)));
}

/// Prints one line to standard error; trouble there has nowhere to go.
pub(crate) fn say(line: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{line}");
}

/// Text of unknown origin without what a terminal would act on: escapes and
/// other control characters but line breaks and tabs, and those that turn the
/// direction of writing.
pub(crate) fn harmless(text: &str) -> String {
    let turns = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let acts = |c: char| (c.is_control() && c != '\n' && c != '\t') || turns(c);
    text.chars()
        .map(|c| if acts(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Text of a stranger with everything that cannot be seen written out: control
/// characters but line breaks and tabs, and those that only steer how text looks.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = c.is_control() && c != '\n' && c != '\t'
            || matches!(c,
                '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}');
        if hidden {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// The beginning of such a text on one line, at most `most` characters.
pub(crate) fn harmless_line(text: &str, most: usize) -> String {
    let text = harmless(text);
    let mut words = text.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_owned();
    for word in words {
        if line.len() > most * 4 {
            break;
        }
        line.push(' ');
        line.push_str(word);
    }
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// How citations and notes are dressed on standard output.
#[derive(Clone, Debug)]
pub(crate) struct Dress {
    colour: bool,
    /// Set when the terminal opens links; paths are resolved against it.
    link_root: Option<PathBuf>,
}

impl Dress {
    /// What standard output supports, `NO_COLOR` and `TERM=dumb` obeyed.
    pub(crate) fn detect(root: &Path) -> Dress {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let terminal = std::io::stdout().is_terminal()
            && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        Dress {
            colour: terminal && !set("NO_COLOR"),
            link_root: (terminal && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout))
                .then(|| root.to_path_buf()),
        }
    }

    /// A `path:line` that opens the file where the terminal can.
    pub(crate) fn citation(&self, text: &str, path: &str) -> String {
        let coloured = self.paint("36", text);
        match &self.link_root {
            None => coloured,
            Some(root) => {
                let url = file_url(&root.join(path));
                format!("\x1b]8;;{url}\x1b\\{coloured}\x1b]8;;\x1b\\")
            }
        }
    }

    /// A warning beside an answer.
    pub(crate) fn warning(&self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

fn file_url(path: &Path) -> String {
    let mut url = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                url.push(char::from(*byte));
            }
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

/// One line on a terminal that is always rewritten and gone at the end.
#[derive(Debug, Default)]
pub(crate) struct LiveLine {
    on: bool,
    shown: bool,
}

impl LiveLine {
    /// A live line where standard error is a terminal and `wanted`.
    pub(crate) fn new(wanted: bool) -> LiveLine {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        LiveLine {
            on: wanted && !dumb && std::io::stderr().is_terminal(),
            shown: false,
        }
    }

    /// Replaces what the line shows, cut to 100 characters, control characters out.
    pub(crate) fn show(&mut self, text: &str) {
        if self.on {
            let line: String = text.chars().filter(|c| !c.is_control()).take(100).collect();
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r\x1b[2K{line}");
            let _ = err.flush();
            self.shown = true;
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&mut self) {
        if self.shown {
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r\x1b[2K");
            let _ = err.flush();
            self.shown = false;
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(
            visible("a\u{200b}b\u{1b}[2J\u{e0041}"),
            "a\\u{200b}b\\u{1b}[2J\\u{e0041}"
        );
        assert_eq!(visible("é\tü\n日"), "é\tü\n日");
    }

    #[test]
    fn links_escape_what_a_url_cannot_hold() {
        assert_eq!(file_url(Path::new("/a b/ü.rs")), "file:///a%20b/%C3%BC.rs");
    }

    #[test]
    fn without_a_terminal_text_stays_bare() {
        let dress = Dress {
            colour: false,
            link_root: None,
        };
        assert_eq!(dress.citation("a.rs:1", "a.rs"), "a.rs:1");
    }

    #[test]
    fn a_linked_citation_keeps_its_text_whole() {
        let dress = Dress {
            colour: true,
            link_root: Some("/r".into()),
        };
        let text = dress.citation("a.rs:1", "a.rs");
        assert_eq!(
            text,
            "\x1b]8;;file:///r/a.rs\x1b\\\x1b[36ma.rs:1\x1b[0m\x1b]8;;\x1b\\"
        );
    }
}
