//! The loop: a serialisable machine that says what to do next, and the driver that does it.
