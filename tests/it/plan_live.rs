//! Text and JSON of one execution are one tree, on the servers at hand: every case of `tests/fixtures/plans`, run anew.

use planbook::plan::Plan;
use planbook::session::{CaptureWay, ExplainOptions, Session};
use planbook::sql::{modifies_data, split_statements};

use crate::plan_same::differences;
use crate::support::{connect, other_version, start};

#[test]
fn one_execution_is_one_tree_on_debians_postgresql() {
    on(None, 15, true);
}

#[test]
fn two_executions_have_one_shape_on_16() {
    on(other_version(16), 16, false);
}

#[test]
fn one_execution_is_one_tree_on_17() {
    on(other_version(17), 17, true);
}

#[test]
fn one_execution_is_one_tree_on_18() {
    on(other_version(18), 18, true);
}

fn on(bindir: Option<std::path::PathBuf>, major: u32, one: bool) {
    if bindir.is_none() && major != 15 {
        return;
    }
    let server = start(bindir);
    let mut session = connect(&server);
    for statement in split_statements(include_str!("../fixtures/plans/setup.sql")).unwrap() {
        session.execute(&statement.text).unwrap_or_else(|error| panic!("{}: {error}", statement.text));
    }
    session.execute("CREATE TEMP TABLE tmp AS SELECT g a, g % 5 b FROM generate_series(1, 500) g").unwrap();
    // Outside a transaction: a LOAD that fails would end it.
    assert_eq!(session.has_auto_explain().unwrap(), one);
    let plain = ExplainOptions::default();
    let all = [
        plain,
        ExplainOptions { verbose: true, wal: false, ..plain },
        ExplainOptions { timing: false, wal: false, ..plain },
        ExplainOptions { serialize: major >= 17, memory: major >= 17, ..plain },
    ];
    let mut wrong = vec![];
    let mut compared = 0;
    // What changes data cannot be run twice.
    let usable = cases(major).into_iter().filter(|case| one || !modifies_data(&case.sql));
    for (number, case) in usable.enumerate() {
        let old = session.set(&case.settings).unwrap();
        // Each case with the usual options, and with one other combination in turn.
        for options in [plain, all[1 + number % 3]] {
            compared += 1;
            wrong.extend(compare(&mut session, &case, &options, one));
        }
        session.set(&old).unwrap();
    }
    assert!(compared > 130, "{compared}");
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

fn compare(session: &mut Session, case: &Case, options: &ExplainOptions, one: bool) -> Vec<String> {
    let name = &case.name;
    // What a statement changes is taken back.
    session.execute("BEGIN").unwrap();
    let capture = session.capture(&case.sql, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    session.execute("ROLLBACK").unwrap();
    assert_eq!(capture.executions == CaptureWay::One, one, "{name}: {:?}", capture.executions);
    let text =
        Plan::from_text(&capture.text).unwrap_or_else(|error| panic!("{name}: {error}\n{}", capture.text));
    assert_eq!(text.shape(), capture.plan.shape(), "{name}");
    if !one {
        return vec![];
    }
    assert_eq!(text.planning_time(), capture.plan.planning_time(), "{name}");
    assert_eq!(text.execution_time(), capture.plan.execution_time(), "{name}");
    assert_eq!(text.planning_blocks(), capture.plan.planning_blocks(), "{name}\n{}", capture.text);
    differences(&text, &capture.plan).into_iter().map(|line| format!("{name}: {line}")).collect()
}

struct Case {
    name: String,
    settings: Vec<(String, String)>,
    sql: String,
}

/// The cases that need neither another server nor a prepared statement.
fn cases(major: u32) -> Vec<Case> {
    let mut out: Vec<Case> = vec![];
    for line in include_str!("../fixtures/plans/cases.sql").lines().skip(1) {
        match line.strip_prefix("-- ") {
            Some(head) => {
                let name = head.split(' ').next().unwrap_or_default().to_owned();
                out.push(Case { name, settings: settings(head, major), sql: String::new() });
            }
            None => {
                let case = out.last_mut().unwrap();
                case.sql.push_str(line);
                case.sql.push('\n');
            }
        }
    }
    let foreign = |name: &str| name.contains("fdw") || name == "async";
    let new = |name: &str| name == "json_table" && major < 17;
    out.retain(|case| {
        !foreign(&case.name) && !new(&case.name) && !case.sql.contains("EXECUTE") && case.name != "xmltable"
    });
    out
}

fn settings(head: &str, major: u32) -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut out = vec![pair("max_parallel_workers_per_gather", "0"), pair("jit", "off")];
    let list = head.split_once('[').map_or("", |(_, list)| list.trim_end_matches(']'));
    for (name, value) in list.split(", ").filter_map(|setting| setting.split_once(" = ")) {
        let forced = if major >= 16 { "debug_parallel_query" } else { "force_parallel_mode" };
        let name = if name == "FORCE_PARALLEL" { forced } else { name };
        out.retain(|(old, _)| old != name);
        out.push(pair(name, value.trim_matches('\'')));
    }
    out
}
