//! Settings of a session, asked for and in force.

use std::collections::BTreeMap;

use super::{Session, SessionError};
use crate::sql::{quote_ident, quote_literal};

impl Session {
    /// Sets settings for the session and reads them back in a statement of their own. Returns them in the
    /// order asked for, each with the value in force as SHOW prints it (`65536kB` asked for is `64MB` in force).
    ///
    /// # Errors
    /// What the server reports of a name or a value; [`SessionError::Setting`] where a value did not stay, or
    /// where nothing on this server reads a setting with a dot in its name (PostgreSQL accepts any).
    pub fn set(&mut self, settings: &[(String, String)]) -> Result<Vec<(String, String)>, SessionError> {
        if settings.is_empty() {
            return Ok(Vec::new());
        }
        let call = |(name, value): &(String, String)| {
            format!("set_config({}, {}, false)", quote_literal(name), quote_literal(value))
        };
        let asked = self.first_row(&select(settings.iter().map(call))).map_err(|error| {
            let shown = settings.iter().map(|(name, value)| format!("SET {name} = {}", quote_literal(value)));
            as_statement(error, &shown.collect::<Vec<_>>().join("; "))
        })?;
        let read = |(name, _): &(String, String)| current(name);
        let in_force = self.first_row(&select(settings.iter().map(read)))?;
        let mut result = Vec::with_capacity(settings.len());
        for ((name, value), (asked, in_force)) in settings.iter().zip(asked.iter().zip(&in_force)) {
            let fail = |words: &str| SessionError::Setting {
                name: name.clone(),
                asked: value.clone(),
                in_force: words.to_owned(),
            };
            match in_force {
                Some(in_force) if Some(in_force) == asked.as_ref() => {
                    result.push((name.clone(), in_force.clone()));
                }
                Some(in_force) => return Err(fail(&format!("`{in_force}`"))),
                None => return Err(fail("read by nothing on this server: is its library loaded?")),
            }
        }
        Ok(result)
    }

    /// What the session has set for itself, save what Planbook sets to capture plans, and what every later session of
    /// its role and database is given.
    ///
    /// # Errors
    /// What the server reports.
    pub fn lasting_settings(&mut self) -> Result<BTreeMap<String, String>, SessionError> {
        self.query_pairs(
            "SELECT name, setting FROM pg_settings WHERE source = 'session' \
             AND name NOT LIKE 'auto_explain.%' AND name <> 'client_min_messages' \
             UNION ALL SELECT format('%s of %s', split_part(line, '=', 1), \
             coalesce(nullif(setrole, 0)::regrole::text, 'every role')), line FROM pg_db_role_setting, unnest(setconfig) AS line \
             WHERE setrole IN (0, current_user::regrole) \
             AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))",
        )
    }

    /// Gives settings the values back that the session started with.
    ///
    /// # Errors
    /// What the server reports.
    pub fn reset<S: AsRef<str>>(&mut self, names: &[S]) -> Result<(), SessionError> {
        for name in names {
            let parts: Vec<String> = name.as_ref().split('.').map(quote_ident).collect();
            self.ask(&format!("RESET {}", parts.join(".")))?;
        }
        Ok(())
    }

    pub(super) fn first_row(&mut self, sql: &str) -> Result<Vec<Option<String>>, SessionError> {
        Ok(self.ask(sql)?.rows.into_iter().next().unwrap_or_default())
    }
}

fn select(items: impl Iterator<Item = String>) -> String {
    format!("SELECT {}", items.collect::<Vec<_>>().join(", "))
}

/// Reads a setting; NULL where its name has a dot and no library defines it.
fn current(name: &str) -> String {
    let name = quote_literal(name);
    if name.contains('.') {
        format!(
            "(SELECT current_setting({name}) WHERE EXISTS \
             (SELECT FROM pg_settings WHERE lower(name) = lower({name})))"
        )
    } else {
        format!("current_setting({name})")
    }
}

/// The error as one of the statement that a person would have written.
fn as_statement(error: SessionError, statement: &str) -> SessionError {
    match error {
        SessionError::Sql(mut error) => {
            error.position = None;
            statement.clone_into(&mut error.statement);
            SessionError::Sql(error)
        }
        other => other,
    }
}
