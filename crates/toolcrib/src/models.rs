//! Models behind one trait, and the words of a transcript.
//!
//! A program that only asks needs [`ModelSpec`], which makes a model of `provider:name`,
//! or [`ChatModel`] and [`RemoteModel`] with their options; one that brings
//! a model of its own implements [`Model`], for which the other words are here.

pub use toolcrib_core::{
    AssistantMessage, Block, Cost, FinalRound, Finish, History, Message, Model, ModelError,
    ModelErrorKind, ModelProfile, Price, RawJson, Reply, ReplyEvent, Request, ToolCall, ToolChoice,
    ToolResult, TurnPlan, Usage,
};
pub use toolcrib_models::{
    ChatModel, ChatOptions, Key, ModelSpec, Profiles, RemoteModel, RemoteOptions, RetryPolicy,
    TextTools, Vendor, Wire,
};
