//! Datasets: the tables that a notebook starts from, built once into a template database and cloned for every run.
//!
//! ```text
//! definition (rendered, read, hashed) → build → settle → record in the template's comment → clone, fingerprint
//! ```

mod build;
mod calm;
mod clone;
mod definition;
mod error;
mod fingerprint;
mod gauge;
mod pin;
mod prepare;
mod record;
mod work;

pub use clone::clone_database;
pub use error::DatasetError;
pub use fingerprint::Fingerprint;
pub use gauge::Progress;
pub use pin::{Pin, write_pin};
pub use prepare::{Built, prepare, provide};
pub use record::{Record, TableRecord};

use crate::session::Canceller;

/// What a build reports while it goes on.
#[derive(Debug, Clone)]
pub enum Watched {
    /// A session was opened; this ends what it runs.
    Session(Canceller),
    /// Something that the user should know.
    Note(String),
    /// An earlier run had built it, at this time.
    Reused(String),
    /// A statement is about to be sent. Loads take long: a display wants to know before.
    Sending(String),
    /// How far the statement is.
    Progress(Progress),
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
