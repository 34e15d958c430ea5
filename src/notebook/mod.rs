//! Notebooks: from YAML text to a valid [`Notebook`], or to every fault in it.
//!
//! ```text
//! text → tree of nodes with places → wire types, decoded past faults → model
//! ```
//!
//! Nothing here touches a server, and nothing past [`load`] meets an invalid notebook.

mod convert;
mod de;
mod example;
mod fault;
mod figure;
mod files;
mod hash;
mod load;
mod model;
mod node;
mod overrides;
mod point;
mod scalar;
mod schema;
mod source;
mod traps;
mod value;
mod wire;

pub use fault::{Fault, Faults};
pub use load::{load, load_dataset, load_text};
pub use model::*;
pub use overrides::Overrides;
pub use point::Point;
pub use schema::{dataset_schema, notebook_schema};
pub use source::{Place, Source};

#[cfg(test)]
mod sweep_tests;
#[cfg(test)]
mod tests;
