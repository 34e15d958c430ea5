//! Planbook runs query-plan notebooks: YAML experiments against a PostgreSQL of their own.
//!
//! Modules import one way along this line; each may use what stands to its left:
//!
//! ```text
//! plan · metric · stats · template
//! → notebook → session → server → dataset → recording → run
//!                                           recording → analysis → verdict → render
//! → commands
//! ```
//!
//! `run` and `render` never meet. `run` emits [`recording`] events; `verdict` and `render` start from a
//! recording on disk, so nothing can stand in a report that no server produced.

pub mod analysis;
pub mod cli;
pub mod commands;
pub mod dataset;
pub mod metric;
mod nearest;
pub mod notebook;
pub mod number;
pub mod plan;
pub mod project;
pub mod recording;
pub mod render;
pub mod run;
pub mod server;
pub mod session;
pub mod sql;
pub mod stats;
pub mod template;
pub mod verdict;
