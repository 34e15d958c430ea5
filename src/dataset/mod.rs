//! Datasets: the tables that a notebook starts from, built once into a template database and cloned for every run.

mod build;
mod clone;
mod error;
mod prepare;

pub use clone::clone_database;
pub use error::DatasetError;
pub use prepare::{Built, prepare};

use crate::session::Canceller;

/// What a build reports while it goes on.
#[derive(Debug, Clone)]
pub enum Watched {
    /// A session was opened; this ends what it runs.
    Session(Canceller),
    /// A statement is about to be sent. Loads take long: a display wants to know before.
    Sending(String),
    /// A statement was executed.
    Statement {
        /// As sent.
        sql: String,
        /// The command tag.
        tag: String,
        /// Wall time in milliseconds.
        duration_ms: f64,
    },
    /// A query under `verify` returned true.
    Verified(String),
}

/// Hears what happens; false stops the build.
pub type Watch<'w> = dyn FnMut(Watched) -> bool + 'w;
