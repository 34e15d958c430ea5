//! `sql` and `analyze` steps.

use crate::notebook::{Step, Template};
use crate::recording::{Event, StatementEvent};
use crate::sql;

use super::Runner;
use super::error::StepError;

impl Runner<'_> {
    /// Renders the template, splits it, and sends each statement in its own transaction.
    pub(super) fn sql(&mut self, step: &Step, template: &Template) -> Result<(), StepError> {
        let rendered = self.render(step, template)?;
        let statements = sql::split_statements(&rendered)
            .map_err(|error| StepError::failed(self.blank(step, template, error.to_string())))?;
        for statement in statements {
            self.job.interrupt.check()?;
            self.send(step, &statement.text, Some((template, &rendered)))?;
        }
        Ok(())
    }

    pub(super) fn analyze(&mut self, step: &Step, tables: &[String]) -> Result<(), StepError> {
        for table in tables {
            self.send(step, &format!("ANALYZE {table}"), None)?;
        }
        Ok(())
    }

    fn send(
        &mut self,
        step: &Step,
        statement: &str,
        sent: Option<(&Template, &str)>,
    ) -> Result<(), StepError> {
        self.emit(Event::Sending { step: step.number, sql: statement.to_owned() })?;
        let execution = self.session.execute(statement).map_err(|error| self.failure(step, sent, error))?;
        self.emit(Event::Statement(StatementEvent {
            step: step.number,
            sql: statement.to_owned(),
            tag: execution.tag,
            duration_ms: execution.duration_ms,
            notices: execution.notices.iter().map(ToString::to_string).collect(),
        }))?;
        Ok(())
    }
}
