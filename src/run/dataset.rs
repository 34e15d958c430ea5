//! The run's database: a clone of the dataset's template, or empty.

use crate::dataset::{self, Built, DatasetError, Progress, Watched};
use crate::notebook::{Dataset, Part, Step};
use crate::recording::{ArmKey, BuiltEvent, Event, Failure, LoadingEvent, StatementEvent};
use crate::server::ServerError;
use crate::session::SessionError;
use crate::template::{self, Context};

use super::error::{self, StepError};
use super::stage::{self, Stage};
use super::{RunError, Runner};

impl Runner<'_> {
    /// Makes the run's database, empty, where there is no dataset.
    pub(super) fn empty_database(&mut self) -> Result<(), RunError> {
        self.job.server.create_database(self.job.database, None)?;
        Ok(self.connect_to_own()?)
    }

    /// Prepares the template and clones it into the run's database.
    pub(super) fn dataset(&mut self) -> Result<(), StepError> {
        let Some(dataset) = &self.job.notebook.dataset else { return Ok(()) };
        let Built { reused, record, .. } = self.provide(dataset, self.job.database, &event)?;
        self.emit(Event::Built(Box::new(BuiltEvent { reused, record })))?;
        self.connect_to_own().map_err(RunError::from)?;
        self.conditions()
    }

    /// The same for a point of a sweep that has a dataset of its own. What built it is told as what prepared the point.
    pub(super) fn dataset_of_point(
        &mut self,
        step: &Step,
        dataset: &Dataset,
        key: &ArmKey,
        to: &str,
    ) -> Result<(), StepError> {
        let number = step.number;
        let told = |what| match event(what) {
            Noted::Event(Event::Sending { sql, .. }) => Noted::Event(Event::Sending { step: number, sql }),
            Noted::Event(Event::Note { text, .. }) => Noted::Event(Event::Note { step: number, text }),
            Noted::Event(Event::Dataset(statement)) => {
                let arm = Some(key.clone());
                Noted::Event(Event::Statement(StatementEvent { step: number, arm, ..statement }))
            }
            Noted::Event(Event::Reused { .. }) => Noted::Nothing,
            other => other,
        };
        self.provide(dataset, to, &told).map(drop).map_err(|error| error.in_step(number).for_arm(key))
    }

    fn provide(
        &mut self,
        dataset: &Dataset,
        to: &str,
        told: &dyn Fn(Watched) -> Noted,
    ) -> Result<Built, StepError> {
        let server = self.job.server;
        let observer = &mut *self.observer;
        let interrupt = self.job.interrupt;
        let mut fault = None;
        let provided = dataset::provide(server, dataset, to, &mut |what| {
            let noted = match told(what) {
                Noted::Session(canceller) => {
                    interrupt.watch(canceller);
                    Ok(())
                }
                Noted::Event(event) => observer.observe(&event).map_err(RunError::from),
                Noted::Nothing => Ok(()),
            };
            fault = noted.and_then(|()| interrupt.check()).err();
            fault.is_none()
        });
        match (provided, fault) {
            (_, Some(fault)) => Err(StepError::Run(fault)),
            (Err(error), None) => Err(failure(error, dataset)),
            (Ok(built), None) => Ok(built),
        }
    }

    /// Connects to the run's own database.
    fn connect_to_own(&mut self) -> Result<(), SessionError> {
        let session = stage::connect(self.job.server.endpoint(), self.job.database)?;
        self.job.interrupt.watch(session.canceller());
        self.main = Stage::new(session);
        Ok(())
    }
}

/// What a build reports, for the interrupt or for the observers.
enum Noted {
    Session(crate::session::Canceller),
    Event(Event),
    Nothing,
}

fn event(what: Watched) -> Noted {
    Noted::Event(match what {
        Watched::Session(canceller) => return Noted::Session(canceller),
        Watched::Sending(sql) => Event::Sending { step: 0, sql },
        Watched::Statement { sql, tag, duration_ms } => {
            Event::Dataset(StatementEvent { sql, tag, duration_ms, ..StatementEvent::default() })
        }
        Watched::Verified(sql) => Event::Verified { sql },
        Watched::Note(text) => Event::Note { step: 0, text },
        Watched::Reused(built) => Event::Reused { built },
        Watched::Progress(Progress { done, of, unit, left_s }) => {
            Event::Loading(LoadingEvent { done, of, unit, left_s })
        }
    })
}

/// What went wrong, at its place in the dataset's file.
fn failure(error: DatasetError, dataset: &Dataset) -> StepError {
    let file = &dataset.source.name;
    let blank = |message: String, line: usize| StepError::failed(Failure::new(0, message, file, line));
    match error {
        DatasetError::Session { source, at } => {
            // Rendered again, which gives the same text: the error stands somewhere in it.
            let context = Context::new().with(&dataset.params);
            let parts = dataset.parts.iter().filter_map(|part| match part {
                Part::Sql(template) => Some(template),
                _ => None,
            });
            let template = parts.chain(&dataset.verify).find(|template| template.at == at);
            let rendered = template.and_then(|template| template::render_sql(&template.text, &context).ok());
            let sent = template.zip(rendered.as_deref()).map(|(template, sql)| (template.text.as_str(), sql));
            error::of_session(0, file, at.line, sent, source)
        }
        DatasetError::Server(ServerError::Session(source)) => error::of_session(0, file, 1, None, source),
        DatasetError::Template { ref source, at } => {
            blank(error.to_string(), at.line + source.line.saturating_sub(1))
        }
        DatasetError::Split { at, .. }
        | DatasetError::Unverified { at, .. }
        | DatasetError::File { at, .. } => blank(error.to_string(), at.line),
        DatasetError::Server(_) | DatasetError::InUse { .. } | DatasetError::Altered { .. } => {
            blank(error.to_string(), 1)
        }
        DatasetError::Pin { .. } => {
            blank(format!("{error}: take them anew with `{}`", dataset.pin_command()), 1)
        }
        DatasetError::Stopped => StepError::Run(RunError::Interrupted),
    }
}
