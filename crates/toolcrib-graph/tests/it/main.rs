//! Integration tests of the graph: scanning, extraction, linking.

mod broken;
mod determinism;
mod exclusions;
mod lookups;
mod phantoms;
mod sample;
mod states;
mod support;
