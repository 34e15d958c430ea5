//! `planbook pin`: builds a dataset and keeps what its ANALYZE found.

use std::path::PathBuf;

use crate::cli::PinArgs;
use crate::dataset::{self, DatasetError, Pin, Watched};
use crate::notebook::{self, Dataset, Statistics};
use crate::project::Project;
use crate::run::Interrupt;
use crate::server::{self, Needs, Server, Spec};
use crate::session::Session;

use super::{CommandError, signals, talk};

/// Writes the pin beside the dataset's file, and says how to use it.
pub(super) fn run(args: &PinArgs) -> Result<u8, CommandError> {
    let spec: Spec = args.server.parse()?;
    let mut dataset = notebook::load_dataset(&find(args)?, &args.set)?;
    let pinned = dataset.statistics == Statistics::Pinned;
    // What is to be pinned is what ANALYZE finds, not an earlier pin.
    dataset.statistics = Statistics::Sampled;
    let interrupt = signals::listen()?;
    let project = Project::current()?;
    let needs = Needs {
        service: project.server.service.clone(),
        compose: project.server.compose.clone(),
        cache: !args.no_cache,
        stop: interrupt.shared(),
        ..Needs::default()
    };
    let server = server::start(&spec, &needs, &mut |line| talk::say(format_args!("  {line}")))?;
    let written = pin(&server, &dataset, &interrupt);
    server.stop()?;
    let (path, pin) = written?;
    talk::say(format_args!(
        "  pinned the statistics of {} tables and indexes in {}",
        pin.relations(),
        path.display()
    ));
    if !pinned {
        talk::say(format_args!("  hint: add `statistics: pinned` to {} to use them", dataset.path.display()));
    }
    Ok(0)
}

fn find(args: &PinArgs) -> Result<PathBuf, CommandError> {
    let as_path = PathBuf::from(&args.dataset);
    let folder = args.places.experiments.join("datasets");
    let named = folder.join(format!("{}.yaml", args.dataset));
    [as_path, named].into_iter().find(|path| path.is_file()).ok_or_else(|| {
        CommandError::usage(
            format!("there is no dataset {}", args.dataset),
            format!("name its file, or a dataset of {}", folder.display()),
        )
    })
}

fn pin(server: &Server, dataset: &Dataset, interrupt: &Interrupt) -> Result<(PathBuf, Pin), CommandError> {
    let database = format!("planbook_pin_{:08x}", rand::random::<u32>());
    let provided = dataset::provide(server, dataset, &database, &mut |what| {
        match what {
            Watched::Session(canceller) => interrupt.watch(canceller),
            Watched::Sending(sql) => talk::say(format_args!("  dataset · {}", talk::first_line(&sql))),
            Watched::Note(text) => talk::say(format_args!("  note     {text}")),
            _ => {}
        }
        !interrupt.is_requested()
    });
    let taken = provided.and_then(|_| {
        let mut session = Session::connect(server.endpoint(), &database)?;
        Pin::take(&mut session, dataset)
    });
    server.drop_database(&database)?;
    let pin = taken.map_err(|error| failed(error, dataset))?;
    let path = dataset::write_pin(&pin, dataset).map_err(|error| failed(error, dataset))?;
    Ok((path, pin))
}

fn failed(error: DatasetError, dataset: &Dataset) -> CommandError {
    match error {
        DatasetError::Server(error) => error.into(),
        DatasetError::Session { source, at } if !source.is_environment() => CommandError::usage(
            format!("{}, line {}: {source}", dataset.path.display(), at.line),
            "correct the dataset and pin it again",
        ),
        DatasetError::Session { source, .. } => source.into(),
        DatasetError::Stopped => CommandError::interrupted(),
        other => CommandError::usage(other, "correct the dataset and pin it again"),
    }
}
