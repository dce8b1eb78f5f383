//! Where the question comes from: the command line or standard input.

use std::io::{IsTerminal as _, Read};

use crate::exit::CliError;

/// Longest question in bytes. A larger text is material, not a question, and
/// would leave no room in most models' windows.
const LIMIT: usize = 128 * 1024;

/// The question from the words on the command line, or from standard input when
/// there are none or a single `-`.
pub(crate) fn read(words: &[String]) -> Result<String, CliError> {
    let from_stdin = words.is_empty() || words == ["-"];
    let stdin = std::io::stdin();
    if words.is_empty() && stdin.is_terminal() {
        return Err(CliError::usage(
            "no question; try: toolcrib ask \"Where are requests retried?\"",
        ));
    }
    if from_stdin {
        from_reader(stdin.lock())
    } else {
        check(words.join(" "))
    }
}

fn from_reader(reader: impl Read) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    reader
        .take(LIMIT as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::failed(format!("cannot read standard input: {error}")))?;
    if bytes.len() > LIMIT {
        return Err(too_long(None));
    }
    check(String::from_utf8_lossy(&bytes).into_owned())
}

fn check(question: String) -> Result<String, CliError> {
    if question.len() > LIMIT {
        return Err(too_long(Some(question.len())));
    }
    let question = question.trim();
    if question.is_empty() {
        return Err(CliError::usage(
            "the question is empty; try: toolcrib ask \"Where are requests retried?\"",
        ));
    }
    Ok(question.to_owned())
}

fn too_long(len: Option<usize>) -> CliError {
    let size = len.map_or_else(|| "more".to_owned(), |len| format!("{len} bytes"));
    CliError::usage(format!(
        "the question may have {LIMIT} bytes, this one has {size}; put long material into a file of \
         the repository and ask about that file"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_and_trimmed() {
        assert_eq!(
            read(&["where".into(), "is it? ".into()]).unwrap(),
            "where is it?"
        );
        assert!(
            read(&["  ".into()])
                .unwrap_err()
                .to_string()
                .contains("empty")
        );
    }

    #[test]
    fn a_megabyte_is_refused_with_a_way_out() {
        let text = "x".repeat(1 << 20);
        for error in [from_reader(text.as_bytes()), check(text.clone())] {
            let error = error.unwrap_err().to_string();
            assert!(
                error.contains("131072 bytes") && error.contains("put long material"),
                "{error}"
            );
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(from_reader(&b"wh\xffere?"[..]).unwrap(), "wh\u{fffd}ere?");
    }
}
