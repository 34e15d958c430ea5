//! Runs what defines the dataset, in the database that becomes the template, and brings it to rest.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::AtomicU64;

use crate::notebook::{CopyFrom, Place};
use crate::session::Session;
use crate::sql;
use crate::template::Scalar;

use super::calm::calm;
use super::definition::{Definition, Step};
use super::record::TableRecord;
use super::work::Work;
use super::{DatasetError, Watched};

/// Runs every statement, then brings the database to rest and asks the questions under `verify`.
pub(super) fn build(
    work: &mut Work<'_, '_>,
    definition: &Definition<'_>,
) -> Result<Vec<TableRecord>, DatasetError> {
    for step in &definition.steps {
        match step {
            Step::Statement(sql, at) => work.send(sql, *at)?,
            Step::Copy(from) => copy(work, from)?,
        }
    }
    let tables = settle(work, definition)?;
    // What came before has emptied the session's search_path.
    work.begin_again()?;
    for (sql, at) in &definition.verify {
        verify(work, sql, *at)?;
    }
    Ok(tables)
}

fn copy(work: &mut Work<'_, '_>, from: &CopyFrom) -> Result<(), DatasetError> {
    let at = from.from.at;
    let unreadable = |source: std::io::Error| DatasetError::File { path: from.from.path.clone(), source, at };
    let mut file = File::open(&from.from.path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let sql = format!("COPY {} FROM STDIN WITH ({})", from.into, from.options);
    let sent = AtomicU64::new(0);
    work.send_as(&sql, at, Some((&sent, length)), &mut |session| session.copy_in(&sql, &mut file, &sent))
}

fn verify(work: &mut Work<'_, '_>, sql: &str, at: Place) -> Result<(), DatasetError> {
    let got = work.session.scalar(sql).map_err(DatasetError::at(at))?;
    if got != Some(Scalar::Boolean(true)) {
        let got = got.map_or_else(|| "NULL".to_owned(), |value| value.to_string());
        return Err(DatasetError::Unverified { sql: sql.to_owned(), got, at });
    }
    work.tell(Watched::Verified(sql.to_owned()))
}

/// Everything that holds rows: tables and materialised views, by name.
const TABLES: &str = "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c \
    JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1";

/// The same state for whoever comes next: statistics, hint bits set by a scan in a later transaction, no page known to
/// be visible to all, and nothing left to write.
fn settle(work: &mut Work<'_, '_>, definition: &Definition<'_>) -> Result<Vec<TableRecord>, DatasetError> {
    let at = Place::default();
    work.begin_again()?;
    calm(&mut work.session)?;
    // A commit that is not yet on disk sets no hint bits.
    work.session.execute("SET synchronous_commit = on")?;
    work.send("ANALYZE", at)?;
    // It has counted dead rows, which autovacuum would come for.
    calm(&mut work.session)?;
    if let Some(pin) = &definition.pin {
        pin.restore(&mut work.session)?;
    }
    let names = work.session.query_rows(TABLES)?;
    let mut tables = Vec::new();
    for name in names.into_iter().flatten().flatten() {
        work.tell(Watched::Sending(format!("checksum of {name}")))?;
        tables.push(scan(&mut work.session, &name)?);
    }
    hide_pages(work)?;
    checkpoint(work, at)?;
    Ok(tables)
}

/// A type that cannot be hashed as it is.
const UNDEFINED_FUNCTION: &str = "42883";

/// Reads every row once, which sets the hint bits, and adds up what the rows hash to.
fn scan(session: &mut Session, table: &str) -> Result<TableRecord, DatasetError> {
    let sum = |hash: &str| format!("SELECT count(*), coalesce(sum({hash}), 0)::text FROM ONLY {table} AS t");
    // The text of a row has a hash whatever its types are, and takes several times as long.
    let of_text = sum("hashtextextended(t::text, 0)");
    let rows = if session.server_version_num() < 140_000 {
        session.query_rows(&of_text)
    } else {
        match session.query_rows(&sum("hash_record_extended(t, 0)")) {
            Err(error) if error.sql().is_some_and(|error| error.sqlstate == UNDEFINED_FUNCTION) => {
                session.query_rows(&of_text)
            }
            other => other,
        }
    }?;
    let mut cells = rows.into_iter().flatten().flatten();
    let rows = cells.next().and_then(|rows| rows.parse().ok()).unwrap_or_default();
    Ok(TableRecord { name: table.to_owned(), rows, checksum: cells.next().unwrap_or_default() })
}

/// Tables, and the TOAST tables behind them, that have a visibility map at all.
const MAPPED: &str = "SELECT oid::regclass::text FROM pg_class \
    WHERE relkind IN ('r', 'm', 't') AND oid >= 16384 AND pg_relation_size(oid, 'vm') > 0 ORDER BY 1";

/// Sees to it that no page is marked as visible to all: what VACUUM does is for a notebook to show.
fn hide_pages(work: &mut Work<'_, '_>) -> Result<(), DatasetError> {
    let mapped: Vec<String> = work.session.query_rows(MAPPED)?.into_iter().flatten().flatten().collect();
    if mapped.is_empty() {
        return Ok(());
    }
    let available =
        "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_visibility' AND installed_version IS NULL";
    let brought = !work.session.query_rows(available)?.is_empty();
    if brought {
        work.session.execute("CREATE EXTENSION pg_visibility")?;
    }
    let mut marked = BTreeMap::new();
    for table in mapped {
        if let Some(pages) = marked_pages(&mut work.session, &table)? {
            marked.insert(table, pages);
        }
    }
    if brought {
        work.session.execute("DROP EXTENSION pg_visibility")?;
    }
    for (table, pages) in marked {
        work.tell(Watched::Note(format!(
            "{pages} pages of {table} stay marked as visible to all: this server has no pg_visibility to clear them"
        )))?;
    }
    Ok(())
}

/// Clears the marks of one table where that can be done; else how many pages bear one, where any does.
fn marked_pages(session: &mut Session, table: &str) -> Result<Option<i64>, DatasetError> {
    let name = sql::quote_literal(table);
    if session.execute(&format!("SELECT pg_truncate_visibility_map({name}::regclass)")).is_ok() {
        session.execute(&format!("UPDATE pg_class SET relallvisible = 0 WHERE oid = {name}::regclass"))?;
        return Ok(None);
    }
    // ANALYZE has just counted them.
    let counted =
        session.scalar(&format!("SELECT relallvisible FROM pg_class WHERE oid = {name}::regclass"))?;
    Ok(match counted {
        Some(Scalar::Integer(pages)) if pages > 0 => Some(pages),
        _ => None,
    })
}

/// On someone else's server the role may not be allowed to; its dirty pages are its owner's business.
fn checkpoint(work: &mut Work<'_, '_>, at: Place) -> Result<(), DatasetError> {
    match work.send("CHECKPOINT", at) {
        Err(DatasetError::Session { source, .. }) if source.is_forbidden() => {
            work.tell(Watched::Note("the role may not write a checkpoint here".to_owned()))
        }
        other => other,
    }
}
