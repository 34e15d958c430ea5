//! What a run changes of a notebook without editing it.

/// What the command line changes of a notebook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--profile`
    pub profile: Option<String>,
    /// `--set`, in order: name and value as text
    pub set: Vec<(String, String)>,
}
