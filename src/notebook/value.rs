//! Names with values, and texts that wait for them.

use std::collections::BTreeMap;

use super::source::Place;
use crate::template::Scalar;

/// Names and values in the order they were given.
pub type Values = Vec<(String, Scalar)>;

/// Settings by name, later ones already merged over earlier ones. Values are templates.
pub type Settings = BTreeMap<String, Template>;

/// Text that may hold `{{ … }}`, and where it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The text as written.
    pub text: String,
    /// The place of its first character. In a `|` block this is the first content line.
    pub at: Place,
}
