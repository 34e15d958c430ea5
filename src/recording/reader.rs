//! Reads a recording back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::notebook::{self, Notebook, Overrides, Point, Source};
use crate::plan::{Families, Plan};

use super::evidence;
use super::manifest::FORMAT;
use super::writer::SAMPLES_HEADER;
use super::{ArmKey, CaptureEvent, CaptureWay, Event, Manifest, RecordingError, Status};

/// One recording, all of it in memory.
#[derive(Debug)]
pub struct Recording {
    /// Where it was read.
    pub path: PathBuf,
    /// What was run, on what, and how it ended.
    pub manifest: Manifest,
    /// The notebook as it was run.
    pub notebook: Notebook,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The captures by arm.
    pub captures: BTreeMap<ArmKey, Captured>,
    /// Latencies in milliseconds by arm, one list per turn.
    pub samples: BTreeMap<ArmKey, Vec<Vec<f64>>>,
}

/// The capture of one arm, read back.
#[derive(Debug)]
pub struct Captured {
    /// What was noted when it was taken.
    pub event: CaptureEvent,
    /// The plan.
    pub plan: Plan,
    /// The plan of the first capture: what the query did before it had been executed here at all.
    pub first: Plan,
    /// EXPLAIN's text, untouched.
    pub text: String,
    /// The text's file, relative to the recording.
    pub file: String,
    /// Partitions and children by relation, as they were then.
    pub families: Families,
}

impl Captured {
    /// Whether the text is of another execution than the plan.
    #[must_use]
    pub fn apart(&self) -> bool {
        self.event.way != CaptureWay::One
    }
}

impl Recording {
    /// Reads the manifest alone.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn manifest(path: &Path) -> Result<Manifest, RecordingError> {
        read_manifest(path)
    }

    /// Reads the recording in `path`, a finished or a partial one.
    ///
    /// # Errors
    /// When a file is missing, damaged or of another format.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let manifest = Self::manifest(path)?;
        evidence::check(path, &manifest)?;
        let notebook = read_notebook(path, &manifest)?;
        let mut events = read_events(path, manifest.status)?;
        for event in &mut events {
            if let Event::Estimates(estimates) = event {
                estimates.read(path)?;
            }
        }
        let captures = read_captures(path, &events)?;
        let samples = read_samples(path, manifest.status)?;
        Ok(Self { path: path.to_owned(), manifest, notebook, events, captures, samples })
    }

    /// Takes another state of the notebook, one that runs the same, for the recorded one: its prose, its claims.
    ///
    /// Steps that only show may have come or gone, which moves the numbers of the others. What happened is
    /// brought to the new numbers, so that it stays with its step.
    pub fn adopt(&mut self, present: Notebook) {
        let acting = |notebook: &Notebook| -> Vec<usize> {
            notebook.steps.iter().filter(|step| step.acts()).map(|step| step.number).collect()
        };
        let mut moved: BTreeMap<usize, usize> =
            acting(&self.notebook).into_iter().zip(acting(&present)).collect();
        moved.insert(0, 0);
        let move_it = |event: &mut Event| match event.step_mut() {
            None => true,
            // Of a step that only shows there is nothing to tell but that its turn came.
            Some(step) => moved.get(step).inspect(|new| *step = **new).is_some(),
        };
        self.events.retain_mut(move_it);
        for captured in self.captures.values_mut() {
            captured.event.step = moved.get(&captured.event.step).copied().unwrap_or(captured.event.step);
        }
        self.notebook = present;
    }
}

fn read(path: &Path) -> Result<String, RecordingError> {
    fs::read_to_string(path).map_err(RecordingError::io("read", path))
}

fn read_manifest(folder: &Path) -> Result<Manifest, RecordingError> {
    let path = folder.join("manifest.json");
    if !path.exists() {
        return Err(RecordingError::Absent { path: folder.to_owned() });
    }
    let value: serde_json::Value =
        serde_json::from_str(&read(&path)?).map_err(|error| RecordingError::damaged(&path, error))?;
    let found = value.get("format").and_then(serde_json::Value::as_u64).unwrap_or(0);
    if found != u64::from(FORMAT) {
        let next = if found > u64::from(FORMAT) { "use a newer Planbook" } else { "run the notebook again" };
        return Err(RecordingError::Format { path, found, known: FORMAT, next });
    }
    serde_json::from_value(value).map_err(|error| RecordingError::damaged(&path, error))
}

/// The notebook as run, checked again like any other: a recording is input too.
fn read_notebook(folder: &Path, manifest: &Manifest) -> Result<Notebook, RecordingError> {
    let path = folder.join("notebook.yaml");
    let source = |path: &Path| -> Result<Source, RecordingError> {
        Ok(Source { name: path.display().to_string(), text: Arc::from(read(path)?) })
    };
    let dataset = folder.join("dataset.yaml");
    let dataset = dataset.exists().then(|| source(&dataset)).transpose()?;
    let overrides = Overrides { profile: manifest.profile.clone(), set: manifest.overrides.clone() };
    notebook::load_text(&manifest.notebook, source(&path)?, dataset, &overrides)
        .map_err(|faults| RecordingError::damaged(&path, faults))
}

/// A killed run may have left half a line at the end; anywhere else that is damage.
fn read_events(folder: &Path, status: Status) -> Result<Vec<Event>, RecordingError> {
    let path = folder.join("events.jsonl");
    let text = read(&path)?;
    let cut = status == Status::Running && !text.ends_with('\n');
    let whole = if cut { &text[..text.rfind('\n').unwrap_or(0)] } else { text.as_str() };
    whole
        .lines()
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_str(line)
                .map_err(|error| RecordingError::damaged(&path, format!("line {}: {error}", index + 1)))
        })
        .collect()
}

fn read_captures(folder: &Path, events: &[Event]) -> Result<BTreeMap<ArmKey, Captured>, RecordingError> {
    let mut captures = BTreeMap::new();
    for event in events {
        if let Event::Capture(event) = event {
            captures.insert(event.key.clone(), read_capture(folder, event)?);
        }
    }
    Ok(captures)
}

fn read_capture(folder: &Path, event: &CaptureEvent) -> Result<Captured, RecordingError> {
    let file = format!("plans/{}.txt", event.key);
    let json_path = folder.join(format!("plans/{}.json", event.key));
    let text = read(&folder.join(&file))?;
    let damaged = |error| RecordingError::damaged(&json_path, error);
    let mut plan = Plan::from_json(&read(&json_path)?).map_err(damaged)?;
    // A JSON of its own execution has that one's times; the text's are of another.
    if event.way == CaptureWay::One {
        plan.adopt_summary(&text).map_err(damaged)?;
    }
    let first = read_first(folder, event)?;
    let families = Families::from(event.families.clone());
    Ok(Captured { event: event.clone(), plan, first, text, file, families })
}

/// The plan of the very first execution. Where text and JSON are of two, the text came first, and what it did may have
/// left less to do for the JSON's.
fn read_first(folder: &Path, event: &CaptureEvent) -> Result<Plan, RecordingError> {
    let stem = if event.taken > 1 {
        format!("plans/attempts/{}.1", event.key)
    } else {
        format!("plans/{}", event.key)
    };
    let one = event.way == CaptureWay::One;
    let path = folder.join(format!("{stem}.{}", if one { "json" } else { "txt" }));
    let plan = read(&path)?;
    let parsed = if one { Plan::from_json(&plan) } else { Plan::from_text(&plan) };
    parsed.map_err(|error| RecordingError::damaged(&path, error))
}

type Samples = BTreeMap<ArmKey, Vec<Vec<f64>>>;

fn read_samples(folder: &Path, status: Status) -> Result<Samples, RecordingError> {
    let path = folder.join("samples.csv");
    let text = read(&path)?;
    let mut lines = text.lines();
    if lines.next() != Some(SAMPLES_HEADER) {
        return Err(RecordingError::damaged(&path, format!("its first line is not `{SAMPLES_HEADER}`")));
    }
    let mut samples = Samples::new();
    let cut = status == Status::Running && !text.ends_with('\n');
    let mut rows: Vec<&str> = lines.collect();
    if cut {
        rows.pop();
    }
    for (index, row) in rows.into_iter().enumerate() {
        let parsed = parse_sample(row)
            .ok_or_else(|| RecordingError::damaged(&path, format!("line {} is not a sample", index + 2)))?;
        let (key, turn, latency) = parsed;
        let turns = samples.entry(key).or_default();
        if turns.len() < turn {
            turns.resize_with(turn, Vec::new);
        }
        turns[turn - 1].push(latency);
    }
    // The budget can end an arm before one of its turns.
    samples.values_mut().for_each(|turns| turns.retain(|turn| !turn.is_empty()));
    Ok(samples)
}

/// `measure,arm,point,turn,rep,latency_ms`; a point of several parameters is in quotes, and nothing else is.
fn parse_sample(row: &str) -> Option<(ArmKey, usize, f64)> {
    /// More turns than any notebook may ask for: a damaged number must not become an allocation.
    const MOST_TURNS: usize = 1_000_000;
    let mut quoted = row.split('"');
    let (before, inside, after) = (quoted.next()?, quoted.next(), quoted.next());
    let fields: Vec<&str> = match (inside, after) {
        (Some(point), Some(after)) => {
            let (before, after) = (before.strip_suffix(',')?, after.strip_prefix(',')?);
            before.split(',').chain([point]).chain(after.split(',')).collect()
        }
        _ => row.split(',').collect(),
    };
    let [measure, arm, point, turn, _rep, latency] = fields.as_slice() else { return None };
    let mut key = ArmKey::new(measure, (!arm.is_empty()).then_some(*arm));
    if !point.is_empty() {
        key.point = Some(Point::parse(point)?);
    }
    let turn = turn.parse().ok().filter(|turn| (1..=MOST_TURNS).contains(turn))?;
    let latency = latency.parse().ok().filter(|latency: &f64| latency.is_finite())?;
    Some((key, turn, latency))
}
