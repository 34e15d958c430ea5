//! Databases of Planbook's own: made, marked with a comment, and dropped only where the mark stands.

use super::ServerError;
use crate::session::{Session, SessionError};

/// How the comment of a database of Planbook's starts.
const MARK: &str = "made by planbook";

/// Makes a database, empty (`template0`) or as a copy of a template, and marks it.
///
/// # Errors
/// What the server says.
pub fn create_database(
    session: &mut Session,
    name: &str,
    template: Option<&str>,
) -> Result<(), SessionError> {
    let name = quote(name);
    // A copy of the files keeps visibility map, hint bits, statistics and OIDs. Before 15 there is no other way, and no
    // word for it.
    let strategy = if session.server_version_num() >= 150_000 { " STRATEGY FILE_COPY" } else { "" };
    let template = quote(template.unwrap_or("template0"));
    session.execute(&format!("CREATE DATABASE {name} TEMPLATE {template}{strategy}"))?;
    session.execute(&format!("COMMENT ON DATABASE {name} IS '{MARK}'"))?;
    Ok(())
}

/// Drops a database with the sessions in it, where it bears the mark; one that is not there is no error.
///
/// # Errors
/// [`ServerError::NotOurs`] where the mark is missing; what the server says.
pub fn drop_database(session: &mut Session, name: &str) -> Result<(), ServerError> {
    let literal = name.replace('\'', "''");
    let found = session.query_rows(&format!(
        "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = '{literal}'"
    ))?;
    let Some(comment) = found.into_iter().flatten().next() else { return Ok(()) };
    if !comment.is_some_and(|comment| comment.starts_with(MARK)) {
        return Err(ServerError::NotOurs { name: name.to_owned() });
    }
    session.execute(&format!("DROP DATABASE {} WITH (FORCE)", quote(name)))?;
    Ok(())
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
