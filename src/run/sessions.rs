//! `session` steps: connections by name, which hold a snapshot or a lock while the steps between go on.

use crate::notebook::{Ending, SessionStep, Step, Template};
use crate::recording::StatementEvent;
use crate::session::Session;

use super::Runner;
use super::error::StepError;

impl Runner<'_> {
    pub(super) fn session(&mut self, step: &Step, asked: &SessionStep) -> Result<(), StepError> {
        let mut session = match self.others.remove(&asked.name) {
            Some(session) => session,
            None => self.open_session(step)?,
        };
        self.act(step, asked, &mut session)?;
        if asked.end.is_none() {
            self.others.insert(asked.name.clone(), session);
        }
        Ok(())
    }

    fn open_session(&self, step: &Step) -> Result<Session, StepError> {
        let mut session = self.connect_to(step, self.job.database)?;
        let settings: Vec<(String, String)> = self.base(step)?.into_iter().collect();
        session.set(&settings).map_err(|error| self.failure(step, None, error))?;
        Ok(session)
    }

    fn act(&mut self, step: &Step, asked: &SessionStep, session: &mut Session) -> Result<(), StepError> {
        let mut execute = |this: &mut Self, sql: &str, sent: Option<(&Template, &str)>| {
            let about = StatementEvent { session: Some(asked.name.clone()), ..StatementEvent::default() };
            this.send(step, sql, sent, about, |_, sql| session.execute(sql))
        };
        if let Some(level) = asked.begin {
            execute(self, &format!("BEGIN ISOLATION LEVEL {}", level.name().to_uppercase()), None)?;
        }
        if let Some(template) = &asked.sql {
            let (rendered, statements) = self.statements(step, template)?;
            for statement in statements {
                self.job.interrupt.check()?;
                execute(self, &statement, Some((template, rendered.as_str())))?;
            }
        }
        match asked.end {
            Some(Ending::Commit) => execute(self, "COMMIT", None),
            Some(Ending::Rollback) => execute(self, "ROLLBACK", None),
            None => Ok(()),
        }
    }

    /// What a reader calls the server process, where it is one of the notebook's sessions.
    pub(super) fn session_of(&self, pid: i32) -> Option<&str> {
        let mut others = self.others.iter();
        others.find(|(_, session)| session.backend_pid() == pid).map(|(name, _)| name.as_str())
    }
}
