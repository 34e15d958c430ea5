//! `sql` and `analyze` steps, in the notebook's own database or in an arm's clone.

use crate::notebook::{Step, Template};
use crate::recording::{ArmKey, Event, StatementEvent};
use crate::session::{Execution, SessionError};
use crate::sql;

use super::Runner;
use super::clones::Place;
use super::error::StepError;
use super::stage::{Lasting, settings_changed};

impl Runner<'_> {
    /// Renders the template, splits it, and sends each statement in its own transaction.
    pub(super) fn sql(
        &mut self,
        step: &Step,
        template: &Template,
        place: Place,
        arm: Option<&ArmKey>,
    ) -> Result<(), StepError> {
        let (rendered, statements) = self.statements(step, template)?;
        let mut lasting = Lasting::of(self.at(place)).map_err(|error| self.failure(step, None, error))?;
        for statement in statements {
            self.job.interrupt.check()?;
            let about = StatementEvent { arm: arm.cloned(), ..StatementEvent::default() };
            let sent = Some((template, rendered.as_str()));
            self.send(step, &statement, sent, about, |this, sql| this.at(place).execute(sql))?;
            let changed = lasting.changed(self.at(place));
            let changed = changed.map_err(|error| self.failure(step, sent, error))?;
            if !changed.is_empty() {
                return Err(StepError::failed(self.blank(step, template, settings_changed(&changed))));
            }
        }
        Ok(())
    }

    /// The statements of a template, and the text that they were found in.
    pub(super) fn statements(
        &self,
        step: &Step,
        template: &Template,
    ) -> Result<(String, Vec<String>), StepError> {
        let rendered = self.render(step, template)?;
        let statements = sql::split_statements(&rendered)
            .map_err(|error| StepError::failed(self.blank(step, template, error.to_string())))?;
        Ok((rendered, statements.into_iter().map(|statement| statement.text).collect()))
    }

    pub(super) fn analyze(
        &mut self,
        step: &Step,
        tables: &[String],
        place: Place,
        arm: Option<&ArmKey>,
    ) -> Result<(), StepError> {
        for table in tables {
            let about = StatementEvent { arm: arm.cloned(), ..StatementEvent::default() };
            let statement = format!("ANALYZE {table}");
            self.send(step, &statement, None, about, |this, sql| this.at(place).execute(sql))?;
        }
        Ok(())
    }

    /// Sends a statement by `execute`, and notes what came of it beside what `about` says.
    pub(super) fn send(
        &mut self,
        step: &Step,
        statement: &str,
        sent: Option<(&Template, &str)>,
        about: StatementEvent,
        execute: impl FnOnce(&mut Self, &str) -> Result<Execution, SessionError>,
    ) -> Result<(), StepError> {
        self.emit(Event::Sending { step: step.number, sql: statement.to_owned() })?;
        let execution = execute(self, statement).map_err(|error| self.failure(step, sent, error))?;
        self.emit(Event::Statement(StatementEvent {
            step: step.number,
            sql: statement.to_owned(),
            tag: execution.tag,
            duration_ms: execution.duration_ms,
            notices: execution.notices.iter().map(ToString::to_string).collect(),
            ..about
        }))?;
        Ok(())
    }
}
