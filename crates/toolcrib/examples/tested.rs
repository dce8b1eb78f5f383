//! One's own agent and its unit tests, with a model that follows a script.
//!
//! The agent takes any model, so a test gives it one whose every reply is written
//! down: no network, no key, the same result every time. What it was sent can be
//! looked at afterwards.

use std::error::Error;
use std::sync::Arc;

use toolcrib::models::Model;
use toolcrib::{Agent, Budget, Outcome, Registry, tool};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

/// Says how many of an item are in stock.
#[tool(effect = "read_only")]
async fn stock(item: String, warehouse: Option<u32>) -> Result<u32, String> {
    match (item.as_str(), warehouse) {
        ("bolt", None) => Ok(12),
        ("bolt", Some(2)) => Ok(5),
        _ => Err(format!("nothing is known of {item} there")),
    }
}

/// The agent under test.
pub struct Clerk {
    agent: Agent,
}

impl Clerk {
    /// A clerk who thinks with this model.
    pub fn new(model: Arc<dyn Model>) -> Result<Clerk, Box<dyn Error>> {
        let mut tools = Registry::new();
        tools.insert(stock::tool())?;
        let agent = Agent::builder(model)
            .system("You answer questions about a warehouse.")
            .tools(tools)
            .budget(Budget::rounds(4))
            .build()?;
        Ok(Clerk { agent })
    }

    /// An answer, or the reason why there is none.
    pub async fn ask(&self, question: &str) -> Result<String, String> {
        match self.agent.run(question).await {
            Outcome::Answered { answer, .. } => Ok(answer),
            other => Err(other.reason().unwrap_or_default()),
        }
    }
}

async fn shown() -> Result<String, Box<dyn Error>> {
    let model = ScriptedModel::new([
        Turn::calls([("stock", r#"{"item":"bolt"}"#)]),
        Turn::text("There are 12 bolts."),
    ]);
    let clerk = Clerk::new(Arc::new(model))?;
    Ok(clerk.ask("How many bolts are there?").await?)
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

    async fn ask(turns: impl IntoIterator<Item = Turn>) -> (Result<String, String>, String) {
        let model = Arc::new(ScriptedModel::new(turns));
        let answer = Clerk::new(model.clone())
            .unwrap()
            .ask("How many bolts?")
            .await;
        let last = model.requests().pop().map(|request| request.messages);
        (answer, format!("{last:?}"))
    }

    #[tokio::test]
    async fn what_a_tool_says_reaches_the_model() {
        let (answer, sent) = ask([
            Turn::calls([("stock", r#"{"item":"bolt"}"#)]),
            Turn::text("12"),
        ])
        .await;
        assert_eq!(answer.unwrap(), "12");
        assert!(sent.contains("12"), "{sent}");
    }

    #[tokio::test]
    async fn arguments_are_mended_or_refused_before_the_tool_runs() {
        let (answer, sent) = ask([
            Turn::calls([("stock", r#"{"item":"bolt","warehouse":"2"}"#)]),
            Turn::calls([("stock", r#"{"item":7}"#)]),
            Turn::text("5"),
        ])
        .await;
        assert_eq!(answer.unwrap(), "5");
        assert!(sent.contains("`item` must be a string, not 7"), "{sent}");
    }

    #[tokio::test]
    async fn a_model_that_never_answers_ends_inside_the_budget() {
        let model = ScriptedModel::from_fn(|_| Turn::calls([("stock", r#"{"item":"nut"}"#)]));
        let clerk = Clerk::new(Arc::new(model)).unwrap();
        let reason = clerk.ask("How many nuts?").await.unwrap_err();
        assert!(
            reason.starts_with("no valid answer after 4 rounds"),
            "{reason}"
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
