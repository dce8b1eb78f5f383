//! Models behind one trait: OpenAI-style chat endpoints, recorded scripts and the built-in navigator. The only crate that opens sockets to models.

mod navigator;

pub use navigator::Navigator;
