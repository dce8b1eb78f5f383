//! An agent with one tool and a budget, and how it is tested without a model.
//!
//! `cargo run -p toolcrib --example budgeted -- http://127.0.0.1:8080/v1 NAME` asks a
//! model behind a chat endpoint. Without arguments, replies written beforehand
//! answer, as they would in a test.

use std::error::Error;
use std::sync::Arc;

use toolcrib::models::{ChatModel, ChatOptions, Model, Vendor};
use toolcrib::{Agent, Answer, Budget, Outcome, Registry, tool};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

/// Says how warm it is in a city, in degrees Celsius.
#[tool(effect = "read_only")]
async fn temperature(city: &str) -> Result<f64, String> {
    match city {
        "Oslo" => Ok(-3.5),
        "Rome" => Ok(14.0),
        _ => Err(format!("nothing is known of {city}; ask for Oslo or Rome")),
    }
}

/// Asks any model for a number; at most four requests are made.
async fn warmest(model: Arc<dyn Model>) -> Result<Outcome<f64>, Box<dyn Error>> {
    let mut tools = Registry::new();
    tools.insert(temperature::tool())?;
    let agent = Agent::builder(model)
        .tools(tools)
        .budget(Budget::rounds(4))
        .build()?;
    let number = Answer::from_text("a number, such as 7.5");
    let question = "How warm is it in the warmer one of Oslo and Rome?";
    Ok(agent.run_typed(question, &number).await)
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let model: Arc<dyn Model> = match &arguments[..] {
        [url, name] => {
            let options = ChatOptions::new(Vendor::Generic, name).base_url(url);
            Arc::new(ChatModel::new(options)?)
        }
        _ => scripted(),
    };
    println!("{}", report(&warmest(model).await?));
    Ok(())
}

/// Two calls side by side, then an answer that is not a number, then one that is.
fn scripted() -> Arc<ScriptedModel> {
    let both = [
        ("temperature", r#"{"city":"Oslo"}"#),
        ("temperature", r#"{"city":"Rome"}"#),
    ];
    let turns = [
        Turn::calls(both),
        Turn::text("Rome, warm."),
        Turn::text("14"),
    ];
    Arc::new(ScriptedModel::new(turns))
}

fn report(outcome: &Outcome<f64>) -> String {
    let took = outcome.report();
    let found = match outcome {
        Outcome::Answered { answer, .. } => format!("{answer} degrees"),
        other => format!("no answer: {:?}", other.kind()),
    };
    format!("{found}\n{} rounds, {} calls", took.rounds, took.calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wrong_answer_costs_a_round_and_the_budget_holds() {
        let outcome = warmest(scripted()).await.unwrap();
        assert_eq!(outcome.answer(), Some(&14.0));
        assert_eq!((outcome.report().rounds, outcome.report().calls), (3, 2));

        let endless =
            ScriptedModel::from_fn(|_| Turn::calls([("temperature", r#"{"city":"Rome"}"#)]));
        let outcome = warmest(Arc::new(endless)).await.unwrap();
        assert_eq!(outcome.answer(), None);
        assert!(outcome.report().rounds <= 4);
    }

    #[tokio::test]
    async fn the_page_says_what_it_prints() {
        let page = include_str!("../../../docs/examples.md");
        let printed = report(&warmest(scripted()).await.unwrap());
        assert!(
            page.contains(&format!("```text\n{printed}\n```")),
            "{printed}"
        );
    }
}
