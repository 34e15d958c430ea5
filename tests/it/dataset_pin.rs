//! Pinned statistics: two builds of one dataset plan from the same numbers, on every version.

use std::path::{Path, PathBuf};

use planbook::dataset::{self, Built, DatasetError, Pin};
use planbook::notebook::{self, Dataset, Statistics};
use planbook::server::Server;
use planbook::session::Session;

use crate::support::{other_version, start};

/// Columns of every kind of statistics; ANALYZE samples 3,000 of the 40,000 rows.
const DATASET: &str = "planbook-dataset: 1
sql:
  - |
    CREATE TABLE t (id int PRIMARY KEY, skewed int, \"Mixed, name\" varchar(20), tags text[], span int4range,
      at timestamptz)
  - ALTER TABLE t ALTER skewed SET STATISTICS 10
  - |
    INSERT INTO t SELECT g, (sqrt(hashint4(g)::bigint & 1048575))::int, 'it''s \\ ' || g % 977,
      ARRAY['a' || g % 7, 'b' || g % 31], int4range(g % 100, g % 100 + g % 9),
      timestamptz '2026-01-01' + g * interval '1 minute'
    FROM generate_series(1, 40000) AS g
  - CREATE INDEX t_expression ON t ((skewed % 50))
EXTENDEDstatistics: pinned
";

const EXTENDED: &str =
    "  - CREATE STATISTICS t_both (ndistinct, dependencies, mcv) ON skewed, \"Mixed, name\" FROM t
";

const QUERIES: [&str; 5] = [
    "SELECT * FROM t WHERE skewed = 900",
    "SELECT * FROM t WHERE \"Mixed, name\" < 'it''s \\ 5' AND skewed > 777",
    "SELECT * FROM t WHERE tags @> ARRAY['b3']",
    "SELECT * FROM t WHERE span && int4range(5, 7)",
    "SELECT * FROM t WHERE skewed % 50 = 7 AND at > '2026-01-09'",
];

fn write(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("d.yaml");
    std::fs::write(&path, text).unwrap();
    path
}

/// The statistics settings scale the sample: a small target makes two samples differ for sure.
fn dataset(path: &Path, statistics: Statistics) -> Dataset {
    Dataset { statistics, ..notebook::load_dataset(path, &[]).unwrap() }
}

/// Builds from nothing; what was built, and what the planner makes of it.
fn build(server: &Server, dataset: &Dataset) -> Result<(Built, Vec<String>), DatasetError> {
    for (name, _) in server.databases().unwrap() {
        server.drop_database(&name).unwrap();
    }
    let built = dataset::provide(server, dataset, "planbook_clone", &mut |_| true)?;
    let mut session = Session::connect(server.endpoint(), "planbook_clone").unwrap();
    let mut plans = Vec::new();
    for query in QUERIES {
        let rows = session.query_rows(&format!("EXPLAIN {query}")).unwrap();
        plans.extend(rows.into_iter().flatten().flatten());
    }
    Ok((built, plans))
}

fn pin(server: &Server, dataset: &Dataset) {
    let mut session = Session::connect(server.endpoint(), "planbook_clone").unwrap();
    dataset::write_pin(&Pin::take(&mut session, dataset).unwrap(), dataset).unwrap();
}

/// Two sampled builds differ, so the test could fail; two pinned ones agree to the last digit.
fn agrees(bindir: Option<PathBuf>, folder: &Path, text: &str) -> Vec<String> {
    let server = start(bindir);
    let path = write(folder, text);
    let (one, plans) = build(&server, &dataset(&path, Statistics::Sampled)).unwrap();
    let (other, other_plans) = build(&server, &dataset(&path, Statistics::Sampled)).unwrap();
    assert_ne!(one.record.fingerprint.statistics, other.record.fingerprint.statistics);
    assert_ne!(plans, other_plans, "without the pin the costs differ");
    if !dataset(&path, Statistics::Pinned).pin_path().exists() {
        pin(&server, &dataset(&path, Statistics::Pinned));
        let (pinned, pinned_plans) = build(&server, &dataset(&path, Statistics::Pinned)).unwrap();
        assert_eq!(pinned_plans, other_plans, "the pin brings back what it was taken of");
        assert_eq!(pinned.record.fingerprint.extended, other.record.fingerprint.extended);
    }
    let (one, plans) = build(&server, &dataset(&path, Statistics::Pinned)).unwrap();
    let (other, other_plans) = build(&server, &dataset(&path, Statistics::Pinned)).unwrap();
    assert!(one.record.pinned);
    assert_eq!(one.record.fingerprint, other.record.fingerprint);
    assert_eq!(plans, other_plans);
    server.stop().unwrap();
    plans
}

fn plain() -> String {
    DATASET.replace("EXTENDED", "")
}

#[test]
fn two_builds_plan_alike_on_15() {
    agrees(None, tempfile::tempdir().unwrap().path(), &DATASET.replace("EXTENDED", EXTENDED));
}

#[test]
fn two_builds_plan_alike_on_16_to_18_also_from_a_pin_of_15() {
    let folder = tempfile::tempdir().unwrap();
    agrees(None, folder.path(), &plain());
    for major in [16, 17, 18] {
        let Some(bindir) = other_version(major) else { continue };
        agrees(Some(bindir.clone()), folder.path(), &plain());
        let own = tempfile::tempdir().unwrap();
        agrees(Some(bindir), own.path(), &DATASET.replace("EXTENDED", EXTENDED));
    }
}

#[test]
fn a_pin_that_no_longer_fits_is_an_error() {
    let server = start(None);
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &plain());
    build(&server, &dataset(&path, Statistics::Sampled)).unwrap();
    pin(&server, &dataset(&path, Statistics::Pinned));
    for (from, to, says) in [
        ("1, 40000)", "1, 44000)", "public.t has"),
        ("skewed int,", "skewed bigint,", "public.t"),
        ("at timestamptz)", "at timestamptz, more int)", "more integer, and had"),
        (
            "  - CREATE INDEX t_expression ON t ((skewed % 50))\n",
            "",
            "there is no public.t_expression any more",
        ),
        (
            "statistics: pinned",
            "  - CREATE TABLE u (id int)\nstatistics: pinned",
            "it knows nothing of public.u",
        ),
        ("planbook-dataset: 1", "planbook-dataset: 1\nparams: {rows: 5}", "it holds no pin for rows=5"),
    ] {
        write(folder.path(), &plain().replace(from, to));
        match build(&server, &dataset(&path, Statistics::Pinned)) {
            Err(error @ DatasetError::Pin { .. }) => assert!(error.to_string().contains(says), "{error}"),
            other => panic!("{to}: {other:?}"),
        }
    }
    std::fs::remove_file(dataset(&path, Statistics::Pinned).pin_path()).unwrap();
    let error = build(&server, &dataset(&path, Statistics::Pinned)).unwrap_err();
    assert!(matches!(error, DatasetError::Pin { .. }), "{error}");
}
