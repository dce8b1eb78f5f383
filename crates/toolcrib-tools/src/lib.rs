//! The built-in tools: lookups on the code graph.
