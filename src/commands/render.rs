//! `planbook render`, and the way from a recording to its report that `run` takes too.

use std::path::{Path, PathBuf};

use crate::analysis::Analysis;
use crate::cli::RenderArgs;
use crate::notebook::{self, Notebook, Overrides};
use crate::recording::Recording;
use crate::render::{self, RenderError, Subject, Templates};
use crate::verdict::Judgement;

use super::{CommandError, error, find, index, show, talk};

/// Makes the reports of recordings again, without a server.
pub(super) fn run(args: &RenderArgs) -> Result<u8, CommandError> {
    let mut found = Vec::new();
    if args.recordings.is_empty() {
        found = find::all_recordings(&args.places.results)?;
    }
    for named in &args.recordings {
        found.extend(find::recordings_named(named, &args.places.results)?);
    }
    let templates = templates(args.reports.folder().as_deref())?;
    // One that is damaged does not keep the others from their reports.
    let mut code = 0;
    let mut made = Vec::new();
    for path in found {
        match render_one(&path, &args.places.experiments, &templates) {
            Ok(()) => made.push(path),
            Err(error) => {
                code = code.max(error.code);
                talk::say(error::printed(&error));
            }
        }
    }
    let homes = index::homes(&made);
    for home in &homes {
        index::write(home, &templates)?;
    }
    if args.reports.open {
        show::reports(&made, homes.first().map(PathBuf::as_path));
    }
    Ok(code)
}

/// The templates in force.
pub(super) fn templates(folder: Option<&Path>) -> Result<Templates, CommandError> {
    Ok(folder.map_or_else(|| Ok(Templates::default()), Templates::with)?)
}

fn render_one(path: &Path, experiments: &Path, templates: &Templates) -> Result<(), CommandError> {
    let present = present_notebook(path, experiments)?;
    let report = Report::open(path, present)?;
    report.write(templates, path)?;
    talk::print(format_args!("{}\n", path.join("report.md").display()));
    Ok(())
}

/// A recording with everything that is computed from it.
#[derive(Debug)]
pub(super) struct Report {
    recording: Recording,
    analysis: Analysis,
    judgement: Judgement,
}

impl Report {
    /// Reads the recording and judges it. `present` runs what was recorded, and gives prose and claims.
    pub(super) fn open(path: &Path, present: Option<Notebook>) -> Result<Self, CommandError> {
        let mut recording = Recording::open(path)?;
        if let Some(present) = present {
            recording.adopt(present);
        }
        let analysis = Analysis::of(&recording);
        let judgement = Judgement::of(&recording, &analysis, &recording.notebook);
        Ok(Self { recording, analysis, judgement })
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            recording: &self.recording,
            analysis: &self.analysis,
            judgement: &self.judgement,
            notebook: &self.recording.notebook,
        }
    }

    /// Writes every derived file into `folder`.
    pub(super) fn write(&self, templates: &Templates, folder: &Path) -> Result<(), RenderError> {
        render::write(self.subject(), templates, folder)
    }
}

/// The notebook as it is now, with the parameters of the recording. Where it cannot serve, the recorded one does, and
/// that is said.
fn present_notebook(path: &Path, experiments: &Path) -> Result<Option<Notebook>, CommandError> {
    let manifest = Recording::manifest(path)?;
    let Ok(file) = find::notebook(&manifest.notebook, experiments) else { return Ok(None) };
    let instead = |why: &str| {
        talk::say(format_args!(
            "note: {} {why}: {} tells the notebook as it was recorded",
            file.display(),
            path.display()
        ));
    };
    let overrides = Overrides { profile: manifest.profile.clone(), set: manifest.overrides.clone() };
    match notebook::load(&file, &overrides) {
        Ok(present) if present.runs_hash() != manifest.inputs.runs => {
            instead("runs something else by now");
            Ok(None)
        }
        Ok(present) => Ok(Some(present)),
        Err(_) => {
            instead("has faults (`planbook validate` shows them)");
            Ok(None)
        }
    }
}
