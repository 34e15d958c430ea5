//! A session and the settings that are in force in it.

use std::collections::{BTreeMap, BTreeSet};

use crate::session::{Endpoint, Session, SessionError};

use super::Settings;

/// How long a statement waits for a lock, where neither the server nor the notebook sets a `lock_timeout`. Most often a
/// session of the notebook holds it, which goes on only once the statement is done: without a limit both wait for good.
const PATIENCE: &str = "5s";

/// A new session, which does not wait for a lock for good.
pub(super) fn connect(endpoint: &Endpoint, database: &str) -> Result<Session, SessionError> {
    let mut session = Session::connect(endpoint, database)?;
    limit_patience(&mut session)?;
    Ok(session)
}

fn limit_patience(session: &mut Session) -> Result<(), SessionError> {
    session.execute(&format!(
        "SELECT set_config('lock_timeout', '{PATIENCE}', false) WHERE current_setting('lock_timeout') = '0'"
    ))?;
    Ok(())
}

/// The settings that would reach whatever comes later in a session.
pub(super) struct Lasting(BTreeMap<String, String>);

impl Lasting {
    pub(super) fn of(session: &mut Session) -> Result<Self, SessionError> {
        session.lasting_settings().map(Self)
    }

    /// Names those that were changed since this was last asked.
    pub(super) fn changed(&mut self, session: &mut Session) -> Result<Vec<String>, SessionError> {
        let before = std::mem::replace(&mut self.0, session.lasting_settings()?);
        let names: BTreeSet<&String> = before.keys().chain(self.0.keys()).collect();
        let changed = names.into_iter().filter(|name| before.get(*name) != self.0.get(*name));
        Ok(changed.cloned().collect())
    }
}

/// What is wrong with that.
pub(super) fn settings_changed(names: &[String]) -> String {
    format!(
        "this changes {} for whatever comes later: write it as `settings` of the notebook or of an arm",
        names.join(", ")
    )
}

/// A session whose settings are known.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) session: Session,
    /// Settings in force now, as far as the run changed them.
    in_use: Settings,
}

impl Stage {
    pub(super) fn new(session: Session) -> Self {
        Self { session, in_use: Settings::new() }
    }

    /// Makes exactly these settings the session's, over what the server gives it.
    pub(super) fn use_settings(&mut self, settings: &Settings) -> Result<(), SessionError> {
        if *settings == self.in_use {
            return Ok(());
        }
        let gone: Vec<&String> = self.in_use.keys().filter(|name| !settings.contains_key(*name)).collect();
        self.session.reset(&gone)?;
        if gone.iter().any(|name| name.eq_ignore_ascii_case("lock_timeout")) {
            limit_patience(&mut self.session)?;
        }
        let wanted: Vec<(String, String)> = settings.clone().into_iter().collect();
        self.in_use.clone_from(settings);
        self.session.set(&wanted)?;
        Ok(())
    }
}
