//! Runs what the dataset's file says, in the database that becomes the template.

use std::time::Instant;

use crate::notebook::{Dataset, Place, Values};
use crate::session::Session;
use crate::sql;
use crate::template::{self, Context, Scalar};

use super::{DatasetError, Watch, Watched};

/// Builds the dataset in the session's database, then makes its state the same for whoever comes next.
pub(super) fn build(
    session: &mut Session,
    dataset: &Dataset,
    watch: &mut Watch<'_>,
) -> Result<(), DatasetError> {
    for template in &dataset.sql {
        let rendered = render(&template.text, &dataset.params, template.at)?;
        let statements = sql::split_statements(&rendered)
            .map_err(|source| DatasetError::Split { source, at: template.at })?;
        for statement in statements {
            send(session, &statement.text, template.at, watch)?;
        }
    }
    settle(session, dataset, watch)?;
    for template in &dataset.verify {
        verify(session, &render(&template.text, &dataset.params, template.at)?, template.at, watch)?;
    }
    Ok(())
}

pub(super) fn render(text: &str, params: &Values, at: Place) -> Result<String, DatasetError> {
    let context = Context::new().with(params);
    template::render_sql(text, &context).map_err(|source| DatasetError::Template { source, at })
}

fn send(session: &mut Session, sql: &str, at: Place, watch: &mut Watch<'_>) -> Result<(), DatasetError> {
    tell(watch, Watched::Sending(sql.to_owned()))?;
    let started = Instant::now();
    let execution = session.execute(sql).map_err(DatasetError::at(at))?;
    let duration_ms = started.elapsed().as_secs_f64() * 1e3;
    tell(watch, Watched::Statement { sql: sql.to_owned(), tag: execution.tag, duration_ms })
}

pub(super) fn tell(watch: &mut Watch<'_>, what: Watched) -> Result<(), DatasetError> {
    if watch(what) { Ok(()) } else { Err(DatasetError::Stopped) }
}

/// Tables and materialised views of the database, by size of name: everything that holds rows.
const TABLES: &str = "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c \
    JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'm') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1";

fn settle(session: &mut Session, dataset: &Dataset, watch: &mut Watch<'_>) -> Result<(), DatasetError> {
    let at = dataset.sql.first().map(|template| template.at).unwrap_or_default();
    send(session, "ANALYZE", at, watch)?;
    let tables = session.query_rows(TABLES).map_err(DatasetError::at(at))?;
    for table in tables.into_iter().flatten().flatten() {
        send(session, &format!("SELECT count(*) FROM {table}"), at, watch)?;
    }
    send(session, "CHECKPOINT", at, watch)
}

fn verify(session: &mut Session, sql: &str, at: Place, watch: &mut Watch<'_>) -> Result<(), DatasetError> {
    let got = session.scalar(sql).map_err(DatasetError::at(at))?;
    if got != Some(Scalar::Boolean(true)) {
        let got = got.map_or_else(|| "NULL".to_owned(), |value| value.to_string());
        return Err(DatasetError::Unverified { sql: sql.to_owned(), got, at });
    }
    tell(watch, Watched::Verified(sql.to_owned()))
}
