//! The run's database: a clone of the dataset's template, or empty.

use crate::dataset::{self, DatasetError, Progress, Watched};
use crate::notebook::{Dataset, Part};
use crate::recording::{BuiltEvent, Event, Failure, LoadingEvent, StatementEvent};
use crate::server::ServerError;
use crate::session::{Session, SessionError};
use crate::template::{self, Context};

use super::error::{self, StepError};
use super::stage::Stage;
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
        let server = self.job.server;
        let observer = &mut *self.observer;
        let interrupt = self.job.interrupt;
        let mut fault = None;
        let provided = dataset::provide(server, dataset, self.job.database, &mut |what| {
            let noted = match event(what) {
                Noted::Session(canceller) => {
                    interrupt.watch(canceller);
                    Ok(())
                }
                Noted::Event(event) => observer.observe(&event).map_err(RunError::from),
            };
            fault = noted.and_then(|()| interrupt.check()).err();
            fault.is_none()
        });
        match (provided, fault) {
            (_, Some(fault)) => Err(StepError::Run(fault)),
            (Err(error), None) => Err(failure(error, dataset)),
            (Ok(built), None) => {
                let (reused, record) = (built.reused, built.record);
                self.emit(Event::Built(Box::new(BuiltEvent { reused, record })))?;
                self.connect_to_own().map_err(RunError::from)?;
                self.conditions()
            }
        }
    }

    /// Connects to the run's own database.
    fn connect_to_own(&mut self) -> Result<(), SessionError> {
        let session = Session::connect(self.job.server.endpoint(), self.job.database)?;
        self.job.interrupt.watch(session.canceller());
        self.main = Stage::new(session);
        Ok(())
    }
}

/// What a build reports, for the interrupt or for the observers.
enum Noted {
    Session(crate::session::Canceller),
    Event(Event),
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
