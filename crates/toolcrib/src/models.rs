//! Models behind one trait, and the words of a transcript.
//!
//! A program that only asks needs [`ModelSpec`], which makes a model of `provider:name`,
//! or [`ChatModel`] and [`RemoteModel`] with their options; one that brings
//! a model of its own implements [`Model`], for which the other words are here.
//! [`Navigator`] answers questions about code out of the lookups alone, and
//! [`ScriptModel`] gives replies that are written beforehand.

pub use toolcrib_core::{
    AssistantMessage, Block, Cost, FinalRound, Finish, History, LoadRoute, Message, Model,
    ModelError, ModelErrorKind, ModelProfile, Price, RawJson, Reply, ReplyEvent, Request, Str,
    ToolCall, ToolChoice, ToolDialect, ToolResult, TurnPlan, Usage,
};
#[cfg(feature = "acp")]
pub use toolcrib_models::AcpModel;
#[cfg(feature = "local")]
pub use toolcrib_models::LocalModel;
pub use toolcrib_models::{
    Calls, ChatModel, ChatOptions, Env, Key, ModelSpec, Navigator, ProfileError, Profiles,
    Provider, RemoteModel, RemoteOptions, RetryPolicy, ScriptModel, Settings, Target, TextTools,
    Vendor, Wire, WireName,
};
