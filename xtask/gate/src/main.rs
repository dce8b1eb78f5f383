//! The program whose instructions the gate counts.

fn main() {}
