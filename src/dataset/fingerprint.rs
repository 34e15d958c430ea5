//! What the planner reads of a database, as a hash and its parts: two databases with one fingerprint plan alike.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::session::{Session, SessionError};

use super::definition::sha256;

/// Hashes in hexadecimal. OIDs are left out, so that two builds of one dataset can agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// SHA-256 of the parts.
    pub hash: String,
    /// pg_statistic: what ANALYZE found, column by column. `unreadable` where the role may not see it.
    pub statistics: String,
    /// Extended statistics and what they hold. `unreadable` where the role may not see it.
    pub extended: String,
    /// relpages, reltuples and relallvisible of every table and index.
    pub relations: String,
    /// The sizes of their files and of their visibility maps.
    pub sizes: String,
}

/// Tables and indexes of the database's own schemas, and the TOAST tables behind them, with names that hold no OID.
const RELATIONS: &str = "WITH own AS (\
    SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name, c.relpages, c.reltuples, c.relallvisible, \
    c.reltoastrelid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'm', 'p', 'i', 'I') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'), \
    relation AS (SELECT oid, name, relpages, reltuples, relallvisible FROM own UNION ALL \
    SELECT t.oid, 'toast of ' || own.name, t.relpages, t.reltuples, t.relallvisible \
    FROM own JOIN pg_class t ON t.oid = own.reltoastrelid) ";

impl Fingerprint {
    /// Takes the fingerprint of the session's database. Empties the session's search_path, so that names of operators
    /// come out whole.
    ///
    /// # Errors
    /// What the server says.
    pub fn take(session: &mut Session) -> Result<Self, SessionError> {
        session.execute("SELECT set_config('search_path', '', false)")?;
        let relations = md5(session, "concat_ws('|', name, relpages, reltuples, relallvisible)", "relation")?;
        let sizes = md5(
            session,
            "concat_ws('|', name, pg_relation_size(oid, 'main'), pg_relation_size(oid, 'vm'))",
            "relation",
        )?;
        let statistics = statistics(session)?;
        let extended = extended(session)?;
        let hash = sha256(&json!([statistics, extended, relations, sizes]));
        Ok(Self { hash, statistics, extended, relations, sizes })
    }

    /// The parts that differ, in words.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        [
            ("the planner's statistics", self.statistics != other.statistics),
            ("extended statistics", self.extended != other.extended),
            ("pages, rows or visibility in pg_class", self.relations != other.relations),
            ("the sizes of files", self.sizes != other.sizes),
        ]
        .into_iter()
        .filter_map(|(what, differs)| differs.then_some(what))
        .collect()
    }
}

fn statistics(session: &mut Session) -> Result<String, SessionError> {
    let slots: Vec<String> = (1..=5)
        .map(|n| {
            format!(
                "stakind{n}, staop{n}::regoperator, stacoll{n}::regcollation, stanumbers{n}, stavalues{n}"
            )
        })
        .collect();
    let line = format!(
        "concat_ws('|', name, attname, stainherit, stanullfrac, stawidth, stadistinct, {})",
        slots.join(", ")
    );
    let from = "relation JOIN pg_statistic s ON s.starelid = relation.oid \
                JOIN pg_attribute a ON a.attrelid = s.starelid AND a.attnum = s.staattnum";
    readable(md5(session, &line, from))
}

fn extended(session: &mut Session) -> Result<String, SessionError> {
    let from = "pg_statistic_ext e JOIN relation ON relation.oid = e.stxrelid \
                LEFT JOIN pg_statistic_ext_data d ON d.stxoid = e.oid";
    let line = "concat_ws('|', name, stxname, stxkeys, stxkind, stxdndistinct, stxddependencies, stxdmcv)";
    readable(md5(session, line, from))
}

/// Only a superuser sees the statistics themselves.
fn readable(hash: Result<String, SessionError>) -> Result<String, SessionError> {
    match hash {
        Err(error) if error.is_forbidden() => Ok("unreadable".to_owned()),
        other => other,
    }
}

/// MD5 over sorted lines: it is the one hash that every version of the server has.
fn md5(session: &mut Session, line: &str, from: &str) -> Result<String, SessionError> {
    let rows = session.query_rows(&format!(
        "{RELATIONS}SELECT md5(coalesce(string_agg(line, chr(10) ORDER BY line COLLATE pg_catalog.\"C\"), '')) \
         FROM (SELECT {line} AS line FROM {from}) lines"
    ))?;
    Ok(rows.into_iter().flatten().flatten().next().unwrap_or_default())
}
