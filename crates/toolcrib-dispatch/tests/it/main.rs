//! The dispatcher as its callers see it.

mod arguments;
mod batch;
mod limits;
mod names;
mod order;
mod random;
mod support;
