//! A session and the settings that are in force in it.

use std::collections::BTreeSet;

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

/// Does something in a session, and names the settings that it left changed, which would reach whatever comes later.
pub(super) fn watching<T>(
    session: &mut Session,
    act: impl FnOnce(&mut Session) -> Result<T, SessionError>,
) -> Result<(T, Vec<String>), SessionError> {
    let before = session.own_settings()?;
    let done = act(session)?;
    let after = session.own_settings()?;
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    Ok((done, changed.cloned().collect()))
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
