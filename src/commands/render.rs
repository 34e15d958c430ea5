//! `planbook render`, and the way from a recording to its report that `run` takes too.

use std::path::Path;

use crate::analysis::Analysis;
use crate::cli::RenderArgs;
use crate::notebook::{self, Notebook, Overrides};
use crate::recording::Recording;
use crate::render::{self, RenderError, Subject};
use crate::verdict::Judgement;

use super::{CommandError, find, talk};

/// Makes the reports of recordings again, without a server.
pub(super) fn run(args: &RenderArgs) -> Result<u8, CommandError> {
    let all = [args.places.results.clone()];
    let folders = if args.folders.is_empty() { &all[..] } else { &args.folders[..] };
    let mut found = Vec::new();
    for folder in folders {
        let recordings = find::recordings(folder);
        if recordings.is_empty() {
            return Err(CommandError::usage(
                format!("{} holds no recording", folder.display()),
                "name a folder with a manifest.json in it, or run a notebook first",
            ));
        }
        found.extend(recordings);
    }
    for path in &found {
        let report = Report::open(path, present_notebook(path, &args.places.experiments))?;
        report.write(path)?;
        talk::print(format_args!("{}\n", path.join("report.md").display()));
    }
    Ok(0)
}

/// A recording with everything that is computed from it.
#[derive(Debug)]
pub(super) struct Report {
    recording: Recording,
    analysis: Analysis,
    judgement: Judgement,
    /// The present notebook, where it still runs what was recorded.
    present: Option<Notebook>,
}

impl Report {
    /// Reads the recording and judges it. `present` gives the prose, where it still runs what was recorded.
    pub(super) fn open(path: &Path, present: Option<Notebook>) -> Result<Self, CommandError> {
        let recording = Recording::open(path)?;
        let present = present.filter(|notebook| notebook.runs_hash() == recording.manifest.inputs.runs);
        let analysis = Analysis::of(&recording);
        let notebook = present.as_ref().unwrap_or(&recording.notebook);
        let judgement = Judgement::of(&recording, &analysis, notebook);
        Ok(Self { recording, analysis, judgement, present })
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            recording: &self.recording,
            analysis: &self.analysis,
            judgement: &self.judgement,
            notebook: self.present.as_ref().unwrap_or(&self.recording.notebook),
        }
    }

    /// Writes every derived file into `folder`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), RenderError> {
        render::write(self.subject(), folder)
    }
}

/// The notebook as it is now, with the parameters of the recording.
fn present_notebook(path: &Path, experiments: &Path) -> Option<Notebook> {
    let manifest = Recording::manifest(path).ok()?;
    let path = experiments.join(format!("{}.yaml", manifest.notebook));
    let overrides = Overrides { profile: manifest.profile.clone(), set: manifest.overrides.clone() };
    notebook::load(&path, &overrides).ok()
}
