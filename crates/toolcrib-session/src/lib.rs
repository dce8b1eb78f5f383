//! An append-only session log that survives crashes.
