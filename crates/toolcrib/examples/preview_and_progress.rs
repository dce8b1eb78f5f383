//! A tool written by hand: it shows what it would do before it is allowed to, and how
//! far it is while it does it.
//!
//! Most tools are a function under `#[tool]`; by hand it is one trait with four
//! methods, two of which have defaults.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use toolcrib::{
    Agent, Approver, Arguments, BoxFuture, Decision, Effect, Event, Footprint, Preview, Question,
    Registry, Schema, Tool, ToolContext, ToolError, ToolName, ToolOutput, ToolSpec,
};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

/// The files that may be changed, in memory.
type Files = Arc<Mutex<BTreeMap<String, String>>>;

/// Replaces a word in a file.
struct Rename {
    spec: Arc<ToolSpec>,
    files: Files,
}

#[derive(Deserialize)]
struct Wanted {
    path: String,
    from: String,
    to: String,
}

impl Rename {
    fn new(files: Files) -> Result<Rename, Box<dyn Error>> {
        let schema = Schema::parse(
            r#"{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"string","minLength":1},"to":{"type":"string"}},"required":["path","from","to"]}"#,
        )?;
        let name = ToolName::parse("rename")?;
        let spec = ToolSpec::new(name, "Replaces a word in a file.", schema).effect(Effect::Write);
        Ok(Rename {
            spec: Arc::new(spec),
            files,
        })
    }

    /// The file before and after, without touching it.
    fn change(&self, wanted: &Wanted) -> Result<(String, String), ToolError> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let before = files
            .get(&wanted.path)
            .ok_or_else(|| ToolError::bad_args(format!("there is no file `{}`", wanted.path)))?;
        Ok((before.clone(), before.replace(&wanted.from, &wanted.to)))
    }
}

impl Tool for Rename {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// Two calls on one file never run side by side.
    fn footprint(&self, args: &Arguments) -> Footprint {
        let path = args.read::<Wanted>().map(|wanted| wanted.path);
        Footprint {
            resources: path.into_iter().map(Into::into).collect(),
            ..Footprint::of(Effect::Write)
        }
    }

    fn preview<'a>(
        &'a self,
        args: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Preview, ToolError>> {
        Box::pin(async move {
            let wanted: Wanted = args.read()?;
            let (before, after) = self.change(&wanted)?;
            Ok(Preview::Diff {
                path: wanted.path,
                before: Some(before),
                after: Some(after),
            })
        })
    }

    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let wanted: Wanted = args.read()?;
            let (before, after) = self.change(&wanted)?;
            let count = before.matches(&wanted.from).count();
            cx.progress.report(&format!("replacing {count} of {count}"));
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            files.insert(wanted.path.clone(), after);
            Ok(ToolOutput::text(format!(
                "{count} replaced in {}",
                wanted.path
            )))
        })
    }
}

/// Says yes to everything, after having looked at it.
struct Showing(Mutex<Vec<String>>);

impl Approver for Showing {
    fn decide<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Decision> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(format!("{:?}", question.preview));
        Box::pin(std::future::ready(Decision::Once))
    }
}

async fn renamed() -> Result<(String, Vec<String>), Box<dyn Error>> {
    let text = ("a.rs".to_owned(), "fn old() {}\n".to_owned());
    let files: Files = Arc::new(Mutex::new(BTreeMap::from([text])));
    let mut tools = Registry::new();
    tools.insert(Arc::new(Rename::new(files.clone())?))?;
    let model = ScriptedModel::new([
        Turn::calls([("rename", r#"{"path":"a.rs","from":"old","to":"new"}"#)]),
        Turn::text("Renamed."),
    ]);
    let seen = Arc::new(Showing(Mutex::default()));
    let told = Arc::new(Mutex::new(Vec::new()));
    let watch = told.clone();
    let agent = Agent::builder(Arc::new(model))
        .tools(tools)
        .approver(seen.clone())
        .sink(Arc::new(move |event: &Event| {
            if let Event::ToolProgress { text, .. } = event {
                let mut told = watch.lock().unwrap_or_else(PoisonError::into_inner);
                told.push(text.to_string());
            }
        }))
        .build()?;
    let outcome = agent.run("Rename old to new.").await;
    outcome.into_answer().ok_or("there was no answer")?;
    let mut log = std::mem::take(&mut *seen.0.lock().unwrap_or_else(PoisonError::into_inner));
    log.append(&mut told.lock().unwrap_or_else(PoisonError::into_inner));
    let files = files.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((files["a.rs"].clone(), log))
}

async fn shown() -> Result<String, Box<dyn Error>> {
    let (text, log) = renamed().await?;
    Ok(format!("{}\n{}", log.join("\n"), text.trim_end()))
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
    async fn the_change_is_shown_before_and_reported_while_it_is_made() {
        let (text, log) = renamed().await.unwrap();
        assert_eq!(text, "fn new() {}\n");
        assert!(
            log[0].contains("Diff") && log[0].contains("fn new()"),
            "{log:?}"
        );
        assert_eq!(log[1], "replacing 1 of 1");
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
