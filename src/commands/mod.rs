//! The verbs of the program, one file each.

pub mod server;
