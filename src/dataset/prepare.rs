//! The template database of a dataset: found as an earlier run left it, or built; and the clone that a run works on.

use std::sync::OnceLock;
use std::time::Instant;

use crate::notebook::{Dataset, Place};
use crate::server::{Kind, Server};
use crate::session::Session;
use crate::sql;

use super::clone::{clone_database, connected};
use super::definition::Definition;
use super::work::Work;
use super::{DatasetError, Fingerprint, Record, Watch, Watched, build, calm};

/// A dataset that is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The database that holds it. Nobody connects to it: clone it.
    pub template: String,
    /// What is known of it.
    pub record: Record,
    /// Whether an earlier run had built it.
    pub reused: bool,
}

/// Makes the database `to` a clone of the dataset's template, which is built where it is not there.
///
/// # Errors
/// As [`prepare`] and [`clone_database`].
pub fn provide(
    server: &Server,
    dataset: &Dataset,
    to: &str,
    watch: &mut Watch<'_>,
) -> Result<Built, DatasetError> {
    let built = prepare(server, dataset, watch)?;
    clone_database(server, &built.template, to)?;
    let mut session = Session::connect(server.endpoint(), to)?;
    let found = Fingerprint::take(&mut session)?;
    if found == built.record.fingerprint {
        return Ok(built);
    }
    let differences = built.record.fingerprint.differences(&found).join(", ");
    let autovacuum = calm::is_on(&mut session)?;
    drop(session);
    if !built.reused {
        return Err(DatasetError::Altered { database: built.template, differences, autovacuum });
    }
    tell(watch, Watched::Note(format!("the cached dataset was altered ({differences}): it is built anew")))?;
    server.drop_database(to)?;
    server.drop_database(&built.template)?;
    let built = prepare(server, dataset, watch)?;
    clone_database(server, &built.template, to)?;
    Ok(built)
}

/// Finds the template database of the dataset, or builds it.
///
/// # Errors
/// The first statement that fails, with its place in the dataset's file; nothing half built is left then, save where
/// the server is gone.
pub fn prepare(server: &Server, dataset: &Dataset, watch: &mut Watch<'_>) -> Result<Built, DatasetError> {
    let definition = Definition::of(dataset)?;
    let cache_key = definition.cache_key(server.identity());
    let mut admin = Session::connect(server.endpoint(), server.database())?;
    tell(watch, Watched::Session(admin.canceller()))?;
    let template = template_name(server, &definition.hash);
    match find(server, &mut admin, &template, &cache_key)? {
        Found::Whole(record) => {
            let record = *record;
            tell(watch, Watched::Reused(record.built.clone()))?;
            return Ok(Built { template, record, reused: true });
        }
        Found::Absent => {}
        Found::Unusable(why) => {
            tell(
                watch,
                Watched::Note(format!("the cached dataset is not used, since {why}: it is built anew")),
            )?;
        }
    }
    if server.kind() != Kind::Url {
        sweep(server, &mut admin, dataset, &definition.hash, watch)?;
    }
    server.drop_database(&template)?;
    server.create_database(&template, None)?;
    let started = Instant::now();
    let built = fill(server, dataset, &definition, &template, watch);
    let (tables, fingerprint) = match built {
        Ok(built) => built,
        Err(error) => {
            // The build's own error says more than this one could.
            let _ = server.drop_database(&template);
            return Err(error);
        }
    };
    let record = Record {
        dataset: dataset.name.clone(),
        params: dataset.params.clone(),
        definition: definition.hash,
        cache_key,
        built: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seconds: started.elapsed().as_secs_f64(),
        pinned: definition.pin.is_some(),
        tables,
        fingerprint,
    };
    // From here on nobody connects to it, and only then it is said to be whole.
    admin.execute(&format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", sql::quote_ident(&template)))?;
    record.write(server, &template)?;
    Ok(Built { template, record, reused: false })
}

fn fill(
    server: &Server,
    dataset: &Dataset,
    definition: &Definition<'_>,
    template: &str,
    watch: &mut Watch<'_>,
) -> Result<(Vec<super::TableRecord>, Fingerprint), DatasetError> {
    let mut work = Work::begin(server.endpoint(), template, watch)?;
    let tables = build::build(&mut work, definition).map_err(|error| place(error, dataset))?;
    let fingerprint = Fingerprint::take(&mut work.session)?;
    Ok((tables, fingerprint))
}

/// What the build's end sends stands nowhere in the file: its failures are shown at the file's first part.
fn place(error: DatasetError, dataset: &Dataset) -> DatasetError {
    match error {
        DatasetError::Session { source, at } if at == Place::default() => {
            let at = dataset.parts.first().map(crate::notebook::Part::at).unwrap_or_default();
            DatasetError::Session { source, at }
        }
        other => other,
    }
}

pub(super) fn tell(watch: &mut Watch<'_>, what: Watched) -> Result<(), DatasetError> {
    if watch(what) { Ok(()) } else { Err(DatasetError::Stopped) }
}

/// On a server of our own the template stays; on someone else's it is this run's, and goes with it.
fn template_name(server: &Server, hash: &str) -> String {
    let short = &hash[..16.min(hash.len())];
    match server.kind() {
        Kind::Url => format!("planbook_dataset_{short}_{}_{:08x}", std::process::id(), own_number()),
        _ => format!("planbook_dataset_{short}"),
    }
}

/// A number that no other planbook has, on whichever machine it runs.
fn own_number() -> u32 {
    static NUMBER: OnceLock<u32> = OnceLock::new();
    *NUMBER.get_or_init(rand::random)
}

enum Found {
    Absent,
    Whole(Box<Record>),
    Unusable(String),
}

/// Looks at the template that an earlier run left.
fn find(
    server: &Server,
    admin: &mut Session,
    template: &str,
    cache_key: &str,
) -> Result<Found, DatasetError> {
    let open = admin.query_rows(&format!(
        "SELECT datallowconn FROM pg_database WHERE datname = {}",
        sql::quote_literal(template)
    ))?;
    let Some(open) = open.into_iter().flatten().flatten().next() else { return Ok(Found::Absent) };
    let marks = server.databases()?.into_iter().find(|(name, _)| name == template);
    let by = connected(admin, template)?;
    Ok(match marks.and_then(|(_, marks)| Record::read(&marks)) {
        None => Found::Unusable("its build was cut off".to_owned()),
        Some(_) if !by.is_empty() => Found::Unusable(format!("{} is connected to it", by.join(", "))),
        Some(_) if open == "t" => Found::Unusable("somebody has opened it to connections".to_owned()),
        Some(record) if record.cache_key != cache_key => {
            Found::Unusable("it was built by another server".to_owned())
        }
        Some(record) => Found::Whole(Box::new(record)),
    })
}

/// Drops what no run will use again: databases of runs that were killed, and earlier definitions of this dataset. One
/// that somebody is connected to is in use.
fn sweep(
    server: &Server,
    admin: &mut Session,
    dataset: &Dataset,
    definition: &str,
    watch: &mut Watch<'_>,
) -> Result<(), DatasetError> {
    for (name, marks) in server.databases()? {
        let record = Record::read(&marks);
        let older = |record: &Record| record.dataset == dataset.name && record.params == dataset.params;
        if record.as_ref().is_some_and(|record| !older(record)) {
            continue;
        }
        if record.is_none() && !connected(admin, &name)?.is_empty() {
            continue;
        }
        if record.is_some_and(|record| record.definition != definition) {
            let what = &dataset.name;
            tell(watch, Watched::Note(format!("the definition of {what} has changed: it is built anew")))?;
        }
        server.drop_database(&name)?;
    }
    Ok(())
}
