//! What the caller wants the final answer to be.
//!
//! The wanted format travels in the user message, never in the system prompt, so
//! that runs with different answer types share one cached prompt.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use toolcrib_core::{Schema, Str};

type Parse<A> = dyn Fn(&str) -> Result<A, String> + Send + Sync;

/// A parser of final answers and the format it wants, in words.
pub struct Answer<A> {
    format: Option<Str>,
    parse: Box<Parse<A>>,
}

impl Answer<String> {
    /// Any text that is not empty, without the white space around it.
    pub fn text() -> Answer<String> {
        Answer {
            format: None,
            parse: Box::new(|text| Ok(text.trim().to_owned())),
        }
    }
}

impl<A> Answer<A> {
    /// Whatever the type reads from text. `format` tells the model what to write,
    /// such as `a whole number`.
    pub fn from_text(format: impl Into<Str>) -> Answer<A>
    where
        A: FromStr<Err: Display>,
    {
        Answer::custom(format, |text| {
            text.parse().map_err(|error: A::Err| error.to_string())
        })
    }

    /// JSON that deserialises into the type. The schema's text, if given, becomes
    /// part of the format; the type alone decides what is accepted.
    pub fn json(schema: Option<&Schema>) -> Answer<A>
    where
        A: DeserializeOwned,
    {
        let format = match schema {
            Some(schema) => format!(
                "one JSON value that matches this JSON Schema: {}",
                schema.received()
            ),
            None => "one JSON value".to_owned(),
        };
        Answer::custom(format, |text| {
            let text = without_fence(text);
            let mut json = serde_json::Deserializer::from_str(text);
            let value = serde_path_to_error::deserialize(&mut json).map_err(|error| match error
                .path()
                .to_string()
            {
                path if path == "." => error.inner().to_string(),
                path => format!("at `{path}`: {}", error.inner()),
            })?;
            json.end()
                .map_err(|_| "there is text after the JSON value".to_owned())?;
            Ok(value)
        })
    }

    /// Whatever `parse` accepts. It gets the reply's text without the white space
    /// around it; its error is shown to the model, which then tries again.
    pub fn custom(
        format: impl Into<Str>,
        parse: impl Fn(&str) -> Result<A, String> + Send + Sync + 'static,
    ) -> Answer<A> {
        Answer {
            format: Some(format.into()),
            parse: Box::new(move |text| parse(text.trim())),
        }
    }

    /// Free text that `check` accepts. Nothing is said to the model about a format;
    /// the error of a refused reply is shown to it, and it tries again.
    pub fn checked(check: impl Fn(&str) -> Result<A, String> + Send + Sync + 'static) -> Answer<A> {
        Answer {
            format: None,
            parse: Box::new(move |text| check(text.trim())),
        }
    }

    /// What the model is told to write; `None` for plain text.
    pub fn format(&self) -> Option<&Str> {
        self.format.as_ref()
    }

    /// Reads one reply.
    ///
    /// # Errors
    /// What is wrong with it, in words for the model.
    pub fn parse(&self, text: &str) -> Result<A, String> {
        (self.parse)(text)
    }
}

/// The inside of a text that is one fenced block and nothing else: models fence
/// JSON out of habit, and asking again would cost a round for nothing.
fn without_fence(text: &str) -> &str {
    let inner = || {
        let body = text.strip_prefix("```")?.strip_suffix("```")?;
        let (info, body) = body.split_once('\n')?;
        let plain = info.trim().chars().all(char::is_alphanumeric) && !body.contains("```");
        plain.then(|| body.trim())
    };
    inner().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Verdict {
        score: u8,
        lines: Vec<u32>,
    }

    #[test]
    fn json_answers_name_what_is_wrong() {
        let answer = Answer::<Verdict>::json(None);
        let error = |text: &str| answer.parse(text).unwrap_err();
        insta::assert_snapshot!(error(r#"{"score":1,"lines":[1,"two"]}"#), @r#"at `lines[1]`: invalid type: string "two", expected u32 at line 1 column 27"#);
        insta::assert_snapshot!(error("I think so."), @"expected value at line 1 column 1");
        insta::assert_snapshot!(error(r#"{"score":1,"lines":[]} Done."#), @"there is text after the JSON value");
    }

    #[test]
    fn a_fence_around_the_whole_json_is_forgiven() {
        let answer = Answer::<Verdict>::json(None);
        let wanted = Verdict {
            score: 3,
            lines: vec![7],
        };
        let text = "\n```json\n{\"score\": 3, \"lines\": [7]}\n```\n";
        assert_eq!(answer.parse(text), Ok(wanted));
        assert!(answer.parse("```\n1\n```\n```\n2\n```").is_err());
    }

    #[test]
    fn text_is_trimmed_and_from_str_reports_its_own_error() {
        assert_eq!(Answer::text().parse(" yes \n"), Ok("yes".to_owned()));
        let number = Answer::<u16>::from_text("a whole number");
        assert_eq!(number.parse(" 12\n"), Ok(12));
        insta::assert_snapshot!(number.parse("twelve").unwrap_err(), @"invalid digit found in string");
    }
}
