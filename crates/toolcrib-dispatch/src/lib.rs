//! What happens when a model calls a tool: parse, repair, approve, run, cap.
