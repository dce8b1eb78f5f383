//! An answer of a type of one's own.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toolcrib_agent::Answer;

/// An answer that is a JSON value of this type; the model reads the schema of the type,
/// and a reply that does not fit is asked for again with the reason.
///
/// ```
/// use toolcrib::{answer_of, argument};
///
/// /// What is wanted of a review.
/// #[argument]
/// #[derive(Debug, PartialEq)]
/// struct Verdict {
///     accept: bool,
///     /// Short ones.
///     reasons: Vec<String>,
/// }
///
/// let verdict = answer_of::<Verdict>();
/// let read = verdict.parse(r#"{"accept": true, "reasons": []}"#);
/// assert_eq!(read.map(|verdict| verdict.accept), Ok(true));
/// assert!(verdict.parse("yes").is_err());
/// ```
pub fn answer_of<A>() -> Answer<A>
where
    A: DeserializeOwned + JsonSchema,
{
    Answer::json(Some(&crate::private::schema::<A>()))
}
