//! Databases of Planbook's own: made, marked with a comment, and dropped only where the mark stands.

use std::collections::HashMap;

use super::docker::labels::{self, Owner};
use super::{Server, ServerError};
use crate::session::Session;
use crate::sql;

/// How the comment of a database of Planbook's starts. What follows says which planbook made it.
const MARK: &str = "made by planbook ";

/// Under this key stands which dataset a database holds, in words for people.
pub const HOLDS: &str = "planbook.holds";

/// What marks a database, by key.
pub type Marks = HashMap<String, String>;

impl Server {
    /// Makes a database, empty (`template0`) or as a copy of a template, and marks it as Planbook's.
    ///
    /// # Errors
    /// What the server says.
    pub fn create_database(&self, name: &str, template: Option<&str>) -> Result<(), ServerError> {
        let mut session = Session::connect(self.endpoint(), self.database())?;
        // A copy of the files keeps visibility map, hint bits, statistics and OIDs. Before 15 there is no other way,
        // and no word for it.
        let strategy = if session.server_version_num() >= 150_000 { " STRATEGY FILE_COPY" } else { "" };
        let (database, template) =
            (sql::quote_ident(name), sql::quote_ident(template.unwrap_or("template0")));
        session.execute(&format!("CREATE DATABASE {database} TEMPLATE {template}{strategy}"))?;
        self.mark(&mut session, name, &[])
    }

    /// Adds something to what marks a database, in one stroke, in place of what was there.
    ///
    /// # Errors
    /// What the server says.
    pub fn note_on_database(&self, name: &str, notes: &[(&str, &str)]) -> Result<(), ServerError> {
        let mut session = Session::connect(self.endpoint(), self.database())?;
        self.mark(&mut session, name, notes)
    }

    fn mark(&self, session: &mut Session, name: &str, more: &[(&str, &str)]) -> Result<(), ServerError> {
        let mut marks = self.marks();
        marks.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        let mark = format!("{MARK}{}", serde_json::json!(marks));
        session.execute(&format!(
            "COMMENT ON DATABASE {} IS {}",
            sql::quote_ident(name),
            sql::quote_literal(&mark)
        ))?;
        Ok(())
    }

    /// Every database that Planbook made on this server, with what marks it, by name.
    ///
    /// # Errors
    /// What the server says.
    pub fn databases(&self) -> Result<Vec<(String, Marks)>, ServerError> {
        marked(&mut Session::connect(self.endpoint(), self.database())?)
    }

    /// Which datasets it holds, and how many bytes its databases and its write-ahead log take.
    pub(super) fn holdings(&self) -> Result<(Vec<String>, Option<u64>), ServerError> {
        let mut session = Session::connect(self.endpoint(), self.database())?;
        let mut datasets: Vec<String> =
            marked(&mut session)?.into_iter().filter_map(|(_, mut marks)| marks.remove(HOLDS)).collect();
        datasets.sort();
        let size = "SELECT (SELECT sum(pg_database_size(oid)) FROM pg_database) + \
            (SELECT sum(size) FROM pg_ls_waldir())";
        let bytes = session.query_rows(size)?.into_iter().flatten().flatten().next();
        Ok((datasets, bytes.and_then(|bytes| bytes.parse().ok())))
    }

    /// Drops a database with the sessions in it, where it bears the mark; one that is not there is no error.
    ///
    /// # Errors
    /// [`ServerError::NotOurs`] where the mark is missing; what the server says.
    pub fn drop_database(&self, name: &str) -> Result<(), ServerError> {
        let mut session = Session::connect(self.endpoint(), self.database())?;
        let query = format!(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = {}",
            sql::quote_literal(name)
        );
        let Some(comment) = session.query_rows(&query)?.into_iter().flatten().next() else { return Ok(()) };
        if !comment.is_some_and(|comment| comment.starts_with(MARK)) {
            return Err(ServerError::NotOurs { name: name.to_owned() });
        }
        session.execute(&format!("DROP DATABASE {} WITH (FORCE)", sql::quote_ident(name)))?;
        Ok(())
    }
}

/// Drops the marked databases whose planbook was killed; their names.
pub(super) fn drop_leftovers(session: &mut Session) -> Result<Vec<String>, ServerError> {
    drop_where(session, |marks| labels::owner(marks) == Owner::Dead)
}

/// Drops every database that bears the mark of this planbook's server.
pub(super) fn drop_of(session: &mut Session, id: &str) -> Result<Vec<String>, ServerError> {
    drop_where(session, |marks| marks.get(labels::SERVER).is_some_and(|marked| marked == id))
}

fn drop_where(session: &mut Session, chosen: impl Fn(&Marks) -> bool) -> Result<Vec<String>, ServerError> {
    let mut dropped = Vec::new();
    for (name, marks) in marked(session)? {
        if chosen(&marks) {
            session.execute(&format!("DROP DATABASE {} WITH (FORCE)", sql::quote_ident(&name)))?;
            dropped.push(name);
        }
    }
    Ok(dropped)
}

/// The marked databases by name. A mark that is damaged says nothing.
fn marked(session: &mut Session) -> Result<Vec<(String, Marks)>, ServerError> {
    let query = format!(
        "SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database \
         WHERE shobj_description(oid, 'pg_database') LIKE {} ORDER BY 1",
        sql::quote_literal(&format!("{MARK}%"))
    );
    let mut found = Vec::new();
    for row in session.query_rows(&query)? {
        let [Some(name), Some(comment)] = &row[..] else { continue };
        found.push((name.clone(), serde_json::from_str(&comment[MARK.len()..]).unwrap_or_default()));
    }
    Ok(found)
}
