//! An agent whose answer is a type of one's own.
//!
//! The type says what is accepted; its schema tells the model what to write. A reply
//! that does not fit costs a round and is answered with what is wrong with it.

use std::error::Error;
use std::sync::Arc;

use serde::Deserialize;
use toolcrib::models::Model;
use toolcrib::{Agent, Answer, Budget, Outcome, Schema};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

/// What is wanted of a review.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
struct Verdict {
    accept: bool,
    reasons: Vec<String>,
}

const SCHEMA: &str = r#"{"type":"object","properties":{"accept":{"type":"boolean"},"reasons":{"type":"array","items":{"type":"string"}}},"required":["accept","reasons"]}"#;

async fn review(model: Arc<dyn Model>, change: &str) -> Result<Outcome<Verdict>, Box<dyn Error>> {
    let agent = Agent::builder(model)
        .system("You review changes to a program.")
        .budget(Budget::rounds(3))
        .build()?;
    let schema = Schema::parse(SCHEMA)?;
    let verdict = Answer::json(Some(&schema));
    Ok(agent.run_typed(change, &verdict).await)
}

fn scripted() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new([
        Turn::text(r#"{"accept": "no", "reasons": []}"#),
        Turn::text(r#"{"accept": false, "reasons": ["it has no test"]}"#),
    ]))
}

async fn shown() -> Result<String, Box<dyn Error>> {
    Ok(match review(scripted(), "- x\n+ y").await? {
        Outcome::Answered { answer, report } => {
            format!("{answer:?} after {} rounds", report.rounds)
        }
        other => format!("no verdict: {}", other.reason().unwrap_or_default()),
    })
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", shown().await?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reply_that_does_not_fit_is_asked_for_again_with_the_reason() {
        let model = scripted();
        let outcome = review(model.clone(), "- x\n+ y").await.unwrap();
        let verdict = outcome.into_answer().unwrap();
        assert_eq!((verdict.accept, verdict.reasons.len()), (false, 1));
        let again = format!("{:?}", model.requests()[1].messages.last());
        assert!(
            again.contains("at `accept`: invalid type: string"),
            "{again}"
        );
    }

    #[tokio::test]
    async fn the_page_says_what_it_prints() {
        let page = include_str!("../../../docs/examples.md");
        let printed = shown().await.unwrap();
        assert!(
            page.contains(&format!("```text\n{printed}\n```")),
            "{printed}"
        );
    }
}
