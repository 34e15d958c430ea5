//! Plans as PostgreSQL reports them: the tree, what can be asked of it, and what changed between two.
//!
//! A leaf: knows nothing of servers, notebooks or recordings.

mod comparison;

pub use comparison::{Comparison, ComparisonError};
