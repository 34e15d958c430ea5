//! Names in expectations: which of them exist, and what belongs to them.

use std::collections::{BTreeMap, BTreeSet};

use crate::notebook::{Arm, Expected};
use crate::plan::Pattern;
use crate::session::{Session, SessionError};
use crate::sql;

use super::advice;

/// What the database knows of the names that an arm's expectations use.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Names that no relation bears.
    pub missing: BTreeSet<String>,
    /// What to write instead of them, as far as anybody knows.
    pub advice: BTreeMap<String, String>,
    /// Partitions and children, at any depth, of the names that have some.
    pub families: BTreeMap<String, BTreeSet<String>>,
}

/// Looks the names up as they are now: an index may come and go during a notebook.
pub(super) fn look_up(session: &mut Session, arm: &Arm) -> Result<Known, SessionError> {
    let names: BTreeSet<&str> =
        patterns(arm).flat_map(|pattern| pattern.relations().into_iter().chain(pattern.indexes())).collect();
    if names.is_empty() {
        return Ok(Known::default());
    }
    let list = names.iter().map(|name| sql::quote_literal(name)).collect::<Vec<_>>().join(", ");
    let found =
        session.query_rows(&format!("SELECT DISTINCT relname FROM pg_class WHERE relname IN ({list})"))?;
    let found: BTreeSet<String> = found.into_iter().flatten().flatten().collect();
    let missing: BTreeSet<String> =
        names.iter().filter(|name| !found.contains(**name)).map(ToString::to_string).collect();
    let advice = advice(session, &missing)?;
    Ok(Known { missing, advice, families: families(session, &list)? })
}

fn advice(
    session: &mut Session,
    missing: &BTreeSet<String>,
) -> Result<BTreeMap<String, String>, SessionError> {
    if missing.is_empty() {
        return Ok(BTreeMap::new());
    }
    let known = advice::relations(session)?;
    Ok(missing.iter().map(|name| (name.clone(), advice::on_relation(name, &known))).collect())
}

fn families(session: &mut Session, list: &str) -> Result<BTreeMap<String, BTreeSet<String>>, SessionError> {
    let query = format!(
        "WITH RECURSIVE family(name, oid) AS (\
         SELECT relname, oid FROM pg_class WHERE relname IN ({list}) \
         UNION SELECT family.name, inhrelid FROM family JOIN pg_inherits ON inhparent = family.oid) \
         SELECT name, relname FROM family JOIN pg_class USING (oid) WHERE name <> relname"
    );
    let mut families: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in session.query_rows(&query)? {
        if let [Some(name), Some(child)] = row.as_slice() {
            families.entry(name.clone()).or_default().insert(child.clone());
        }
    }
    Ok(families)
}

fn patterns(arm: &Arm) -> impl Iterator<Item = &Pattern> {
    arm.expect.iter().flat_map(|expectation| match &expectation.what {
        Expected::Plan(pattern) | Expected::Never(pattern) => std::slice::from_ref(pattern).iter(),
        Expected::Any(patterns) => patterns.iter(),
        Expected::Metric(..) => [].iter(),
    })
}
