//! Writes a recording as its run happens.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::notebook::Notebook;

use super::evidence;
use super::{
    BuiltEvent, CaptureEvent, Event, Folder, Manifest, Observer, RecordingError, SampleEvent, Status,
};

/// The header of `samples.csv`.
pub(super) const SAMPLES_HEADER: &str = "measure,arm,point,turn,rep,latency_ms";

/// Stores the events of one run, each flushed before the next is taken.
#[derive(Debug)]
pub struct Writer {
    folder: Folder,
    manifest: Manifest,
    events: File,
    samples: File,
}

impl Writer {
    /// Begins the recording that will end as `finished`: manifest, notebook and dataset first.
    ///
    /// # Errors
    /// When another run is writing there, or the disk refuses.
    pub fn begin(finished: &Path, manifest: Manifest, notebook: &Notebook) -> Result<Self, RecordingError> {
        let folder = Folder::begin(finished)?;
        let at = folder.path().to_owned();
        write_json(&at.join("manifest.json"), &manifest)?;
        write(&at.join("notebook.yaml"), notebook.source.text.as_bytes())?;
        if let Some(dataset) = notebook.dataset.as_ref().filter(|dataset| dataset.source != notebook.source) {
            write(&at.join("dataset.yaml"), dataset.source.text.as_bytes())?;
        }
        let attempts = at.join("plans/attempts");
        fs::create_dir_all(&attempts).map_err(RecordingError::io("create", &attempts))?;
        let events = create(&at.join("events.jsonl"))?;
        let mut samples = create(&at.join("samples.csv"))?;
        writeln!(samples, "{SAMPLES_HEADER}").map_err(RecordingError::io("write", at.join("samples.csv")))?;
        Ok(Self { folder, manifest, events, samples })
    }

    /// Where the files are while the run goes on.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Notes in the manifest how the run ended, and the bytes of every file of evidence.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn conclude(&mut self, status: Status, seconds: f64) -> Result<(), RecordingError> {
        self.manifest.status = status;
        self.manifest.seconds = Some(seconds);
        self.manifest.files = evidence::digests(self.path())?;
        write_json(&self.path().join("manifest.json"), &self.manifest)
    }

    /// Puts the recording in its place and returns where that is.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(self) -> Result<PathBuf, RecordingError> {
        self.folder.finish()
    }

    /// Leaves the partial recording as it is and returns where that is.
    #[must_use]
    pub fn abandon(self) -> PathBuf {
        self.folder.abandon()
    }

    fn line(&mut self, event: &Event) -> Result<(), RecordingError> {
        let path = self.folder.path().join("events.jsonl");
        let mut line = serde_json::to_vec(event).map_err(|error| RecordingError::damaged(&path, error))?;
        line.push(b'\n');
        self.events
            .write_all(&line)
            .and_then(|()| self.events.flush())
            .map_err(RecordingError::io("write", path))
    }

    fn sample(&mut self, sample: &SampleEvent) -> Result<(), RecordingError> {
        let SampleEvent { key, turn, rep, latency_ms, .. } = sample;
        let arm = key.arm.as_deref().unwrap_or_default();
        let point = key.point.as_ref().map(|point| match point.values().len() {
            1 => point.to_string(),
            _ => format!("\"{point}\""),
        });
        let point = point.unwrap_or_default();
        writeln!(self.samples, "{},{arm},{point},{turn},{rep},{latency_ms}", key.measure)
            .map_err(RecordingError::io("write", self.folder.path().join("samples.csv")))
    }

    /// The last capture under the arm's own name, those before it among the attempts.
    fn plans(&self, capture: &CaptureEvent) -> Result<(), RecordingError> {
        let plans = self.path().join("plans");
        for (index, (text, json)) in capture.captures.iter().enumerate() {
            let stem = if index + 1 == capture.captures.len() {
                plans.join(capture.key.to_string())
            } else {
                plans.join("attempts").join(format!("{}.{}", capture.key, index + 1))
            };
            for (ending, content) in [("txt", text), ("json", json)] {
                let path = PathBuf::from(format!("{}.{ending}", stem.display()));
                write(&path, content.as_bytes())?;
            }
        }
        Ok(())
    }
}

impl Observer for Writer {
    fn observe(&mut self, event: &Event) -> Result<(), RecordingError> {
        match event {
            Event::RunStarted(_)
            | Event::StepStarted { .. }
            | Event::Sending { .. }
            | Event::Reused { .. }
            | Event::Loading(_) => Ok(()),
            Event::Built(built) => {
                self.manifest.built = Some(BuiltEvent::clone(built));
                write_json(&self.path().join("manifest.json"), &self.manifest)?;
                self.line(event)
            }
            Event::Sample(sample) => self.sample(sample),
            Event::Capture(capture) => self.plans(capture).and_then(|()| self.line(event)),
            Event::Estimates(estimates) => estimates.write(self.path()).and_then(|()| self.line(event)),
            _ => self.line(event),
        }
    }
}

fn create(path: &Path) -> Result<File, RecordingError> {
    File::create(path).map_err(RecordingError::io("create", path))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), RecordingError> {
    fs::write(path, bytes).map_err(RecordingError::io("write", path))
}

/// Pretty JSON, written beside the old file and renamed over it, so that a kill never leaves half of it.
fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RecordingError> {
    let mut json = serde_json::to_vec_pretty(value).map_err(|error| RecordingError::damaged(path, error))?;
    json.push(b'\n');
    let new = path.with_extension("json.new");
    write(&new, &json)?;
    fs::rename(&new, path).map_err(RecordingError::io("write", path))
}
