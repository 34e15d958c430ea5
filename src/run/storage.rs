//! `storage` steps: how large relations are on disk.

use crate::notebook::{Step, Storage};
use crate::recording::{Event, Sizes, StorageEvent};
use crate::session::{Session, SessionError};
use crate::sql;

use super::Runner;
use super::error::StepError;

impl Runner<'_> {
    pub(super) fn storage(&mut self, step: &Step, storage: &Storage) -> Result<(), StepError> {
        for relation in &storage.of {
            let session = &mut self.main.session;
            let found =
                oid(session, relation).and_then(|oid| Ok((sizes(session, oid)?, each_index(session, oid)?)));
            let (sizes, each_index) = found.map_err(|error| self.failure(step, None, error))?;
            let relation = relation.clone();
            self.emit(Event::Storage(StorageEvent { step: step.number, relation, sizes, each_index }))?;
        }
        Ok(())
    }
}

/// A relation by its name: where there is none, the error shows this statement, which its reader understands.
fn oid(session: &mut Session, relation: &str) -> Result<u32, SessionError> {
    let rows = session.query_rows(&format!("SELECT {}::regclass::oid", sql::quote_literal(relation)))?;
    Ok(rows.into_iter().flatten().flatten().find_map(|oid| oid.parse().ok()).unwrap_or_default())
}

/// The relation and, where it is partitioned, everything below it.
fn parts(oid: u32) -> String {
    format!("WITH parts AS (SELECT {oid}::oid AS oid UNION SELECT relid::oid FROM pg_partition_tree({oid}))")
}

/// The sizes of a relation. A TOAST table counts with its index, a heap with its free space and visibility maps.
fn sizes(session: &mut Session, oid: u32) -> Result<Sizes, SessionError> {
    let query = format!(
        "{} SELECT sum(pg_total_relation_size(oid)), \
         sum(pg_table_size(oid) - coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0)) \
           FILTER (WHERE relkind NOT IN ('i', 'I')), \
         sum(pg_total_relation_size(nullif(reltoastrelid, 0))), \
         sum(CASE WHEN relkind IN ('i', 'I') THEN pg_total_relation_size(oid) ELSE pg_indexes_size(oid) END) \
         FROM parts JOIN pg_class USING (oid)",
        parts(oid)
    );
    let row = session.query_rows(&query)?.into_iter().next().unwrap_or_default();
    let bytes = |column: usize| row.get(column)?.as_deref()?.parse().ok();
    Ok(Sizes { total: bytes(0).unwrap_or_default(), heap: bytes(1), toast: bytes(2), indexes: bytes(3) })
}

fn each_index(session: &mut Session, oid: u32) -> Result<Vec<(String, u64)>, SessionError> {
    let query = format!(
        "{} SELECT relname, pg_total_relation_size(indexrelid) FROM pg_index JOIN parts ON indrelid = parts.oid \
         JOIN pg_class ON pg_class.oid = indexrelid ORDER BY relname",
        parts(oid)
    );
    let rows = session.query_rows(&query)?;
    Ok(rows
        .into_iter()
        .filter_map(|row| match row.as_slice() {
            [Some(name), Some(bytes)] => Some((name.clone(), bytes.parse().ok()?)),
            _ => None,
        })
        .collect())
}

/// The sizes of several relations together.
pub(super) fn sizes_of(session: &mut Session, relations: &[String]) -> Result<Sizes, SessionError> {
    let mut all = Sizes::default();
    for relation in relations {
        let oid = oid(session, relation)?;
        let one = sizes(session, oid)?;
        all.total += one.total;
        all.heap = add(all.heap, one.heap);
        all.toast = add(all.toast, one.toast);
        all.indexes = add(all.indexes, one.indexes);
    }
    Ok(all)
}

/// A sum in which absent is not zero.
fn add(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}
