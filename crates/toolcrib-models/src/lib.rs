//! Models behind one trait: OpenAI-style chat endpoints, recorded scripts and the
//! built-in navigator. The only crate that opens sockets to models.

mod chat;
mod navigator;
mod retry;
mod sse;

pub use chat::{ChatModel, ChatOptions, Key, Vendor};
pub use navigator::Navigator;
pub use retry::RetryPolicy;
