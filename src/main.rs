//! The `planbook` program.

fn main() {}
