//! One connection: statements, values, settings, errors, cancelling, capturing.

use std::time::{Duration, Instant};

use planbook::plan::Plan;
use planbook::server::Server;
use planbook::session::{CaptureWay, ExplainOptions, Host, MAX_CAPTURES, Scalar, Session, SessionError};

use crate::support::{connect, other_version, start};

const EVENTS: &str = "CREATE TABLE events AS SELECT g AS id, g % 100 AS user_id, repeat('x', 50) AS pad \
                      FROM generate_series(1, 20000) AS g";

fn pairs(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn sqlstate(error: &SessionError) -> &str {
    error.sql().map_or("", |error| &error.sqlstate)
}

#[test]
fn a_session_on_debians_postgresql() {
    let server = start(None);
    let mut session = connect(&server);
    session.execute(EVENTS).unwrap();
    session.execute("CREATE INDEX events_user_id ON events (user_id)").unwrap();
    session.execute("VACUUM (ANALYZE) events").unwrap();
    statements(&mut session);
    values(&mut session);
    errors(&mut session);
    settings(&mut session);
    copies_end_by_themselves(&mut session);
    cancelling(&mut session);
    captures(&mut session, true);
    functions_at_plan_time(&mut session);
    a_preloaded_library(&server);
    an_unprivileged_role(&server, &mut session);
    a_lost_connection(&server, &mut session);
}

#[test]
fn captures_on_16_take_two_executions() {
    versions(16, false);
}

#[test]
fn captures_on_17() {
    versions(17, true);
}

#[test]
fn captures_on_18() {
    versions(18, true);
}

fn versions(major: u32, auto_explain: bool) {
    let Some(bindir) = other_version(major) else { return };
    let server = start(Some(bindir));
    let mut session = connect(&server);
    assert_eq!(session.server_version_num() / 10_000, major);
    session.execute(EVENTS).unwrap();
    session.execute("CREATE INDEX events_user_id ON events (user_id)").unwrap();
    session.execute("VACUUM (ANALYZE) events").unwrap();
    a_first_capture_inside_a_transaction(&server, auto_explain);
    captures(&mut session, auto_explain);
    let options = ExplainOptions { serialize: true, memory: true, ..ExplainOptions::default() };
    let capture = session.capture("SELECT pad FROM events", &options);
    if major >= 17 {
        let capture = capture.unwrap();
        assert!(capture.text.contains("Serialization:"), "{}", capture.text);
        assert!(capture.plan.property("Serialization").is_some(), "{:?}", capture.plan.properties());
    } else {
        assert!(matches!(capture, Err(SessionError::TooOld { needs: 17, .. })));
    }
}

/// LOAD of a library that is not there fails, and must not take the transaction with it.
fn a_first_capture_inside_a_transaction(server: &Server, auto_explain: bool) {
    let mut session = connect(server);
    session.execute("BEGIN").unwrap();
    session.execute("DROP INDEX events_user_id").unwrap();
    let query = "SELECT id FROM events WHERE user_id = 5";
    let capture = session.capture(query, &ExplainOptions::default()).unwrap();
    assert_eq!(capture.executions == CaptureWay::One, auto_explain, "{:?}", capture.executions);
    assert_eq!(capture.plan.root.node_type(), "Seq Scan", "the DDL before it still holds");
    assert!(session.in_transaction());
    session.execute("ROLLBACK").unwrap();
    // In a transaction that had failed already, the failure is told, and nothing is learnt of the library.
    let mut session = connect(server);
    session.execute("BEGIN").unwrap();
    session.execute("SELECT 1 / 0").unwrap_err();
    assert_eq!(sqlstate(&session.capture(query, &ExplainOptions::default()).unwrap_err()), "25P02");
    session.execute("ROLLBACK").unwrap();
    assert_eq!(session.has_auto_explain().unwrap(), auto_explain);
}

fn statements(session: &mut Session) {
    let inserted = session.execute("INSERT INTO events SELECT 0, 0, '' FROM generate_series(1, 5);").unwrap();
    assert_eq!((inserted.tag.as_str(), inserted.rows), ("INSERT 0 5", Some(5)));
    assert!(inserted.duration_ms > 0.0);
    let deleted = session.execute("/* why */ DELETE FROM events WHERE id = 0 -- done").unwrap();
    assert_eq!((deleted.tag.as_str(), deleted.rows), ("DELETE 5", Some(5)));
    let created = session.execute("CREATE INDEX IF NOT EXISTS events_user_id ON events (user_id)").unwrap();
    assert_eq!((created.tag.as_str(), created.rows), ("CREATE INDEX", None));
    assert_eq!(created.notices[0].severity, "NOTICE");
    assert!(created.notices[0].message.contains("already exists"), "{:?}", created.notices);
    for (sql, count) in [("SELECT 1; SELECT 2", 2), ("-- nothing", 0), ("", 0)] {
        match session.execute(sql) {
            Err(SessionError::Statements { count: said }) => assert_eq!(said, count, "{sql}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
    let rows = session.query_rows("VALUES (1, 'ü'), (NULL, '')").unwrap();
    assert_eq!(rows[0], [Some("1".to_owned()), Some("ü".to_owned())]);
    assert_eq!(rows[1], [None, Some(String::new())]);
    assert_eq!(
        session
            .query_rows("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")
            .unwrap(),
        [[Some(format!("planbook {}", std::process::id()))]]
    );
}

fn values(session: &mut Session) {
    for (sql, value) in [
        ("SELECT 5", Some(Scalar::Integer(5))),
        ("SELECT count(*) FROM events", Some(Scalar::Integer(20_000))),
        ("SELECT 2.50", Some(Scalar::Float(2.5))),
        ("SELECT avg(x) FROM (VALUES (1), (3)) AS v (x)", Some(Scalar::Integer(2))),
        ("SELECT 1e-3::float8", Some(Scalar::Float(0.001))),
        ("SELECT 1 < 2", Some(Scalar::Boolean(true))),
        ("SELECT 'a'", Some(Scalar::Text("a".to_owned()))),
        ("SELECT NULL::int", None),
    ] {
        assert_eq!(session.scalar(sql).unwrap(), value, "{sql}");
    }
    let pid = session.scalar("SELECT pg_backend_pid()").unwrap();
    assert_eq!(pid, Some(Scalar::Integer(i64::from(session.backend_pid()))));
    for (sql, rows, columns) in [
        ("SELECT 1, 2", 1, 2),
        ("VALUES (1), (2)", 2, 1),
        ("SELECT 1 WHERE false", 0, 1),
        ("ANALYZE events", 0, 0),
    ] {
        match session.scalar(sql) {
            Err(SessionError::NotScalar { rows: r, columns: c }) => {
                assert_eq!((r, c), (rows, columns), "{sql}")
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
}

fn errors(session: &mut Session) {
    let error = session.execute("SELECT 'ü', nope FROM events").unwrap_err();
    let sql = error.sql().unwrap();
    assert_eq!((sql.sqlstate.as_str(), sql.position), ("42703", Some(13)));
    assert_eq!(sql.statement, "SELECT 'ü', nope FROM events");
    assert!(!error.is_environment());
    // The prefix that a capture puts before the statement does not move the caret.
    for error in [
        session.explain(" SELECT 'ü', nope FROM events").unwrap_err(),
        session.capture("SELECT 'ü', nope FROM events", &ExplainOptions::default()).unwrap_err(),
    ] {
        let sql = error.sql().unwrap();
        assert_eq!((sql.position, sql.statement.as_str()), (Some(13), "SELECT 'ü', nope FROM events"));
    }
    let hinted = session.execute("SELECT user_idd FROM events").unwrap_err();
    assert!(hinted.sql().unwrap().hint.as_ref().is_some_and(|hint| hint.contains("user_id")));
    session
        .execute(
            "CREATE FUNCTION broken() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT 1 / 0); END $$",
        )
        .unwrap();
    let inside = session.execute("SELECT broken()").unwrap_err();
    let inside = inside.sql().unwrap();
    assert_eq!(inside.sqlstate, "22012");
    assert!(inside.context.as_ref().is_some_and(|context| context.contains("broken()")), "{inside:?}");
    let late = session.time("SELECT 1 / (20000 - id) FROM events ORDER BY id").unwrap_err();
    assert_eq!(sqlstate(&late), "22012");
    assert!(matches!(session.time("SELECT 1; SELECT 2"), Err(SessionError::Statements { count: 2 })));
    assert!(matches!(session.execute("SELECT '\0'"), Err(SessionError::Unsendable(_))));
    assert_eq!(session.scalar("SELECT 1").unwrap(), Some(Scalar::Integer(1)));
}

fn settings(session: &mut Session) {
    let in_force = session
        .set(&pairs(&[("work_mem", "65536kB"), ("enable_seqscan", "false"), ("random_page_cost", "1.10")]))
        .unwrap();
    assert_eq!(
        in_force,
        pairs(&[("work_mem", "64MB"), ("enable_seqscan", "off"), ("random_page_cost", "1.1")])
    );
    assert!(!session.explain("SELECT * FROM events WHERE user_id = 5").unwrap().tree().contains("Seq Scan"));
    session.reset(&["work_mem", "enable_seqscan", "random_page_cost"]).unwrap();
    assert_eq!(session.scalar("SHOW enable_seqscan").unwrap(), Some(Scalar::Text("on".to_owned())));
    for (name, value, state) in [
        ("enabel_seqscan", "off", "42704"),
        ("work_mem", "64XB", "22023"),
        ("shared_buffers", "1GB", "55P02"),
        ("enable_seqscan", "perhaps", "22023"),
    ] {
        let error = session.set(&pairs(&[("jit", "off"), (name, value)])).unwrap_err();
        assert_eq!(sqlstate(&error), state, "{name}: {error}");
        assert!(error.sql().unwrap().statement.contains(&format!("SET {name} = '{value}'")));
    }
    // One refused setting leaves none of them set.
    session.reset(&["jit"]).unwrap();
    let unknown = session.set(&pairs(&[("pg_hint_plan.enable_hint", "on")])).unwrap_err();
    assert!(matches!(unknown, SessionError::Setting { .. }), "{unknown}");
    session.reset(&["pg_hint_plan.enable_hint"]).unwrap();
    assert!(session.set(&[]).unwrap().is_empty());
}

fn copies_end_by_themselves(session: &mut Session) {
    let copied = session.execute("COPY (SELECT id FROM events LIMIT 7) TO STDOUT").unwrap();
    assert_eq!(copied.rows, Some(7));
    let error = session.execute("COPY events FROM STDIN").unwrap_err();
    assert!(matches!(error, SessionError::NoCopyData) && !error.is_cancelled(), "{error}");
    assert_eq!(session.scalar("SELECT 1").unwrap(), Some(Scalar::Integer(1)));
}

fn cancelling(session: &mut Session) {
    let canceller = session.canceller();
    let started = Instant::now();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        canceller.cancel()
    });
    let error = session.time("SELECT pg_sleep(60)").unwrap_err();
    thread.join().unwrap().unwrap();
    assert!(error.is_cancelled() && !error.is_environment(), "{error}");
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(session.scalar("SELECT 1").unwrap(), Some(Scalar::Integer(1)));
}

/// What must hold of captures on every version.
fn captures(session: &mut Session, one: bool) {
    let sql = "SELECT id FROM events WHERE user_id = 5";
    let settled = session.capture_settled(sql, &ExplainOptions::default(), MAX_CAPTURES).unwrap();
    assert!(settled.agreed && settled.captures.len() >= 2);
    for capture in &settled.captures {
        match &capture.executions {
            CaptureWay::One => assert!(one),
            CaptureWay::Two { why } => assert!(!one && why.contains("auto_explain"), "{why}"),
        }
        assert!(capture.text.contains("Buffers: shared hit="), "{}", capture.text);
        assert!(capture.text.lines().last().is_some_and(|line| line.starts_with("Execution Time: ")));
        assert_eq!(Plan::from_json(&capture.json).unwrap().root, capture.plan.root);
        assert!(capture.plan.planning_time().is_some() && capture.plan.execution_time().is_some());
        assert_eq!(capture.plan.root.rows(), Some(200.0));
        if one {
            // The very same execution: the clock readings are the same to the digit.
            let time = capture.plan.root.number("Actual Total Time").unwrap();
            assert!(
                capture.text.lines().next().unwrap().contains(&format!("..{time:.3} ")),
                "{}",
                capture.text
            );
        }
    }
    assert_eq!(settled.last().unwrap().plan.shape(), session.explain(sql).unwrap().shape());

    session.set(&pairs(&[("enable_bitmapscan", "off"), ("enable_seqscan", "off")])).unwrap();
    let quick = ExplainOptions { timing: false, verbose: true, wal: false, ..ExplainOptions::default() };
    let capture = session.capture(&format!("{sql} -- why\n;"), &quick).unwrap();
    session.reset(&["enable_bitmapscan", "enable_seqscan"]).unwrap();
    assert_eq!(capture.plan.root.node_type(), "Index Scan");
    assert_eq!(capture.plan.root.number("Actual Total Time"), None);
    assert!(capture.text.contains("Output: id"), "{}", capture.text);
    assert!(capture.text.contains("Settings: enable_bitmapscan = 'off'"), "{}", capture.text);
    assert_eq!(capture.plan.settings().count(), 2);

    match session.capture("SELECT 1; SELECT 2", &quick) {
        Err(SessionError::Statements { count: 2 }) => {}
        other => panic!("{other:?}"),
    }
    let written = session.capture("UPDATE events SET pad = pad WHERE id <= 3", &ExplainOptions::default());
    if one {
        let written = written.unwrap();
        assert!(written.plan.root.number("WAL Records").is_some_and(|records| records >= 3.0));
        assert!(written.text.contains("WAL: records="), "{}", written.text);
    } else {
        assert!(matches!(written, Err(SessionError::Capture(_))), "{written:?}");
    }
    large_plans_arrive_whole(session);
    the_plan_of_timed_executions_is_not_logged(session);
}

fn large_plans_arrive_whole(session: &mut Session) {
    let long = "x".repeat(2_000_000);
    let sql = format!("SELECT id FROM events WHERE pad <> '{long}' AND id <= 7");
    let capture = session.capture(&sql, &ExplainOptions::default()).unwrap();
    assert_eq!(capture.plan.root.rows(), Some(7.0));
    assert!(capture.text.len() > 2_000_000 && capture.json.len() > 2_000_000);
}

fn the_plan_of_timed_executions_is_not_logged(session: &mut Session) {
    assert!(session.time("SELECT count(*) FROM events").unwrap() > 0.0);
    let quiet = session.execute("SELECT count(*) FROM events").unwrap();
    assert_eq!(quiet.notices, []);
    if let Ok(Some(value)) = session.scalar("SELECT current_setting('auto_explain.log_min_duration', true)") {
        assert!(value == Scalar::Text("-1".to_owned()) || value == Scalar::Text(String::new()), "{value:?}");
    }
    assert_eq!(session.scalar("SHOW client_min_messages").unwrap(), Some(Scalar::Text("notice".to_owned())));
}

/// A function that the planner evaluates sends the plan of its own statement first.
fn functions_at_plan_time(session: &mut Session) {
    session
        .execute(
            "CREATE FUNCTION fifth() RETURNS int LANGUAGE plpgsql IMMUTABLE AS \
             $$ BEGIN RETURN (SELECT user_id FROM events WHERE id = 5); END $$",
        )
        .unwrap();
    let capture =
        session.capture("SELECT id FROM events WHERE user_id = fifth()", &ExplainOptions::default()).unwrap();
    assert_eq!(capture.plan.root.rows(), Some(200.0));
    // In a transaction that is rolled back, as around an arm's DDL.
    session.execute("BEGIN").unwrap();
    session.execute("DROP INDEX events_user_id").unwrap();
    assert!(session.in_transaction());
    let capture =
        session.capture("SELECT id FROM events WHERE user_id = 5", &ExplainOptions::default()).unwrap();
    assert_eq!(capture.plan.root.node_type(), "Seq Scan");
    session.capture("SELECT 1 / 0", &ExplainOptions::default()).unwrap_err();
    session.execute("ROLLBACK").unwrap();
    assert!(!session.in_transaction());
    the_plan_of_timed_executions_is_not_logged(session);
}

/// Someone else's server that logs every plan: timing turns it off, or says that it cannot.
fn a_preloaded_library(server: &Server) {
    let mut session = connect(server);
    session.execute("ALTER DATABASE postgres SET session_preload_libraries = auto_explain").unwrap();
    session.execute("ALTER DATABASE postgres SET auto_explain.log_min_duration = 0").unwrap();
    session.execute("CREATE ROLE guest LOGIN").unwrap();
    let mut owner = connect(server);
    owner.time("SELECT 1").unwrap();
    the_plan_of_timed_executions_is_not_logged(&mut owner);
    let mut endpoint = server.endpoint().clone();
    endpoint.user = "guest".to_owned();
    let mut guest = Session::connect(&endpoint, "postgres").unwrap();
    assert!(matches!(guest.time("SELECT 1"), Err(SessionError::Instrumented(_))));
    session.execute("ALTER DATABASE postgres RESET ALL").unwrap();
}

fn an_unprivileged_role(server: &Server, session: &mut Session) {
    session.execute("GRANT SELECT ON events TO guest").unwrap();
    let mut endpoint = server.endpoint().clone();
    endpoint.user = "guest".to_owned();
    let mut guest = Session::connect(&endpoint, "postgres").unwrap();
    let capture = guest.capture("SELECT count(*) FROM events", &ExplainOptions::default()).unwrap();
    assert!(matches!(capture.executions, CaptureWay::Two { .. }));
    assert_eq!(capture.plan.root.rows(), Some(1.0));
}

fn a_lost_connection(server: &Server, session: &mut Session) {
    let mut victim = connect(server);
    session.execute(&format!("SELECT pg_terminate_backend({})", victim.backend_pid())).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(victim.time("SELECT 1").unwrap_err().is_environment());
    assert!(victim.execute("SELECT 1").unwrap_err().is_environment());
    let missing = Session::connect(server.endpoint(), "nowhere").unwrap_err();
    assert_eq!(sqlstate(&missing), "3D000");
    let mut endpoint = server.endpoint().clone();
    endpoint.host = Host::Socket("/nowhere".into());
    assert!(Session::connect(&endpoint, "postgres").unwrap_err().is_environment());
}
