//! What a reader must know of the run: its server, its machine, its method, and anything unusual.

use crate::analysis::ArmResult;
use crate::metric::Metric;
use crate::number;
use crate::recording::{BuiltEvent, CaptureEvent, CaptureWay, Event, Status};
use crate::server::{Container, Identity, Pin};
use crate::template::escape_markdown;

use super::Subject;
use super::markdown::code;

/// What the notebook ran on and when, in a few words each.
pub(super) fn origin(subject: Subject<'_>) -> Vec<String> {
    let manifest = &subject.recording.manifest;
    vec![manifest.notebook.clone(), server_name(&manifest.server), day(&manifest.started)]
}

/// A server in a few words: `PostgreSQL 15.18 (local)`.
#[must_use]
pub fn server_name(server: &Identity) -> String {
    format!("PostgreSQL {} ({})", server.release(), server.kind)
}

/// The day of a point in time such as `2026-01-31T12:00:00Z`.
#[must_use]
pub fn day(time: &str) -> String {
    time.split('T').next().unwrap_or(time).to_owned()
}

/// Unusual things, said before anything else.
pub(super) fn notices(subject: Subject<'_>) -> Vec<String> {
    let manifest = &subject.recording.manifest;
    let mut notices = image_notices(&manifest.server);
    match manifest.status {
        Status::Complete => {}
        Status::Running => notices.push("This run was cut off before its end.".to_owned()),
        Status::Failed => notices.push("A step failed; the steps after it were not run.".to_owned()),
        Status::Broken => {
            notices.push("The server or the machine gave way before the end of the run.".to_owned())
        }
        Status::Interrupted => notices.push("This run was interrupted before its end.".to_owned()),
    }
    if let Some(profile) = &manifest.profile {
        notices.push(format!("Profile {}, not the notebook's full size.", code(profile)));
    }
    if !manifest.overrides.is_empty() {
        let changed: Vec<String> =
            manifest.overrides.iter().map(|(name, value)| code(&format!("{name} = {value}"))).collect();
        notices.push(format!("Parameters changed for this run: {}.", changed.join(", ")));
    }
    if let Some(only) = &manifest.only {
        notices.push(format!("Only {} was measured.", code(only)));
    }
    notices.extend(subject.recording.events.iter().filter_map(|event| match event {
        Event::Note { text, .. } => Some(format!("{}.", escape_markdown(text))),
        _ => None,
    }));
    notices
}

/// An image that is not the pinned one, or that nothing pins, is said in the report's first line.
fn image_notices(server: &Identity) -> Vec<String> {
    let Some(image) = server.container.as_ref().map(|container| &container.image) else { return Vec::new() };
    let mut notices = Vec::new();
    if image.pin == Pin::None {
        notices.push(format!(
            "Made on {}, which no digest pins: it may name another image tomorrow.",
            code(&image.reference)
        ));
    }
    if let Some(pinned) = &image.instead_of {
        let version = server.release();
        let counts = if tag(pinned) == Some(version) {
            "Both are of that version, so that counts should be the same"
        } else {
            "Counts may differ with the minor version"
        };
        notices.push(format!(
            "Made with PostgreSQL {version} of the image {}, in place of {}, which this project’s compose.yaml pins. {counts}; times may differ \
             wherever it was built in another way.",
            code(&short(&image.reference)),
            code(&short(pinned))
        ));
    }
    notices
}

/// The tag of a reference: `16.14` of `postgres:16.14@sha256:…`.
fn tag(reference: &str) -> Option<&str> {
    let name = reference.split('@').next()?;
    name.rsplit('/').next()?.split_once(':').map(|(_, tag)| tag)
}

/// A reference with as much of its digest as tells it from others; [`container`] has it whole.
fn short(reference: &str) -> String {
    const DIGITS: usize = 12;
    match reference.split_once("@sha256:") {
        Some((name, digest)) => format!("{name}@sha256:{}…", digest.get(..DIGITS).unwrap_or(digest)),
        None => reference.to_owned(),
    }
}

/// The container or the package that the server came in.
fn container(server: &Identity) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    if let Some(package) = &server.package {
        row("package", format!("{} {}", package.name, package.version));
    }
    let Some(Container { image, engine, limits }) = &server.container else { return rows };
    row("image", image.reference.clone());
    if let Some(pinned) = &image.instead_of {
        row("instead of", pinned.clone());
    }
    row("index digest", image.digest.clone().unwrap_or_else(|| "none".to_owned()));
    row("platform image", format!("{} ({})", image.id, image.platform));
    if image.pin == Pin::Id {
        row("pinned by", "the platform image's id, since it was loaded and not pulled".to_owned());
    }
    row("engine", format!("{} {} (interface {})", engine.name, engine.version, engine.api));
    let size =
        |bytes: Option<i64>| bytes.map_or_else(|| "no limit".to_owned(), |bytes| number::bytes(bytes as f64));
    row("container memory", size(limits.memory_bytes));
    row("container /dev/shm", size(limits.shm_bytes));
    rows
}

/// Server, machine and method: name and value.
pub(super) fn server(subject: Subject<'_>) -> Vec<(String, String)> {
    let manifest = &subject.recording.manifest;
    let server = &manifest.server;
    let machine = &server.machine;
    let cpu = machine.cpu.as_ref().map(|cpu| format!(", {cpu}")).unwrap_or_default();
    let memory = machine
        .memory_bytes
        .map(|bytes| format!(", {} of memory", number::bytes(bytes as f64)))
        .unwrap_or_default();
    let checksums = if server.data_checksums { "on" } else { "off" };
    let shared_buffers = server.settings_in_force.get("shared_buffers").cloned().unwrap_or_default();
    let mut rows = vec![
        ("server".to_owned(), format!("PostgreSQL {} ({})", server.version, server.kind)),
        ("version number".to_owned(), server.version_num.to_string()),
        ("block size".to_owned(), number::bytes(f64::from(server.block_size))),
        ("data checksums".to_owned(), checksums.to_owned()),
        ("shared_buffers".to_owned(), shared_buffers),
        ("encoding, collation".to_owned(), format!("{}, {}", server.encoding, server.collate)),
        (
            "machine".to_owned(),
            format!("{} {}, {} cores{cpu}{memory}", machine.os, machine.arch, machine.cores),
        ),
        ("started".to_owned(), manifest.started.clone()),
    ];
    rows.splice(1..1, container(server));
    rows.extend(captures(subject));
    for (name, asked, in_force) in server.differences() {
        rows.push((format!("asked for {name}"), format!("{asked}, and {in_force} is in force")));
    }
    if let Some(seconds) = manifest.seconds {
        rows.push(("took".to_owned(), number::milliseconds(seconds * 1e3)));
    }
    rows.extend(manifest.built.iter().flat_map(dataset));
    rows.push(("seed of the order of turns".to_owned(), manifest.seed.to_string()));
    for (name, value) in &manifest.params {
        rows.push((format!("parameter {name}"), value.to_string()));
    }
    rows.push(("made by".to_owned(), format!("Planbook {}", manifest.planbook)));
    rows
}

/// That text and JSON are of two executions, where they are, and why.
fn captures(subject: Subject<'_>) -> Option<(String, String)> {
    let mut captures = subject.recording.events.iter().filter_map(|event| match event {
        Event::Capture(capture) => Some(&capture.way),
        _ => None,
    });
    captures.any(|way| *way != CaptureWay::One).then(|| {
        let said = "the printed plan and the numbers of the tree come from two executions with the same plan, since this server has \
                    no auto_explain";
        ("captures".to_owned(), said.to_owned())
    })
}

/// What is known of the dataset.
fn dataset(built: &BuiltEvent) -> Vec<(String, String)> {
    let record = &built.record;
    let statistics = if record.pinned { "pinned statistics" } else { "statistics of its own ANALYZE" };
    let short = |hash: &str| hash.chars().take(16).collect::<String>();
    let rows: Vec<String> = record
        .tables
        .iter()
        .map(|table| format!("{} {} rows", table.name, number::count(table.rows as f64)))
        .collect();
    vec![
        ("dataset".to_owned(), format!("{}, built {}, {statistics}", record.dataset, record.built)),
        ("tables".to_owned(), rows.join(", ")),
        (
            "definition and contents, hashed".to_owned(),
            format!("{}, {}", short(&record.definition), short(&record.fingerprint.hash)),
        ),
    ]
}

/// Settings of the server that are not the built-in defaults.
pub(super) fn settings(subject: Subject<'_>) -> Vec<(String, String)> {
    let in_force = &subject.recording.manifest.server.settings_in_force;
    in_force.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The share of the blocks touched that were found in shared_buffers.
fn hit_share(result: &ArmResult) -> Option<f64> {
    let (hit, read) = (result.metrics.get(&Metric::Hit)?, result.metrics.get(&Metric::Read)?);
    (hit + read > 0.0).then(|| hit / (hit + read))
}

/// What is special about one capture and its timing.
pub(super) fn notes(event: &CaptureEvent, result: &ArmResult) -> Vec<String> {
    let mut notes = Vec::new();
    if event.own_clone {
        notes.push("This arm had a clone of the database to itself.".to_owned());
    }
    if event.rolled_back {
        notes.push(
            "Captured and timed in transactions that were rolled back, like every arm beside it.".to_owned(),
        );
    }
    if event.agreed {
        notes.push(format!(
            "Captured {} times, until two captures in a row agreed; the last is shown, those before it are under plans/attempts/.",
            event.taken
        ));
        if event.way != CaptureWay::One {
            notes.push(
                "Each capture executed the query twice: for the text, and for the numbers of the tree."
                    .to_owned(),
            );
        }
    } else {
        notes.push(format!(
            "The last two of {} captures did not agree in shape and blocks; the last one is shown.",
            event.taken
        ));
    }
    if let Some(share) = hit_share(result) {
        notes.push(format!(
            "Of the blocks of the captured execution, {} came from shared_buffers.",
            number::percent(share)
        ));
    }
    if result.samples < result.asked {
        notes.push(format!(
            "The time budget allowed {} of {} timed executions.",
            result.samples, result.asked
        ));
    }
    if result.changed_plan.is_some() {
        notes.push("The plan changed while it was timed: the timings belong to no one plan.".to_owned());
    }
    notes
}
