//! The wire against a server whose every byte is scripted.

mod support;
mod wire;
