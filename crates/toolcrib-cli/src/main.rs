//! The `toolcrib` command.

mod args;
mod config;
mod exit;
mod question;
mod terminal;
mod trust;

fn main() {}
