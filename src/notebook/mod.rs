//! Notebooks: from YAML text to a valid [`Notebook`], or to every fault in it.

mod model;
mod source;

pub use model::*;
pub use source::{Place, Source};
