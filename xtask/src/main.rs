//! Rules and gates of this repository as code.

fn main() {}
