//! A session and the settings that are in force in it.

use crate::session::{Session, SessionError};

use super::Settings;

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
        let wanted: Vec<(String, String)> = settings.clone().into_iter().collect();
        self.in_use.clone_from(settings);
        self.session.set(&wanted)?;
        Ok(())
    }
}
