//! Plans as PostgreSQL reports them: the tree, what can be asked of it, and what changed between two.
//!
//! A leaf: knows nothing of servers, notebooks or recordings.

mod at;
mod comparison;
mod diff;
mod document;
mod error;
mod estimate;
mod exclusive;
mod json;
mod key;
mod label;
mod measure;
mod node;
mod paste;
mod pattern;
mod print;
mod properties;
mod shape;
mod skeleton;
mod space;
mod text;
mod title;
mod write;

#[cfg(test)]
mod fixture_tests;

pub use at::{At, AtError, AtOutcome};
pub use comparison::{Comparison, ComparisonError};
pub use diff::{Cause, Change, PlanDiff};
pub use document::Plan;
pub use error::{MAX_BYTES, MAX_DEPTH, PlanError};
pub use estimate::Estimate;
pub use exclusive::Own;
pub use label::node_types;
pub use node::Node;
pub use pattern::{Families, Pattern, PatternError};
pub use properties::Properties;
pub use shape::Shape;
pub use skeleton::{Departure, Skeleton, SkeletonError};
