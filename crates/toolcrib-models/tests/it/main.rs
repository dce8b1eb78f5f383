//! The wire against a server whose every byte is scripted.

mod faults;
mod retries;
mod secrets;
mod support;
mod wire;
