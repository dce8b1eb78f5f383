//! A small tool-calling model in the same process, its weights a file of the user's.
//!
//! It reads one question and the tools and writes thoughts and calls as text, so a
//! transcript becomes the last question with the results that came since. It is for
//! tests and for machines without a network, not for long conversations.

use std::path::Path;
use std::sync::Arc;

use needle_infer::v3_engine::{StopReason, V3Engine, V3Options};
use toolcrib_core::{
    AssistantMessage, Block, BoxFuture, Content, Finish, History, Message, Model, ModelError,
    ModelErrorKind, ModelProfile, Reply, ReplyEvent, Request, ToolCall, ToolChoice, TurnPlan,
};

use crate::chat::Ids;
use crate::from_file;
use crate::json::quote;
use crate::text_tools::markup;
use crate::turns::Items;

/// Most tokens of one reply.
const OUTPUT: usize = 512;

/// A loaded model; loading takes a moment, so make one and share it.
pub struct LocalModel {
    profile: ModelProfile,
    engine: Arc<V3Engine>,
}

impl std::fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LocalModel").field(&self.profile.id).finish()
    }
}

impl LocalModel {
    /// Loads the weights in this file.
    ///
    /// # Errors
    /// [`ModelErrorKind::Unsupported`] when it cannot be read or holds no such model.
    pub fn open(file: impl AsRef<Path>) -> Result<LocalModel, ModelError> {
        let file = file.as_ref();
        let cannot = |why: String| {
            let message = format!(
                "cannot load {}: {why}; name a .cact file of Needle 3",
                file.display()
            );
            ModelError::new(ModelErrorKind::Unsupported, message)
        };
        let bytes = std::fs::read(file).map_err(|error| cannot(error.to_string()))?;
        let engine = V3Engine::from_bytes(bytes).map_err(|error| cannot(error.to_string()))?;
        Ok(LocalModel {
            profile: ModelProfile::new(from_file::id("local", file)),
            engine: Arc::new(engine),
        })
    }
}

impl Model for LocalModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let offers = !matches!(request.tool_choice, ToolChoice::None | ToolChoice::Withhold);
            let tools = if offers {
                tools(request.plan)
            } else {
                "[]".to_owned()
            };
            let query = query(request.history);
            let engine = Arc::clone(&self.engine);
            let limit = request.max_output_tokens;
            let options = V3Options {
                max_new_tokens: limit.map_or(OUTPUT, |n| OUTPUT.min(n as usize)),
                ..V3Options::default()
            };
            // Thinking keeps a core busy for seconds.
            let work = move || engine.generate(&query, &tools, &options);
            let result = tokio::task::spawn_blocking(work).await.map_err(|_| {
                let message = format!("{} gave up in the middle of the reply", self.profile.id);
                ModelError::new(ModelErrorKind::ModelFault, message)
            })?;
            if result.prompt_truncated {
                let message = format!(
                    "{} cannot read so much at once; offer fewer tools or ask less",
                    self.profile.id
                );
                let kind = ModelErrorKind::ContextOverflow {
                    needed: None,
                    allowed: None,
                };
                return Err(ModelError::new(kind, message));
            }
            let cut = matches!(result.stop, StopReason::MaxTokens | StopReason::MaxSeqLen);
            Ok(self.reply(&result.text, cut, &request, on_event))
        })
    }
}

impl LocalModel {
    fn reply(
        &self,
        text: &str,
        cut: bool,
        request: &Request<'_>,
        on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> Reply {
        let parsed = markup::parse(text, request.plan);
        let mut blocks = Vec::new();
        // It answers by thinking aloud: without calls or text the thought is the answer.
        let silent = parsed.calls.is_empty() && is_nothing(&parsed.text);
        let (thought, said) = if silent {
            ("", parsed.thinking.as_str())
        } else {
            (parsed.thinking.as_str(), parsed.text.trim())
        };
        if !thought.is_empty() {
            on_event(ReplyEvent::Reasoning(thought));
            blocks.push(Block::Reasoning {
                text: thought.into(),
                raw: None,
            });
        }
        if !said.is_empty() {
            on_event(ReplyEvent::Text(said));
            blocks.push(Block::Text(said.into()));
        }
        let mut ids = Ids::new(request.history);
        let called = !parsed.calls.is_empty();
        for (name, arguments) in &parsed.calls {
            on_event(ReplyEvent::CallStarted(name));
            blocks.push(Block::Call(ToolCall {
                id: ids.unique(None),
                name: name.as_str().into(),
                arguments: arguments.as_str().into(),
                extra: None,
            }));
        }
        Reply {
            message: AssistantMessage {
                blocks,
                model: self.profile.id.clone(),
            },
            finish: match (cut, called) {
                (true, _) => Finish::Length,
                (false, true) => Finish::ToolCalls,
                (false, false) => Finish::Stop,
            },
            usage: Default::default(),
            cost: None,
        }
    }
}

/// Whether a text says nothing but that no tool fits.
fn is_nothing(text: &str) -> bool {
    let bare = text.replace("<tool_call>", "").replace("</tool_call>", "");
    matches!(bare.trim(), "" | "[]")
}

fn tools(plan: &TurnPlan) -> String {
    let mut list = Items::default();
    for spec in plan.tools() {
        list.with(|out| {
            out.extend_from_slice(b"{\"name\":");
            quote(out, spec.name.as_str());
            out.extend_from_slice(b",\"description\":");
            quote(out, &spec.description);
            out.extend_from_slice(b",\"parameters\":");
            out.extend_from_slice(spec.input_schema.wire().as_bytes());
            out.push(b'}');
        });
    }
    format!("[{}]", String::from_utf8_lossy(&list.0))
}

/// The last question and the results that came since.
fn query(history: &History) -> String {
    let text = |content: &[Content]| {
        let texts = content.iter().filter_map(|piece| match piece {
            Content::Text(text) => Some(&**text),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    let mut query = String::new();
    for message in history.messages() {
        match message {
            Message::User(content) => query = text(content),
            Message::Tool(result) => {
                query.push_str(&format!(
                    "\nResult of {}: {}",
                    result.name,
                    text(&result.content)
                ));
            }
            _ => {}
        }
    }
    query
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use toolcrib_core::ToolResult;

    #[test]
    fn a_transcript_becomes_the_last_question_with_its_results() {
        let call = samples::call("c", "read", "{}", None);
        let history: History = [
            Message::user("Old."),
            Message::user("Read a."),
            Message::Tool(ToolResult::text(&call, "hello", false)),
        ]
        .into_iter()
        .collect();
        assert_eq!(query(&history), "Read a.\nResult of read: hello");
        let tools = tools(&samples::plan());
        let value: serde_json::Value = serde_json::from_str(&tools).unwrap();
        assert_eq!(value.as_array().unwrap().len(), 4);
    }

    #[test]
    fn a_file_that_holds_no_model_is_named() {
        let error = LocalModel::open("/no/such/file.cact").unwrap_err();
        assert!(
            error
                .message
                .starts_with("cannot load /no/such/file.cact: ")
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"not a model").unwrap();
        let error = LocalModel::open(file.path()).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Unsupported);
    }

    #[test]
    #[ignore = "needs the weights of Needle 3; TOOLCRIB_NEEDLE names them"]
    fn p02_a_real_model_in_process_calls_the_tool() {
        let weights = std::env::var("TOOLCRIB_NEEDLE").unwrap();
        let model = LocalModel::open(weights).unwrap();
        let schema =
            r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
        let spec = toolcrib_core::ToolSpec::new(
            toolcrib_core::ToolName::parse("get_weather").unwrap(),
            "The weather of a city.",
            toolcrib_core::Schema::parse(schema).unwrap(),
        );
        let plan = TurnPlan::new("", vec![Arc::new(spec)]);
        let history: History = [Message::user("What is the weather in Paris?")]
            .into_iter()
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let ask = || {
            let request = samples::request(&plan, &history, &ToolChoice::Auto);
            runtime
                .block_on(model.stream(request, &mut |_| {}))
                .unwrap()
        };
        let reply = ask();
        let call = reply.message.calls().next().unwrap();
        assert_eq!(&*call.name, "get_weather");
        assert!(call.arguments.contains("Paris"), "{}", call.arguments);
        assert_eq!(reply, ask());
    }
}
