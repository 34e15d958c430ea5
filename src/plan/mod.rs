//! Plans as PostgreSQL reports them: the tree, what can be asked of it, and what changed between two.
//!
//! A leaf: knows nothing of servers, notebooks or recordings.

mod comparison;
mod document;
mod error;
mod json;
mod key;
mod label;
mod node;
mod pattern;
mod print;
mod properties;
mod shape;
mod space;
mod summary;
mod title;

#[cfg(test)]
mod fixture_tests;

pub use comparison::{Comparison, ComparisonError};
pub use document::Plan;
pub use error::{MAX_BYTES, MAX_DEPTH, PlanError};
pub use node::Node;
pub use pattern::{Families, Pattern, PatternError};
pub use properties::Properties;
pub use shape::Shape;
