//! The loop against scripted models and real dispatch.

mod answers;
mod budgets;
mod calls;
mod endings;
mod events;
mod random;
mod rounds;
mod sessions;
mod support;
