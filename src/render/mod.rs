//! Reports from a recording: pure, the same bytes every time.

mod about;
mod acts;
mod arms;
mod cells;
mod console;
#[cfg(test)]
mod context_tests;
mod csv;
mod figures;
mod gathered;
mod harmless;
mod html;
mod index;
mod json;
mod judged;
mod markdown;
mod named;
mod outline;
mod plot;
mod prose;
mod shapes;
mod sweep;
mod templates;
mod tree;
mod view;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use crate::analysis::Analysis;
use crate::notebook::Notebook;
use crate::recording::{Recording, RecordingError};
use crate::verdict::Judgement;

pub use about::{day, server_name};
pub use index::{INDEX_MARK, IndexedNotebook, IndexedRecording, index};
pub use judged::Counts;
pub use templates::Templates;
pub use tree::{plan_html, plan_markdown, plan_text};

pub use console::{Paint, measure_lines, summary};
pub use plot::PlotError;
use view::StepView;

/// Everything that a report is made of.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The evidence.
    pub recording: &'a Recording,
    /// Its numbers.
    pub analysis: &'a Analysis,
    /// What they were held against.
    pub judgement: &'a Judgement,
    /// The prose: the present notebook where it still runs the same, else the recorded one.
    pub notebook: &'a Notebook,
}

/// A report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A template is wrong.
    #[error("{place}: {reason}")]
    Template {
        /// The template's file and line.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// A folder of templates cannot be used.
    #[error("{}: {reason}", place.display())]
    Templates {
        /// The folder, or the file in it.
        place: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A file cannot be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A value cannot be written as CSV or JSON.
    #[error("cannot encode {file}: {reason}")]
    Encode {
        /// The file.
        file: String,
        /// The encoder's reason.
        reason: String,
    },
}

/// The files of a report by name, in order.
///
/// # Errors
/// When a template fails or a value cannot be encoded.
pub fn files(subject: Subject<'_>, templates: &Templates) -> Result<Vec<(String, Vec<u8>)>, RenderError> {
    let view = view::View::of(subject)?;
    let mut files = vec![
        ("verdicts.json".to_owned(), json::verdicts(subject)?),
        ("values.json".to_owned(), json::values(subject)?),
        ("report.md".to_owned(), templates.render("report.md", &view)?.into_bytes()),
        ("report.html".to_owned(), templates.render("report.html", &view)?.into_bytes()),
    ];
    files.extend(csv::files(subject)?);
    for section in &view.steps {
        if let StepView::Plot(plot) = &section.step {
            files.extend(plot.files()?);
        }
    }
    files.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(files)
}

/// Writes the report's files into the recording's folder. Figures of plots that the notebook no longer has are removed.
///
/// # Errors
/// As [`files`], or when the disk refuses.
pub fn write(subject: Subject<'_>, templates: &Templates, folder: &Path) -> Result<(), RenderError> {
    let files = files(subject, templates)?;
    let plots = folder.join("plots");
    if plots.exists() {
        fs::remove_dir_all(&plots).map_err(RecordingError::io("remove", &plots))?;
    }
    for (name, bytes) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(RecordingError::io("create", parent))?;
        fs::write(&path, bytes).map_err(RecordingError::io("write", &path))?;
    }
    Ok(())
}
