//! The page over all recordings.

use schemars::JsonSchema;
use serde::Serialize;

use super::judged::Counts;
use super::{RenderError, Templates};

/// What the templates of the index see.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "index")]
pub struct IndexView {
    /// Over all recordings, how many verdicts of each kind.
    pub counts: Counts,
    /// How many recordings there are.
    pub recordings: usize,
    /// The notebooks that were recorded, by name.
    pub notebooks: Vec<IndexedNotebook>,
}

/// A notebook with its recordings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "indexed notebook")]
pub struct IndexedNotebook {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its summary, a line of markdown.
    pub summary: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its recordings, by their servers.
    pub recordings: Vec<IndexedRecording>,
}

/// One recording.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "indexed recording")]
pub struct IndexedRecording {
    /// Its folder, relative to the index.
    pub folder: String,
    /// The folder's own name, such as `local-15`.
    pub name: String,
    /// The server, such as `PostgreSQL 15.18 (local)`.
    pub server: String,
    /// The day on which it was recorded.
    pub day: String,
    /// Whether every step was done.
    pub complete: bool,
    /// How many verdicts of each kind.
    pub counts: Counts,
}

/// Says of a file that it is ours to write again.
pub const INDEX_MARK: &str = "<!-- Planbook writes this file. Without this line it is left alone. -->";

/// `index.html` and `README.md` over recordings, those of one notebook together.
///
/// # Errors
/// Where a template fails.
pub fn index(
    mut notebooks: Vec<IndexedNotebook>,
    templates: &Templates,
) -> Result<Vec<(&'static str, Vec<u8>)>, RenderError> {
    notebooks.sort_by(|one, other| one.name.cmp(&other.name));
    for notebook in &mut notebooks {
        notebook
            .recordings
            .sort_by(|one, other| (&one.server, &one.folder).cmp(&(&other.server, &other.folder)));
    }
    let all = || notebooks.iter().flat_map(|notebook| &notebook.recordings);
    let sum = |read: fn(&Counts) -> usize| all().map(|recording| read(&recording.counts)).sum();
    let counts = Counts {
        pass: sum(|counts| counts.pass),
        fail: sum(|counts| counts.fail),
        inconclusive: sum(|counts| counts.inconclusive),
        not_run: sum(|counts| counts.not_run),
    };
    let view = IndexView { counts, recordings: all().count(), notebooks };
    let marked = |name: &str| {
        Ok::<_, RenderError>(format!("{INDEX_MARK}\n{}", templates.render(name, &view)?).into_bytes())
    };
    Ok(vec![("README.md", marked("index.md")?), ("index.html", marked("index.html")?)])
}
