//! Reads statistics out of a database.

use std::collections::BTreeMap;
use std::path::Path;

use crate::session::Session;

use super::{Column, Content, Extended, Relation, Slot, misfit};
use crate::dataset::DatasetError;

/// The kinds of statistics that both ways of putting them back know, as pg_statistic.h numbers them: common values,
/// histogram, correlation, common elements, counts of elements, lengths and bounds of ranges.
const KNOWN: std::ops::RangeInclusive<i64> = 1..=7;

/// Tables and indexes of the database's own schemas.
pub(super) const OWN: &str = "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'm', 'p', 'i', 'I') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";

/// Names of operators and types come out whole.
pub(super) fn whole_names(session: &mut Session) -> Result<(), DatasetError> {
    session.execute("SELECT set_config('search_path', '', false)")?;
    Ok(())
}

/// Everything that a pin holds.
pub(super) fn content(
    session: &mut Session,
    path: &Path,
    params: Vec<(String, String)>,
) -> Result<Content, DatasetError> {
    whole_names(session)?;
    let mut relations = relations(session)?;
    for (relation, column) in columns(session, path)? {
        if let Some(relation) = relations.get_mut(&relation) {
            relation.columns.push(column);
        }
    }
    let block_size = one(session, "SELECT current_setting('block_size')")?.unwrap_or_default();
    Ok(Content {
        params,
        version_num: session.server_version_num(),
        block_size,
        relations: relations.into_values().collect(),
        extended: extended(session, path)?,
    })
}

/// Tables and indexes by name, without their columns.
pub(super) fn relations(session: &mut Session) -> Result<BTreeMap<String, Relation>, DatasetError> {
    let rows = session.query_rows(&format!(
        "SELECT format('%I.%I', n.nspname, c.relname), c.relkind, \
         coalesce(pg_relation_size(c.oid), 0) / current_setting('block_size')::bigint, c.relpages, c.reltuples {OWN}"
    ))?;
    let mut found = BTreeMap::new();
    for row in rows {
        let cells: Vec<String> = row.into_iter().map(Option::unwrap_or_default).collect();
        let [name, kind, blocks, pages, tuples] = cells.as_slice() else { continue };
        let relation = Relation {
            name: name.clone(),
            kind: kind.clone(),
            blocks: blocks.parse().unwrap_or_default(),
            pages: pages.parse().unwrap_or_default(),
            tuples: tuples.clone(),
            types: Vec::new(),
            columns: Vec::new(),
        };
        found.insert(name.clone(), relation);
    }
    let types = session.query_rows(&format!(
        "SELECT format('%I.%I', n.nspname, c.relname), a.attname, format_type(a.atttypid, a.atttypmod) {} \
         AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        OWN.replacen(" WHERE", " JOIN pg_attribute a ON a.attrelid = c.oid WHERE", 1)
    ))?;
    for row in types {
        let [Some(relation), Some(column), Some(kind)] = row.as_slice() else { continue };
        if let Some(relation) = found.get_mut(relation) {
            relation.types.push((column.clone(), kind.clone()));
        }
    }
    Ok(found)
}

/// The rows of pg_statistic, each with the name of its table, in the order of the columns.
fn columns(session: &mut Session, path: &Path) -> Result<Vec<(String, Column)>, DatasetError> {
    let slots: Vec<String> = (1..=5)
        .map(|n| {
            format!(
                "stakind{n}, staop{n}::regoperator, stacoll{n}::regcollation, stanumbers{n}, stavalues{n}"
            )
        })
        .collect();
    let rows = session.query_rows(&format!(
        "SELECT own.name, a.attname, format_type(a.atttypid, NULL), s.stainherit, s.stanullfrac, s.stawidth, \
         s.stadistinct, {} FROM (SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name {OWN}) own \
         JOIN pg_statistic s ON s.starelid = own.oid \
         JOIN pg_attribute a ON a.attrelid = s.starelid AND a.attnum = s.staattnum \
         ORDER BY own.name COLLATE pg_catalog.\"C\", s.staattnum, s.stainherit",
        slots.join(", ")
    ))?;
    rows.into_iter().map(|row| column(row, path)).collect()
}

fn column(row: Vec<Option<String>>, path: &Path) -> Result<(String, Column), DatasetError> {
    let mut cells = row.into_iter();
    let mut text = || cells.next().flatten().unwrap_or_default();
    let relation = text();
    let (name, kind, inherited) = (text(), text(), text() == "t");
    let (null_frac, width, distinct) = (text(), text(), text());
    let mut slots = Vec::new();
    let rest: Vec<Option<String>> = cells.collect();
    for slot in rest.chunks(5) {
        let [Some(number), operator, collation, numbers, values] = slot else { continue };
        let number: i64 = number.parse().unwrap_or_default();
        if number == 0 {
            continue;
        }
        if !KNOWN.contains(&number) {
            let problem = format!("statistics of kind {number} ({relation}.{name}) cannot be put back");
            return Err(misfit(path, problem));
        }
        slots.push(Slot {
            kind: number,
            operator: operator.clone().unwrap_or_default(),
            collation: collation.clone().unwrap_or_default(),
            numbers: numbers.clone(),
            values: values.clone(),
        });
    }
    Ok((relation, Column { name, kind, inherited, null_frac, width, distinct, slots }))
}

/// Extended statistics. Those on expressions hold rows of pg_statistic, which no server takes back.
fn extended(session: &mut Session, path: &Path) -> Result<Vec<Extended>, DatasetError> {
    // pg_statistic_ext_data has a row of its own for the children's rows from 15 on.
    let rows = session.query_rows(
        "SELECT format('%I.%I', n.nspname, e.stxname), encode(d.stxdndistinct::bytea, 'hex'), \
         encode(d.stxddependencies::bytea, 'hex'), encode(d.stxdmcv::bytea, 'hex'), \
         coalesce(to_jsonb(d) ->> 'stxdexpr', '') FROM pg_statistic_ext e \
         JOIN pg_namespace n ON n.oid = e.stxnamespace JOIN pg_statistic_ext_data d ON d.stxoid = e.oid \
         ORDER BY 1",
    )?;
    let mut found: Vec<Extended> = Vec::new();
    for row in rows {
        let [Some(name), data @ .., expressions] = row.as_slice() else { continue };
        let twice = found.last().is_some_and(|last| last.name == *name);
        if twice || expressions.as_deref().is_some_and(|text| !text.is_empty()) {
            let problem =
                format!("the extended statistics {name} (on expressions or children) cannot be put back");
            return Err(misfit(path, problem));
        }
        found.push(Extended { name: name.clone(), data: data.to_vec() });
    }
    Ok(found)
}

/// One value.
pub(super) fn one(session: &mut Session, sql: &str) -> Result<Option<String>, DatasetError> {
    Ok(session.query_rows(sql)?.into_iter().flatten().flatten().next())
}
