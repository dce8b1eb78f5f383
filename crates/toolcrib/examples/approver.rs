//! An approver of one's own: a bot that may write below `notes/` and nowhere else.
//!
//! It decides by what the call would do, not by what the model says that it does.
//! What it refuses, the model reads with the reason and can do differently.

use std::error::Error;
use std::sync::Arc;

use toolcrib::models::Model;
use toolcrib::{Agent, Approver, BoxFuture, Budget, Decision, Outcome, Question, Registry, tool};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

/// Writes a file.
#[tool(effect = "write")]
async fn write_file(path: String, text: String) -> String {
    format!("{} bytes written to {path}", text.len())
}

/// Allows what stays below one directory.
struct Below(&'static str);

impl Approver for Below {
    fn decide<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Decision> {
        let arguments = question.arguments.value();
        let path = arguments["path"].as_str().unwrap_or_default();
        let inside = path.starts_with(self.0) && !path.split('/').any(|part| part == "..");
        let decision = if inside {
            Decision::Once
        } else {
            Decision::Deny(Some(format!("write below `{}` only", self.0)))
        };
        Box::pin(std::future::ready(decision))
    }
}

async fn note(model: Arc<dyn Model>) -> Result<Outcome<String>, Box<dyn Error>> {
    let mut tools = Registry::new();
    tools.insert(write_file::tool())?;
    let agent = Agent::builder(model)
        .tools(tools)
        .approver(Arc::new(Below("notes/")))
        .budget(Budget::rounds(5))
        .build()?;
    Ok(agent.run("Write down that it rains.").await)
}

fn scripted() -> Arc<ScriptedModel> {
    let write = |path: &str| {
        let arguments = format!(r#"{{"path":"{path}","text":"It rains."}}"#);
        Turn::calls([("write_file", arguments.as_str())])
    };
    Arc::new(ScriptedModel::new([
        write("../weather.md"),
        write("notes/weather.md"),
        Turn::text("Written down."),
    ]))
}

async fn shown() -> Result<String, Box<dyn Error>> {
    Ok(note(scripted()).await?.into_answer().unwrap_or_default())
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
    async fn a_path_outside_is_denied_with_the_reason_and_the_next_one_runs() {
        let model = scripted();
        let outcome = note(model.clone()).await.unwrap();
        assert_eq!(outcome.answer().unwrap(), "Written down.");
        let last = |at: usize| format!("{:?}", model.requests()[at].messages.last());
        assert!(
            last(1).contains("was denied: write below `notes/` only"),
            "{}",
            last(1)
        );
        assert!(
            last(2).contains("9 bytes written to notes/weather.md"),
            "{}",
            last(2)
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
