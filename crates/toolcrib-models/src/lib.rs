//! Models behind one trait: chat endpoints of the OpenAI kind, OpenAI Responses,
//! Anthropic Messages, Gemini, agents as plain models, models that only write text,
//! recorded scripts and the built-in navigator. The only crate that opens sockets to models.
//!
//! What is known of providers and models is a table; see [`Profiles`].
//!
//! ```
//! use toolcrib_models::ModelSpec;
//!
//! let no_environment = |_: &str| None;
//! let model = ModelSpec::parse("http://127.0.0.1:8080/v1#qwen")?.build(&no_environment)?;
//! assert_eq!(&*model.profile().id, "http://127.0.0.1:8080/v1#qwen");
//!
//! let error = ModelSpec::parse("opnai:gpt-5").unwrap_err();
//! assert_eq!(error.to_string(), "there is no provider \"opnai\"; did you mean openai?");
//! # Ok::<(), toolcrib_core::ModelError>(())
//! ```

#[cfg(feature = "acp")]
mod acp;
mod chat;
mod check;
mod deferral;
mod from_file;
mod gemini;
mod http;
mod joined;
mod json;
#[cfg(feature = "local")]
mod local;
mod messages;
mod navigator;
mod options;
mod profile;
mod reach;
mod reask;
mod remote;
mod responses;
mod retry;
#[cfg(test)]
mod samples;
mod script;
mod select;
mod sse;
mod text_tools;
mod turns;
mod usage;

#[cfg(feature = "acp")]
pub use acp::{AcpModel, OnGroup};
pub use chat::{ChatModel, ChatOptions, Vendor};
pub use check::{Finding, check_request};
pub use http::{Key, NO_PROXY_ADDRESS, is_proxy};
#[cfg(feature = "local")]
pub use local::LocalModel;
pub use navigator::Navigator;
pub use profile::{Calls, ProfileError, Profiles, Provider, Settings, WireName};
pub use reach::{Reach, Reached};
pub use remote::{RemoteModel, RemoteOptions, Wire};
pub use retry::RetryPolicy;
pub use script::ScriptModel;
pub use select::{Env, Hint, ModelSpec, Target, hints};
pub use text_tools::TextTools;
