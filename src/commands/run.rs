//! `planbook run`: every notebook is read before a server starts, then each is run, recorded, judged and reported.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use crate::cli::{Format, RunArgs};
use crate::notebook::{self, Notebook, Overrides, StepKind};
use crate::project::Project;
use crate::recording::{self, Event, Inputs, Manifest, Observer, RecordingError, Status, Writer};
use crate::render::{self, Templates};
use crate::run::{self, Ended, Interrupt, Job, RunError};
use crate::server::{self, Server, ServerError, Spec};

use super::progress::Progress;
use super::render::Report;
use super::{CommandError, error, find, groups, index, list, show, signals, talk};

/// The seed of the order of turns and of the bootstrap. Fixed, so that two runs differ in nothing that is ours.
const SEED: u64 = 20_260_101;

/// Runs the notebooks named.
pub(super) fn run(args: &RunArgs) -> Result<u8, CommandError> {
    if args.notebooks.is_empty() && !args.all {
        return nothing_named(args);
    }
    let spec: Spec = args.server.parse()?;
    let templates = super::render::templates(args.reports.folder().as_deref())?;
    let notebooks = load(args)?;
    check_results(&args.places.results)?;
    let interrupt = signals::listen()?;
    groups::check(&spec, &notebooks)?;
    let mut done = Vec::new();
    let ended = run_groups(args, &spec, &notebooks, &interrupt, &templates, &mut done);
    let code = done.iter().map(|one| one.code).max().unwrap_or_default();
    let indexed = if done.is_empty() { Ok(()) } else { index::write(&args.places.results, &templates) };
    if args.reports.open {
        let made: Vec<PathBuf> = done.iter().map(|one| one.place.clone()).collect();
        show::reports(&made, Some(&args.places.results));
    }
    // Also where a later one broke: what finished is recorded, and its reader hears of it.
    if args.format == Format::Json {
        let outcomes: Value = done.into_iter().map(|one| one.json).collect();
        talk::print(format_args!("{outcomes:#}\n"));
    }
    ended.and(indexed).map(|()| code)
}

/// Runs each group on its server. `done` takes every notebook that finished, however the rest ends.
fn run_groups(
    args: &RunArgs,
    spec: &Spec,
    notebooks: &[Notebook],
    interrupt: &Interrupt,
    templates: &Templates,
    done: &mut Vec<Done>,
) -> Result<(), CommandError> {
    let project = Project::current()?;
    for group in groups::of(notebooks) {
        let needs = group.needs(args, project, interrupt);
        let mut server = server::start(spec, &needs, &mut |line| talk::say(format_args!("  {line}")))?;
        talk::say(format_args!("  server   {} · PostgreSQL {}", server.kind(), server.identity().version));
        let ended = group.notebooks.iter().try_for_each(|notebook| {
            run_one(args, notebook, &mut server, interrupt, templates).map(|one| done.push(one))
        });
        let stopped = if args.keep { keep(server) } else { server.stop() };
        ended?;
        stopped?;
    }
    Ok(())
}

/// Leaves the server to the user, who is told how to open and how to end it.
fn keep(server: Server) -> Result<(), ServerError> {
    talk::say("  kept     `planbook server psql` opens the server, `planbook server prune` ends it");
    server.keep();
    Ok(())
}

fn nothing_named(args: &RunArgs) -> Result<u8, CommandError> {
    talk::print(list::table(&args.places)?);
    Err(CommandError::usage("no notebook is named", "planbook run NAME, or planbook run --all"))
}

/// Every notebook, or the faults of all of them.
fn load(args: &RunArgs) -> Result<Vec<Notebook>, CommandError> {
    let experiments = &args.places.experiments;
    let paths = if args.all {
        find::notebooks(experiments)?
    } else {
        args.notebooks.iter().map(|name| find::notebook(name, experiments)).collect::<Result<_, _>>()?
    };
    let overrides = Overrides { profile: args.changes.profile.clone(), set: args.changes.set.clone() };
    check_names(&paths)?;
    let mut notebooks = Vec::new();
    let mut faults = None;
    for path in paths {
        match notebook::load(&path, &overrides) {
            Ok(notebook) => notebooks.push(notebook),
            Err(found) => {
                if let Some(earlier) = faults.replace(found) {
                    talk::say(error::printed(&earlier.into()));
                }
            }
        }
    }
    if let Some(faults) = faults {
        return Err(faults.into());
    }
    if let Some(only) = &args.only {
        check_only(&notebooks, only)?;
    }
    Ok(notebooks)
}

/// Recordings are kept by the notebook's name: of two with one name, the second would replace the first's.
fn check_names(paths: &[PathBuf]) -> Result<(), CommandError> {
    for (index, path) in paths.iter().enumerate() {
        if let Some(other) = paths[..index].iter().find(|other| other.file_stem() == path.file_stem()) {
            return Err(CommandError::usage(
                format!("{} and {} would leave one recording", other.display(), path.display()),
                "name each notebook once, or run them apart with --results DIR",
            ));
        }
    }
    Ok(())
}

fn check_only(notebooks: &[Notebook], only: &str) -> Result<(), CommandError> {
    for notebook in notebooks {
        let ids: Vec<&str> = measures(notebook).collect();
        if !ids.contains(&only) {
            return Err(CommandError::usage(
                format!("{} has no measure with the id {only}", notebook.name),
                format!("its measures are: {}", ids.join(", ")),
            ));
        }
    }
    Ok(())
}

fn measures(notebook: &Notebook) -> impl Iterator<Item = &str> {
    notebook.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Measure(measure) => Some(measure.id.as_str()),
        StepKind::Sweep(sweep) => Some(sweep.measure.id.as_str()),
        StepKind::Time(time) => Some(time.id.as_str()),
        _ => None,
    })
}

/// A folder that cannot be written is found out before the server works for nothing.
pub(super) fn check_results(results: &Path) -> Result<(), CommandError> {
    let try_it = || -> Result<(), RecordingError> {
        fs::create_dir_all(results).map_err(RecordingError::io("create", results))?;
        tempfile::tempfile_in(results).map(drop).map_err(RecordingError::io("write into", results))
    };
    Ok(try_it()?)
}

struct Done {
    code: u8,
    place: PathBuf,
    json: Value,
}

/// Runs a notebook in a database of its own, which is dropped however the run ends: somebody else's server stays.
fn run_one(
    args: &RunArgs,
    notebook: &Notebook,
    server: &mut Server,
    interrupt: &Interrupt,
    templates: &Templates,
) -> Result<Done, CommandError> {
    let database = database_name(&notebook.name);
    let done = run_in(args, notebook, server, &database, interrupt, templates);
    if args.keep {
        talk::say(format_args!("  kept     the database {database}"));
        return done;
    }
    let dropped = server.drop_database(&database);
    let done = done?;
    dropped?;
    Ok(done)
}

fn run_in(
    args: &RunArgs,
    notebook: &Notebook,
    server: &mut Server,
    database: &str,
    interrupt: &Interrupt,
    templates: &Templates,
) -> Result<Done, CommandError> {
    let finished = recording_folder(args, notebook, server);
    let manifest = manifest(args, notebook, server);
    let mut writer = Writer::begin(&finished, manifest.clone(), notebook)?;
    let mut progress = Progress::new(notebook, writer.path().to_owned(), args.format == Format::Human);
    let started = Instant::now();
    let job = Job { notebook, server, database, seed: SEED, only: args.only.as_deref(), interrupt };
    let ended = {
        let mut observers = Both(&mut writer, &mut progress);
        observers
            .observe(&Event::RunStarted(Box::new(manifest)))
            .map_err(RunError::from)
            .and_then(|()| run::run(&job, &mut observers))
    };
    progress.finish();
    let concluded = writer.conclude(status(&ended), started.elapsed().as_secs_f64());
    // Where both went wrong, as on a full disk, the first tells more.
    if let Err(error) = ended.and(concluded.map_err(RunError::from)) {
        let left = writer.abandon();
        return Err(broken(error, server, &left));
    }
    // The report is part of what is put in place: a recording without one would look unfinished.
    let report = Report::open(writer.path(), Some(notebook.clone()))?;
    report.write(templates, writer.path())?;
    let place = writer.finish()?;
    Ok(conclude(args, &report, &place))
}

/// Prints the summary; the exit code and the machine's view.
fn conclude(args: &RunArgs, report: &Report, place: &Path) -> Done {
    let subject = report.subject();
    if args.format == Format::Human {
        talk::print(format_args!("\n{}", render::summary(subject, place, talk::paint())));
    }
    let holds = subject.judgement.holds(args.strict);
    let json = json!({
        "notebook": subject.notebook.name,
        "holds": holds,
        "recording": place.display().to_string(),
        "report": place.join("report.md").display().to_string(),
        "page": place.join("report.html").display().to_string(),
        "verdicts": subject.judgement.verdicts,
    });
    Done { code: u8::from(!holds), place: place.to_owned(), json }
}

fn status(ended: &Result<Ended, RunError>) -> Status {
    match ended {
        Ok(Ended::Complete) => Status::Complete,
        Ok(Ended::Failed) => Status::Failed,
        Err(RunError::Interrupted) => Status::Interrupted,
        Err(_) => Status::Broken,
    }
}

/// What broke, with the end of the server's log where the server died, and where the evidence is.
fn broken(error: RunError, server: &mut Server, left: &Path) -> CommandError {
    let kept = format!("what was recorded until then is in {}", left.display());
    let error = match error {
        RunError::Session(lost) => match server.why_lost() {
            Some(died) => died.into(),
            None => CommandError::from(lost),
        },
        error => CommandError::from(error),
    };
    error.and(&kept)
}

/// Two observers as one.
struct Both<'a>(&'a mut dyn Observer, &'a mut dyn Observer);

impl Observer for Both<'_> {
    fn observe(&mut self, event: &Event) -> Result<(), RecordingError> {
        self.0.observe(event)?;
        self.1.observe(event)
    }
}

fn manifest(args: &RunArgs, notebook: &Notebook, server: &Server) -> Manifest {
    Manifest {
        format: recording::FORMAT,
        planbook: env!("CARGO_PKG_VERSION").to_owned(),
        notebook: notebook.name.clone(),
        dataset: notebook.dataset.as_ref().map(|dataset| dataset.name.clone()),
        built: None,
        profile: notebook.profile.clone(),
        overrides: notebook.overrides.clone(),
        only: args.only.clone(),
        params: notebook.params.iter().cloned().collect::<BTreeMap<_, _>>(),
        inputs: Inputs { runs: notebook.runs_hash(), shown: notebook.shown_hash() },
        server: server.identity().clone(),
        seed: SEED,
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seconds: None,
        status: Status::Running,
        files: BTreeMap::new(),
    }
}

/// `<results>/<notebook>/<kind>-<major>`, with what differs from the notebook as written after a `~`.
fn recording_folder(args: &RunArgs, notebook: &Notebook, server: &Server) -> PathBuf {
    let mut different: Vec<String> = notebook.profile.iter().cloned().collect();
    different.extend(notebook.overrides.iter().map(|(name, value)| format!("{name}={value}")));
    different.extend(args.only.iter().map(|id| format!("only-{id}")));
    let mut name = format!("{}-{}", server.kind(), server.major());
    if !different.is_empty() {
        name.push('~');
        name.push_str(&file_name(&different.join(",")));
    }
    args.places.results.join(&notebook.name).join(name)
}

/// A text as part of a file's name: harmless characters, and no longer than file systems allow.
fn file_name(text: &str) -> String {
    const LONGEST: usize = 100;
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "-_.,=".contains(c) { c } else { '-' };
    let name: String = text.chars().map(harmless).collect();
    if name.len() <= LONGEST && name == text {
        return name;
    }
    // Two texts must not share a folder because their odd characters were replaced.
    format!("{}-{}", name.chars().take(LONGEST).collect::<String>(), digest(text))
}

/// Enough of a SHA-256 to tell two texts apart.
fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// A name that no other run on the same server uses, short enough for PostgreSQL.
fn database_name(notebook: &str) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let stem: String = notebook.chars().map(harmless).take(40).collect();
    format!("planbook_{stem}_{:08x}", rand::random::<u32>())
}
