//! The condition of an arm, put in force before each of its turns and taken away after it.

use crate::session::{Session, SessionError};

use super::Settings;

/// Settings, and DDL in a transaction that is rolled back.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    /// Whether there is a transaction. If one arm of a measure needs one, all have one: it costs a little.
    pub(super) transaction: bool,
    /// Statements executed at its start.
    pub(super) within: Vec<String>,
    settings: Vec<(String, String)>,
}

impl Condition {
    pub(super) fn new(transaction: bool, within: Vec<String>, settings: &Settings) -> Self {
        Self { transaction, within, settings: settings.clone().into_iter().collect() }
    }

    /// Does something while it is in force.
    pub(super) fn hold<T>(
        &self,
        session: &mut Session,
        act: impl FnOnce(&mut Session) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        self.enter(session)?;
        let done = act(session);
        let left = self.leave(session);
        done.and_then(|done| left.map(|()| done))
    }

    /// Puts it in force; where that fails, nothing of it stays.
    pub(super) fn enter(&self, session: &mut Session) -> Result<(), SessionError> {
        let entered = self.try_enter(session);
        if entered.is_err() {
            // What failed says more than what this may add.
            let _ = self.leave(session);
        }
        entered
    }

    fn try_enter(&self, session: &mut Session) -> Result<(), SessionError> {
        if self.transaction {
            session.execute("BEGIN")?;
            for statement in &self.within {
                session.execute(statement)?;
            }
        }
        session.set(&self.settings)?;
        Ok(())
    }

    /// Takes it away.
    pub(super) fn leave(&self, session: &mut Session) -> Result<(), SessionError> {
        if session.in_transaction() {
            session.execute("ROLLBACK")?;
        }
        let names: Vec<&str> = self.settings.iter().map(|(name, _)| name.as_str()).collect();
        session.reset(&names)
    }
}
