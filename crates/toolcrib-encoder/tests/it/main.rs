//! The encoder beside a reference, and what it says of files that are no model.

mod files;
mod golden;
