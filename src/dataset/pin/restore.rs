//! Puts statistics into a database: by the server's own functions from 18 on, by pg_statistic itself before.

use std::collections::BTreeMap;
use std::path::Path;

use crate::dataset::DatasetError;
use crate::session::Session;
use crate::sql::quote_literal;

use super::read::{one, relations, whole_names};
use super::{Column, Content, Extended, Relation, Slot, misfit};

/// The first version with `pg_restore_attribute_stats`.
const WITH_FUNCTIONS: u32 = 180_000;

/// The columns of `pg_statistic_ext_data` that can be pinned, and their types.
const EXTENDED: [(&str, &str); 3] =
    [("stxdndistinct", "pg_ndistinct"), ("stxddependencies", "pg_dependencies"), ("stxdmcv", "pg_mcv_list")];

/// Checks that the pin fits the tables, then puts its numbers in force.
pub(super) fn restore(session: &mut Session, pin: &Content, path: &Path) -> Result<(), DatasetError> {
    whole_names(session)?;
    let block_size = one(session, "SELECT current_setting('block_size')")?.unwrap_or_default();
    if block_size != pin.block_size {
        let problem = format!("it was taken with blocks of {} bytes, not {block_size}", pin.block_size);
        return Err(misfit(path, problem));
    }
    fits(pin, &relations(session)?).map_err(|problem| misfit(path, problem))?;
    if session.server_version_num() >= WITH_FUNCTIONS {
        by_functions(session, pin, path)?;
    } else {
        by_catalog(session, pin)?;
    }
    extended(session, pin, path)
}

/// The same tables and indexes, and files of the same size: the planner scales every estimate by it.
fn fits(pin: &Content, found: &BTreeMap<String, Relation>) -> Result<(), String> {
    for relation in &pin.relations {
        let name = &relation.name;
        let Some(here) = found.get(name) else { return Err(format!("there is no {name} any more")) };
        if (&here.kind, here.blocks) != (&relation.kind, relation.blocks) {
            return Err(format!("{name} has {} blocks, and had {} then", here.blocks, relation.blocks));
        }
        let columns = |relation: &Relation| {
            relation.types.iter().map(|(name, kind)| format!("{name} {kind}")).collect::<Vec<_>>().join(", ")
        };
        if here.types != relation.types {
            return Err(format!("{name} has the columns {}, and had {}", columns(here), columns(relation)));
        }
    }
    let known = |name: &&String| !pin.relations.iter().any(|relation| relation.name == **name);
    found.keys().find(known).map_or(Ok(()), |name| Err(format!("it knows nothing of {name}")))
}

/// PostgreSQL 15 to 17: the rows of pg_statistic themselves, which a superuser may write.
fn by_catalog(session: &mut Session, pin: &Content) -> Result<(), DatasetError> {
    for relation in &pin.relations {
        let oid = format!("{}::regclass", quote_literal(&relation.name));
        session.execute(&format!("DELETE FROM pg_statistic WHERE starelid = {oid}"))?;
        for column in &relation.columns {
            session.execute(&insert(&oid, column))?;
        }
        session.execute(&format!(
            "UPDATE pg_class SET relpages = {}, reltuples = {} WHERE oid = {oid}",
            relation.pages, relation.tuples
        ))?;
    }
    Ok(())
}

fn insert(oid: &str, column: &Column) -> String {
    let mut names = vec!["starelid, staattnum, stainherit, stanullfrac, stawidth, stadistinct".to_owned()];
    let attribute = format!(
        "(SELECT attnum FROM pg_attribute WHERE attrelid = {oid} AND attname = {})",
        quote_literal(&column.name)
    );
    let mut values = vec![format!(
        "{oid}, {attribute}, {}, {}, {}, {}",
        column.inherited, column.null_frac, column.width, column.distinct
    )];
    for n in 1..=5 {
        names.push(format!("stakind{n}, staop{n}, stacoll{n}, stanumbers{n}, stavalues{n}"));
        values.push(column.slots.get(n - 1).map_or_else(
            || "0, 0, 0, NULL, NULL".to_owned(),
            |slot| {
                format!(
                    "{}, {}, {}, {}, {}",
                    slot.kind,
                    object(&slot.operator, "regoperator"),
                    object(&slot.collation, "regcollation"),
                    slot.numbers
                        .as_ref()
                        .map_or("NULL".to_owned(), |n| format!("{}::real[]", quote_literal(n))),
                    array(slot, &column.kind),
                )
            },
        ));
    }
    format!("INSERT INTO pg_statistic ({}) SELECT {}", names.join(", "), values.join(", "))
}

/// An operator or a collation by name; none is printed as `0` or `-`.
fn object(name: &str, kind: &str) -> String {
    if matches!(name, "0" | "-" | "") { "0".to_owned() } else { format!("{}::{kind}", quote_literal(name)) }
}

/// The values of a slot, as an array of the type that ANALYZE gives that kind.
fn array(slot: &Slot, kind: &str) -> String {
    const ELEMENTS: i64 = 4;
    const LENGTHS: i64 = 6;
    let Some(values) = &slot.values else { return "NULL".to_owned() };
    let of_column = format!("{}::regtype", quote_literal(kind));
    let element = match slot.kind {
        // The elements of an array; the lexemes of a text search vector.
        ELEMENTS => format!(
            "coalesce((SELECT nullif(typelem, 0) FROM pg_type WHERE oid = {of_column} AND typcategory = 'A'), \
             'text'::regtype)"
        ),
        LENGTHS => "'double precision'::regtype".to_owned(),
        _ => of_column,
    };
    format!("array_in({}::cstring, {element}::oid, -1)", quote_literal(values))
}

/// PostgreSQL 18 and later: functions of the server's own.
fn by_functions(session: &mut Session, pin: &Content, path: &Path) -> Result<(), DatasetError> {
    for relation in &pin.relations {
        let (schema, table) = parts(session, &relation.name)?;
        let name = format!("'schemaname', {}, 'relname', {}", quote_literal(&schema), quote_literal(&table));
        session.execute(&format!(
            "SELECT pg_clear_attribute_stats({}, {}, a.attname, s.stainherit) FROM pg_statistic s \
             JOIN pg_attribute a ON a.attrelid = s.starelid AND a.attnum = s.staattnum \
             WHERE s.starelid = {}::regclass",
            quote_literal(&schema),
            quote_literal(&table),
            quote_literal(&relation.name)
        ))?;
        let version = format!("'version', {}", pin.version_num);
        call(
            session,
            &format!(
                "SELECT pg_restore_relation_stats({name}, {version}, 'relpages', {}::integer, 'reltuples', {}::real)",
                relation.pages,
                quote_literal(&relation.tuples)
            ),
            path,
        )?;
        for column in &relation.columns {
            let statement =
                format!("SELECT pg_restore_attribute_stats({name}, {version}, {})", arguments(column));
            call(session, &statement, path)?;
        }
    }
    Ok(())
}

/// Schema and name apart, unquoted.
fn parts(session: &mut Session, name: &str) -> Result<(String, String), DatasetError> {
    let query = format!("SELECT (parse_ident({0}))[1], (parse_ident({0}))[2]", quote_literal(name));
    let mut cells = session.query_rows(&query)?.into_iter().flatten().flatten();
    Ok((cells.next().unwrap_or_default(), cells.next().unwrap_or_default()))
}

/// What such a function does not like is a warning, and false.
fn call(session: &mut Session, statement: &str, path: &Path) -> Result<(), DatasetError> {
    let rows = session.query_rows(statement)?;
    if rows.iter().flatten().flatten().any(|done| done == "t") {
        return Ok(());
    }
    Err(misfit(path, format!("the server takes only a part of it: {statement}")))
}

fn arguments(column: &Column) -> String {
    let mut arguments = vec![format!(
        "'attname', {}, 'inherited', {}, 'null_frac', {}::real, 'avg_width', {}::integer, 'n_distinct', {}::real",
        quote_literal(&column.name),
        column.inherited,
        quote_literal(&column.null_frac),
        quote_literal(&column.width),
        quote_literal(&column.distinct)
    )];
    let mut add = |name: &str, value: Option<&String>, kind: &str| {
        arguments.extend(value.map(|value| format!("'{name}', {}::{kind}", quote_literal(value))));
    };
    for slot in &column.slots {
        let (numbers, values) = (slot.numbers.as_ref(), slot.values.as_ref());
        // The only number of a correlation or of a share of empty ranges, without its braces.
        let single = numbers.map(|numbers| numbers.trim_matches(['{', '}']).to_owned());
        match slot.kind {
            1 => {
                add("most_common_vals", values, "text");
                add("most_common_freqs", numbers, "real[]");
            }
            2 => add("histogram_bounds", values, "text"),
            3 => add("correlation", single.as_ref(), "real"),
            4 => {
                add("most_common_elems", values, "text");
                add("most_common_elem_freqs", numbers, "real[]");
            }
            5 => add("elem_count_histogram", numbers, "real[]"),
            6 => {
                add("range_length_histogram", values, "text");
                add("range_empty_frac", single.as_ref(), "real");
            }
            _ => add("range_bounds_histogram", values, "text"),
        }
    }
    arguments.join(", ")
}

/// Extended statistics have no text form that a server reads: their bytes are put back, which only the version that
/// wrote them is known to understand.
fn extended(session: &mut Session, pin: &Content, path: &Path) -> Result<(), DatasetError> {
    let here = one(
        session,
        "SELECT string_agg(format('%I.%I', n.nspname, e.stxname), ',' ORDER BY 1) \
        FROM pg_statistic_ext e JOIN pg_namespace n ON n.oid = e.stxnamespace",
    )?;
    let there: Vec<&str> = pin.extended.iter().map(|one| one.name.as_str()).collect();
    if here.unwrap_or_default() != there.join(",") {
        return Err(misfit(path, "the extended statistics are others than then"));
    }
    if pin.extended.is_empty() {
        return Ok(());
    }
    let (mine, then) = (session.server_version_num() / 10_000, pin.version_num / 10_000);
    if mine != then {
        let problem = format!("extended statistics pinned on PostgreSQL {then} cannot be read by {mine}");
        return Err(misfit(path, problem));
    }
    for (_, kind) in EXTENDED {
        session.execute(&format!("CREATE CAST (bytea AS {kind}) WITHOUT FUNCTION"))?;
    }
    for one in &pin.extended {
        session.execute(&update(one))?;
    }
    for (_, kind) in EXTENDED {
        session.execute(&format!("DROP CAST (bytea AS {kind})"))?;
    }
    Ok(())
}

fn update(one: &Extended) -> String {
    let set: Vec<String> = EXTENDED
        .iter()
        .zip(&one.data)
        .map(|((column, kind), data)| match data {
            Some(hex) => format!("{column} = {}::bytea::{kind}", quote_literal(&format!("\\x{hex}"))),
            None => format!("{column} = NULL"),
        })
        .collect();
    format!(
        "UPDATE pg_statistic_ext_data d SET {} FROM pg_statistic_ext e JOIN pg_namespace n ON n.oid = e.stxnamespace \
         WHERE d.stxoid = e.oid AND format('%I.%I', n.nspname, e.stxname) = {}",
        set.join(", "),
        quote_literal(&one.name)
    )
}
