//! What to do about a name that the server does not know: the nearest of those that it does.

use std::collections::BTreeSet;

use crate::nearest::nearest;
use crate::recording::Failure;
use crate::session::{Session, SessionError};
use crate::sql;

use super::Runner;

/// How many names are listed where none is near.
const MOST_LISTED: usize = 8;

/// What a statement names that is not there.
#[derive(Debug, PartialEq, Eq)]
enum Unknown {
    Setting(String),
    Relation(String),
    Column(String),
}

impl Unknown {
    fn of(failure: &Failure) -> Option<Self> {
        let name = named(&failure.message)?;
        match failure.sqlstate.as_deref()? {
            "42704" if failure.message.starts_with("unrecognized configuration parameter") => {
                Some(Self::Setting(name))
            }
            "42704" if failure.message.starts_with("index ") => Some(Self::Relation(name)),
            "42P01" => Some(Self::Relation(name)),
            "42703" => Some(Self::Column(name)),
            _ => None,
        }
    }
}

/// The name in the server's message: in quotes, or behind the word for what it is.
fn named(message: &str) -> Option<String> {
    let name = message.split('"').nth(1).or_else(|| message.split_whitespace().nth(1))?;
    (!name.is_empty()).then(|| name.to_owned())
}

impl Runner<'_> {
    /// Adds advice to a failure of which the server says nothing more. Where it cannot be asked, there is none.
    pub(super) fn advise(&mut self, failure: &mut Failure) {
        if failure.advice.is_some() || failure.hint.is_some() {
            return;
        }
        let Some(unknown) = Unknown::of(failure) else { return };
        let statement = failure.statement.clone().unwrap_or_default();
        // The dataset is built over a connection of its own, and its tables are not there for this one.
        let of_dataset = failure.step == 0;
        let session = &mut self.main.session;
        failure.advice = match &unknown {
            Unknown::Setting(name) => settings(session).ok().map(|known| on_setting(name, &known)),
            Unknown::Relation(name) if of_dataset => Some(on_relation(name, &[])),
            Unknown::Relation(name) => relations(session).ok().map(|known| on_relation(name, &known)),
            Unknown::Column(name) if of_dataset => on_column(name, &statement, &[]),
            Unknown::Column(name) => {
                columns(session, &statement).ok().and_then(|known| on_column(name, &statement, &known))
            }
        };
    }
}

fn settings(session: &mut Session) -> Result<Vec<String>, SessionError> {
    names(session, "SELECT name FROM pg_settings")
}

/// Tables, views and indexes of the database, those that have to be qualified with their schema.
pub(super) fn relations(session: &mut Session) -> Result<Vec<String>, SessionError> {
    names(
        session,
        "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE nspname || '.' END || relname \
         FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'i', 'I') \
         AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname NOT LIKE 'pg\\_toast%' ORDER BY 1",
    )
}

/// The columns of the tables that a statement mentions.
fn columns(session: &mut Session, statement: &str) -> Result<Vec<String>, SessionError> {
    let words: BTreeSet<&str> = statement
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let words: Vec<String> = words.into_iter().map(sql::quote_literal).collect();
    names(
        session,
        &format!(
            "SELECT DISTINCT attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid \
             WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p', 'v', 'm', 'f') AND relname IN ({}) ORDER BY 1",
            words.join(", ")
        ),
    )
}

fn names(session: &mut Session, query: &str) -> Result<Vec<String>, SessionError> {
    Ok(session.query_rows(query)?.into_iter().flatten().flatten().collect())
}

fn on_setting(name: &str, known: &[String]) -> String {
    near(name, known)
        .unwrap_or_else(|| "this server has no setting of that name: SHOW ALL in psql lists them".to_owned())
}

/// What to write instead of the name of a relation that is not there.
pub(super) fn on_relation(name: &str, known: &[String]) -> String {
    let elsewhere = known.iter().find(|known| known.rsplit_once('.').is_some_and(|(_, bare)| bare == name));
    if let Some(qualified) = elsewhere {
        return format!("write its schema too: `{qualified}`");
    }
    near(name, known).unwrap_or_else(|| {
        let there = listed("this database has", known).map(|there| format!("{there}: ")).unwrap_or_default();
        format!("{there}correct the name, or create it in the dataset or in a `sql` step above")
    })
}

fn on_column(name: &str, statement: &str, known: &[String]) -> Option<String> {
    let bare = name.rsplit('.').next().unwrap_or(name);
    near(bare, known).or_else(|| match statement.contains(&format!("\"{bare}\"")) {
        true => Some(format!("double quotes name a column; a text stands between single ones: '{bare}'")),
        false => listed("the tables in it have the columns", known),
    })
}

fn near(name: &str, known: &[String]) -> Option<String> {
    let near = nearest(name, known.iter().map(String::as_str))?;
    Some(format!("did you mean `{near}`?"))
}

/// The names, where there are few enough to read.
fn listed(what: &str, known: &[String]) -> Option<String> {
    (1..=MOST_LISTED).contains(&known.len()).then(|| format!("{what} {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_unknown_is_read_from_the_servers_message() {
        let unknown = |state: &str, message: &str| {
            let mut failure = Failure::new(1, message.to_owned(), "n.yaml", 1);
            failure.sqlstate = Some(state.to_owned());
            Unknown::of(&failure)
        };
        assert_eq!(
            unknown("42704", "unrecognized configuration parameter \"work_men\""),
            Some(Unknown::Setting("work_men".to_owned()))
        );
        assert_eq!(
            unknown("42P01", "relation \"a.t\" does not exist"),
            Some(Unknown::Relation("a.t".to_owned()))
        );
        assert_eq!(
            unknown("42704", "index \"t_i\" does not exist"),
            Some(Unknown::Relation("t_i".to_owned()))
        );
        assert_eq!(
            unknown("42703", "column t.idd does not exist"),
            Some(Unknown::Column("t.idd".to_owned()))
        );
        assert_eq!(unknown("42704", "type \"x\" does not exist"), None);
        assert_eq!(unknown("42601", "syntax error at or near \"FORM\""), None);
    }

    #[test]
    fn the_nearest_name_is_offered_or_those_that_there_are() {
        let relations = known(&["things", "things_v", "other.hidden"]);
        assert_eq!(on_relation("thing", &relations), "did you mean `things`?");
        assert_eq!(on_relation("hidden", &relations), "write its schema too: `other.hidden`");
        assert_eq!(
            on_relation("customers", &relations),
            "this database has things, things_v, other.hidden: correct the name, or create it in the dataset or in a \
             `sql` step above"
        );
        assert!(on_relation("customers", &[]).starts_with("correct the name"));
        assert_eq!(on_setting("work_men", &known(&["work_mem", "jit"])), "did you mean `work_mem`?");
        assert!(on_setting("elsewhere", &known(&["work_mem"])).contains("SHOW ALL"));
        let columns = known(&["id", "name"]);
        let column = |name: &str, statement: &str| on_column(name, statement, &columns);
        assert_eq!(column("t.nam", "SELECT t.nam FROM t").as_deref(), Some("did you mean `name`?"));
        assert!(column("Smith", "… = \"Smith\"").is_some_and(|said| said.ends_with("'Smith'")));
        assert_eq!(
            column("amount", "SELECT amount FROM t").as_deref(),
            Some("the tables in it have the columns id, name")
        );
    }
}
