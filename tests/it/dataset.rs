//! Datasets on a server: built, brought to rest, found again, distrusted, cloned.

use std::path::PathBuf;

use planbook::dataset::{self, Built, DatasetError, Progress, Watched};
use planbook::notebook::{self, Dataset};
use planbook::server::Server;
use planbook::session::{Scalar, Session};

use crate::support::{connect, start};

/// A dataset file in a folder of its own.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(dataset: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("d.yaml"), dataset).unwrap();
        Self { folder }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("d.yaml")
    }

    fn load(&self) -> Dataset {
        notebook::load_dataset(&self.path(), &[]).unwrap()
    }
}

const EVENTS: &str = "planbook-dataset: 1
params: {rows: 20000}
sql:
  - CREATE TABLE t (id int PRIMARY KEY, v int, note text)
  - INSERT INTO t SELECT g, g % 200, repeat('x', g % 50) FROM generate_series(1, {{ rows }}) AS g
verify:
  - SELECT count(*) = {{ rows }} FROM t
";

fn quiet(_: Watched) -> bool {
    true
}

/// Provides a clone, and what was remarked on the way.
fn provide(server: &Server, dataset: &Dataset, to: &str) -> (Built, Vec<String>) {
    let mut notes = Vec::new();
    let built = dataset::provide(server, dataset, to, &mut |what| {
        if let Watched::Note(text) = what {
            notes.push(text);
        }
        true
    });
    (built.unwrap(), notes)
}

fn execute(server: &Server, statements: &[&str]) {
    let mut session = connect(server);
    statements.iter().for_each(|statement| drop(session.execute(statement).unwrap()));
}

#[test]
fn a_clone_is_at_rest_and_like_every_other() {
    let server = start(None);
    let files = Files::new(&EVENTS.replace("verify:", "  - VACUUM t\nverify:"));
    let (built, notes) = provide(&server, &files.load(), "planbook_one");
    assert!(!built.reused && notes.is_empty(), "{notes:?}");
    let table = &built.record.tables[0];
    assert_eq!((table.name.as_str(), table.rows), ("public.t", 20_000));
    let (again, _) = provide(&server, &files.load(), "planbook_two");
    assert!(again.reused);
    assert_eq!(again.record, built.record);
    let mut session = Session::connect(server.endpoint(), "planbook_two").unwrap();
    // VACUUM in the dataset marked pages; the build's end cleared them, and left nothing of its own behind.
    for (query, value) in [
        ("SELECT relallvisible FROM pg_class WHERE relname = 't'", 0),
        ("SELECT pg_relation_size('t', 'vm')", 0),
        ("SELECT count(*) FROM pg_extension WHERE extname = 'pg_visibility'", 0),
        ("SELECT reltuples::int FROM pg_class WHERE relname = 't'", 20_000),
    ] {
        assert_eq!(session.scalar(query).unwrap(), Some(Scalar::Integer(value)), "{query}");
    }
    // Hint bits are set already: the first scan dirties no page.
    let plan = session.query_rows("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) SELECT sum(v) FROM t").unwrap();
    let plan: Vec<String> = plan.into_iter().flatten().flatten().collect();
    assert!(!plan.iter().any(|line| line.contains("dirtied=")), "{plan:#?}");
}

#[test]
fn checksums_tell_rows_apart_whatever_their_order_and_types() {
    let server = start(None);
    let with = |rows: &str| {
        let sql = format!(
            "planbook-dataset: 1\nsql:\n  - CREATE TABLE j (id int, doc json)\n  - INSERT INTO j {rows}\n"
        );
        let files = Files::new(&sql);
        let built = dataset::prepare(&server, &files.load(), &mut quiet).unwrap();
        built.record.tables[0].checksum.clone()
    };
    let one = with("VALUES (1, '[1]'), (2, '[2]')");
    assert_eq!(one, with("VALUES (2, '[2]'), (1, '[1]')"));
    assert_ne!(one, with("VALUES (1, '[1]'), (2, '[3]')"));
    assert_ne!(one, with("VALUES (1, '[1]'), (2, '[2]'), (2, '[2]')"));
}

#[test]
fn a_template_that_cannot_be_trusted_is_built_anew_and_said_why() {
    let server = start(None);
    let files = Files::new(EVENTS);
    let (built, _) = provide(&server, &files.load(), "planbook_a");
    let template = built.template.as_str();
    let open = format!("ALTER DATABASE {template} ALLOW_CONNECTIONS true");
    let close = format!("ALTER DATABASE {template} ALLOW_CONNECTIONS false");

    execute(&server, &[&open]);
    let held = Session::connect(server.endpoint(), template).unwrap();
    let (built, notes) = provide(&server, &files.load(), "planbook_b");
    assert!(!built.reused && notes[0].contains(&format!("process {}", held.backend_pid())), "{notes:?}");
    drop(held);

    execute(&server, &[&open]);
    let (built, notes) = provide(&server, &files.load(), "planbook_c");
    assert!(!built.reused && notes[0].contains("opened it to connections"), "{notes:?}");

    execute(&server, &[&open]);
    Session::connect(server.endpoint(), template).unwrap().execute("DELETE FROM t WHERE id > 10000").unwrap();
    Session::connect(server.endpoint(), template).unwrap().execute("VACUUM ANALYZE t").unwrap();
    execute(&server, &[&close]);
    let (built, notes) = provide(&server, &files.load(), "planbook_d");
    assert!(!built.reused && notes[0].contains("was altered"), "{notes:?}");
    let mut session = Session::connect(server.endpoint(), "planbook_d").unwrap();
    assert_eq!(session.scalar("SELECT count(*) FROM t").unwrap(), Some(Scalar::Integer(20_000)));

    // What a killed build leaves: a database of ours that nothing is known of.
    server.note_on_database(template, &[("nothing", "known")]).unwrap();
    let (built, notes) = provide(&server, &files.load(), "planbook_e");
    assert!(!built.reused && notes[0].contains("cut off"), "{notes:?}");
}

#[test]
fn a_database_in_use_is_not_copied_and_its_user_is_named() {
    let server = start(None);
    execute(&server, &["CREATE DATABASE busy"]);
    let held = Session::connect(server.endpoint(), "busy").unwrap();
    match dataset::clone_database(&server, "busy", "planbook_copy") {
        Err(DatasetError::InUse { database, by }) => {
            assert_eq!(database, "busy");
            assert!(by[0].contains(&held.backend_pid().to_string()), "{by:?}");
        }
        other => panic!("{other:?}"),
    }
    drop(held);
    dataset::clone_database(&server, "busy", "planbook_copy").unwrap();
}

#[test]
fn a_failed_build_leaves_nothing() {
    let server = start(None);
    let files = Files::new(&EVENTS.replace("count(*) = {{ rows }}", "count(*) = 7"));
    let error = dataset::prepare(&server, &files.load(), &mut quiet).unwrap_err();
    assert!(matches!(&error, DatasetError::Unverified { got, .. } if got == "false"), "{error}");
    let stopped = dataset::prepare(
        &server,
        &Files::new(EVENTS).load(),
        &mut |what| !matches!(what, Watched::Sending(sql) if sql.starts_with("INSERT")),
    );
    assert!(matches!(stopped, Err(DatasetError::Stopped)), "{stopped:?}");
    assert!(server.databases().unwrap().is_empty());
}

#[test]
fn files_and_rows_come_in_the_order_of_the_file() {
    let server = start(None);
    let files = Files::new(
        "planbook-dataset: 1
files: schema.sql
copy:
  - {table: people, columns: [id, name], from: people.csv, header: on, \"null\": \"-\"}
  - {table: people, from: more.tsv}
sql:
  - CREATE INDEX people_name ON people (name)
verify:
  - SELECT count(*) = 4 AND count(name) = 3 FROM people
",
    );
    files.write("schema.sql", "SET search_path = public;\nCREATE TABLE people (id int, name text); -- ;\n");
    files.write("people.csv", "id,name\n1,\"Ada; Lovelace\"\n2,-\n");
    files.write("more.tsv", "3\tGrace\n4\tBarbara\n");
    let (built, _) = provide(&server, &files.load(), "planbook_first");
    assert_eq!(built.record.tables[0].rows, 4);
    let (again, _) = provide(&server, &files.load(), "planbook_second");
    assert!(again.reused);
    files.write("more.tsv", "3\tGrace\n4\tKatherine\n");
    let (edited, notes) = provide(&server, &files.load(), "planbook_third");
    assert!(!edited.reused && notes[0].contains("has changed"), "{notes:?}");
    assert_ne!(edited.record.tables[0].checksum, built.record.tables[0].checksum);
    files.write("more.tsv", "3\tGrace\textra\n");
    let error = dataset::prepare(&server, &files.load(), &mut quiet).unwrap_err();
    assert!(
        matches!(&error, DatasetError::Session { source, .. } if source.to_string().contains("extra data")),
        "{error:?}"
    );
}

#[test]
fn files_that_are_missing_or_reach_further_are_faults_of_the_dataset() {
    let files =
        Files::new("planbook-dataset: 1\nfiles: [gone.sql, roles.sql]\ncopy: {table: t, from: no.csv}\n");
    files.write("roles.sql", "CREATE TABLE t (id int);\nCREATE ROLE somebody;\n");
    let faults = notebook::load_dataset(&files.path(), &[]).unwrap_err();
    let said: Vec<&str> = faults.faults().iter().map(|fault| fault.message.as_str()).collect();
    assert!(said[0].starts_with("`gone.sql` cannot be read"), "{said:?}");
    assert_eq!(said[1], "roles.sql, line 2: CREATE ROLE outlives the notebook: it changes the whole server");
    assert!(said[2].starts_with("`no.csv` cannot be read"), "{said:?}");
    let unknown = [("rwos".to_owned(), "5".to_owned())];
    let events = Files::new(EVENTS);
    let faults = notebook::load_dataset(&events.path(), &unknown);
    assert!(faults.unwrap_err().faults()[0].message.contains("no parameter `rwos`"));
}

#[test]
fn a_long_load_tells_its_rows_and_the_time_left() {
    let server = start(None);
    let files = Files::new(
        "planbook-dataset: 1
sql:
  - CREATE TABLE t (id bigint, a int, b int)
  - INSERT INTO t SELECT g, hashint4(g), g FROM generate_series(1, 2000000) AS g
",
    );
    let mut seen: Vec<Progress> = Vec::new();
    dataset::prepare(&server, &files.load(), &mut |what| {
        if let Watched::Progress(progress) = what {
            seen.push(progress);
        }
        true
    })
    .unwrap();
    let rows: Vec<&Progress> = seen.iter().filter(|one| one.unit == "rows").collect();
    assert!(!rows.is_empty(), "{seen:?}");
    assert!(rows.iter().all(|one| one.of == Some(2_000_000) && one.done <= 2_000_000), "{rows:?}");
    assert!(rows.iter().all(|one| one.left_s.is_some_and(|left| left.is_finite() && left >= 0.0)));
    assert!(rows.windows(2).all(|pair| pair[0].done <= pair[1].done * 2), "{rows:?}");
}
