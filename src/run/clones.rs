//! Databases that arms have to themselves: cloned, prepared by `setup`, dropped at the end of their step or point.

use std::time::Instant;

use crate::dataset::{self, DatasetError};
use crate::notebook::{Arm, SetupKind, SetupStep, Step};
use crate::recording::{ArmKey, Event};
use crate::server::ServerError;
use crate::session::Session;

use super::Runner;
use super::error::StepError;
use super::stage::{self, Stage};

/// Where an arm runs: in the notebook's own database, or in a clone of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Main,
    Clone(usize),
}

impl Place {
    /// Its number among the sessions of a step, where the main one comes first.
    pub(super) fn index(self) -> usize {
        match self {
            Self::Main => 0,
            Self::Clone(clone) => clone + 1,
        }
    }
}

impl Runner<'_> {
    /// Gives every arm that needs one a clone of the database, and prepares it. The clones stay until
    /// [`Runner::drop_clones`], which must be called however this ends.
    pub(super) fn stage(&mut self, step: &Step, arms: &[(&Arm, ArmKey)]) -> Result<Vec<Place>, StepError> {
        let wanted: Vec<&ArmKey> = arms.iter().filter(|(arm, _)| arm.fresh).map(|(_, key)| key).collect();
        if !wanted.is_empty() {
            self.clone_database(step, &wanted)?;
        }
        let mut places = Vec::new();
        let mut next = 0;
        for (arm, key) in arms {
            if !arm.fresh {
                places.push(Place::Main);
                continue;
            }
            self.set_up(step, &arm.setup, key, Place::Clone(next)).map_err(|error| error.for_arm(key))?;
            places.push(Place::Clone(next));
            next += 1;
        }
        if next > 0 {
            // What the setups left dirty would be written while the arms are timed.
            self.main.session.execute("CHECKPOINT").map_err(|error| self.failure(step, None, error))?;
        }
        Ok(places)
    }

    /// The session of a place.
    pub(super) fn at(&mut self, place: Place) -> &mut Session {
        match place {
            Place::Main => &mut self.main.session,
            Place::Clone(clone) => &mut self.clones[clone].session,
        }
    }

    /// A name that no other database of this run bears.
    pub(super) fn database_name(&mut self) -> String {
        self.named += 1;
        format!("planbook_clone_{}_{}", std::process::id(), self.named)
    }

    /// Clones the notebook's database, once for each arm. A database with a session in it cannot be cloned, so the
    /// notebook's own session waits in another one meanwhile.
    fn clone_database(&mut self, step: &Step, keys: &[&ArmKey]) -> Result<(), StepError> {
        self.move_main(step, self.job.server.database())?;
        let made = keys.iter().try_for_each(|key| {
            let started = Instant::now();
            let name = self.clone_as(step, &self.database.clone())?;
            let duration_ms = started.elapsed().as_secs_f64() * 1e3;
            let session = self.connect_to(step, &name)?;
            self.clones.push(Stage::new(session));
            Ok(self.emit(Event::Clone { step: step.number, key: (*key).clone(), duration_ms })?)
        });
        let back = self.move_main(step, &self.database.clone());
        made.and(back)?;
        self.use_base(step)
    }

    /// Makes a clone of a database that nobody is connected to, and gives its name. It is dropped at the end of the
    /// step at the latest.
    pub(super) fn clone_as(&mut self, step: &Step, template: &str) -> Result<String, StepError> {
        let name = self.make_clone(step, template)?;
        self.databases.push(name.clone());
        Ok(name)
    }

    /// Makes a clone of a database that nobody is connected to. Whoever calls drops it.
    pub(super) fn make_clone(&mut self, step: &Step, template: &str) -> Result<String, StepError> {
        self.job.interrupt.check()?;
        let name = self.database_name();
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
        self.emit(Event::Sending { step: step.number, sql })?;
        let server = self.job.server;
        server.drop_database(&name).map_err(|error| self.server_failure(step, error))?;
        dataset::clone_database(server, template, &name).map_err(|error| match error {
            DatasetError::Server(error) => self.server_failure(step, error),
            other => StepError::failed(self.failure_at(step, other.to_string())),
        })?;
        Ok(name)
    }

    pub(super) fn connect_to(&self, step: &Step, database: &str) -> Result<Session, StepError> {
        let session = stage::connect(self.job.server.endpoint(), database);
        let session = session.map_err(|error| self.failure(step, None, error))?;
        self.job.interrupt.watch(session.canceller());
        Ok(session)
    }

    pub(super) fn move_main(&mut self, step: &Step, database: &str) -> Result<(), StepError> {
        // The new session comes first, so that there always is one.
        self.main = Stage::new(self.connect_to(step, database)?);
        Ok(())
    }

    /// Runs a setup in the database that it prepares.
    pub(super) fn set_up(
        &mut self,
        step: &Step,
        setup: &[SetupStep],
        key: &ArmKey,
        place: Place,
    ) -> Result<(), StepError> {
        let base = self.base(step)?;
        let stage = match place {
            Place::Main => &mut self.main,
            Place::Clone(clone) => &mut self.clones[clone],
        };
        stage.use_settings(&base).map_err(|error| self.failure(step, None, error))?;
        for SetupStep { at, kind } in setup {
            self.job.interrupt.check()?;
            // A failure is one of the setup's line.
            let here = Step { at: *at, ..step.clone() };
            match kind {
                SetupKind::Sql(template) => self.sql(&here, template, place, Some(key))?,
                SetupKind::Analyze(tables) => self.analyze(&here, tables, place, Some(key))?,
                SetupKind::Vacuum(vacuum) => self.vacuum(&here, vacuum, place, Some(key))?,
            }
        }
        Ok(())
    }

    /// Drops the clones of the step.
    pub(super) fn drop_clones(&mut self, step: &Step) -> Result<(), StepError> {
        self.clones.clear();
        let mut dropped = Ok(());
        for name in std::mem::take(&mut self.databases) {
            let gone = self.drop_clone(step, &name);
            dropped = dropped.and(gone);
        }
        dropped
    }

    pub(super) fn drop_clone(&mut self, step: &Step, name: &str) -> Result<(), StepError> {
        self.job.server.drop_database(name).map_err(|error| self.server_failure(step, error))
    }

    /// Drops the clone that was made last.
    pub(super) fn drop_last_clone(&mut self, step: &Step) -> Result<(), StepError> {
        match self.databases.pop() {
            Some(name) => self.drop_clone(step, &name),
            None => Ok(()),
        }
    }

    fn server_failure(&self, step: &Step, error: ServerError) -> StepError {
        match error {
            ServerError::Session(error) => self.failure(step, None, error),
            other => StepError::failed(self.failure_at(step, other.to_string())),
        }
    }
}
