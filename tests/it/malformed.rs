//! Malformed notebooks: every fault is named, at its exact place, and nothing else happens.
//!
//! Each file of `tests/fixtures/malformed` is loaded, and the whole text of what is said about it is pinned
//! beside it. After a deliberate change: `INSTA_UPDATE=always cargo test --test it malformed`.

use std::path::{Path, PathBuf};

use miette::{GraphicalReportHandler, GraphicalTheme};
use planbook::notebook::{Faults, Overrides, load};

/// What a terminal without colour shows.
fn shown(faults: &Faults) -> String {
    let mut text = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(110)
        .render_report(&mut text, faults)
        .expect("a report");
    text
}

fn refused(path: &Path, overrides: &Overrides) -> Faults {
    load(path, overrides).expect_err(&path.display().to_string())
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new("tests/fixtures/malformed");
    let mut paths: Vec<PathBuf> =
        folder.read_dir().expect("the fixtures").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
}

#[test]
fn every_fault_of_a_malformed_notebook_is_told() {
    let paths = fixtures();
    assert!(paths.len() >= 40, "only {} fixtures", paths.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../fixtures/malformed");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let faults = refused(&path, &Overrides::default());
        for fault in faults.faults() {
            assert!(fault.help.is_some(), "{name}: no advice for: {}", fault.message);
        }
        settings.bind(|| insta::assert_snapshot!(name, shown(&faults)));
    }
}

#[test]
fn a_file_that_is_no_text_is_refused_up_front() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let said = |path: &Path| {
        let faults = refused(path, &Overrides::default());
        let [fault] = faults.faults() else { panic!("{} faults", faults.faults().len()) };
        let hidden = folder.path().display().to_string();
        format!("{} | {}", fault.message, fault.help.as_deref().unwrap_or_default()).replace(&hidden, "…")
    };
    insta::assert_snapshot!(said(&write("large.yaml", &vec![b'a'; 10 << 20])), @"`…/large.yaml` is larger than 1 MB, which no notebook needs | keep data out of it: generate it in SQL");
    insta::assert_snapshot!(said(&write("latin.yaml", b"planbook: 1\ntitle: caf\xe9\n")), @"`…/latin.yaml` is not UTF-8 text, from line 2 on | save it as UTF-8");
    insta::assert_snapshot!(said(folder.path()), @"`…` is a directory | name one file in it");
    insta::assert_snapshot!(said(&folder.path().join("larg.yaml")), @"there is no file `…/larg.yaml` | did you mean `…/large.yaml`?");
    insta::assert_snapshot!(said(&folder.path().join("no/where.yaml")), @"there is no file `…/no/where.yaml` | there is no directory `…/no` either");
}

#[test]
fn overrides_are_checked_against_the_parameters() {
    let notebook = Path::new("experiments/seq-vs-index.yaml");
    let said = |profile: Option<&str>, set: &[(&str, &str)]| {
        let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let faults = refused(notebook, &Overrides { profile: profile.map(str::to_owned), set });
        let lines = faults
            .faults()
            .iter()
            .map(|fault| format!("{} | {}", fault.message, fault.help.as_deref().unwrap_or_default()));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(said(Some("quikc"), &[]), @"--profile: there is no profile `quikc` | did you mean --profile quick?");
    insta::assert_snapshot!(said(None, &[("rwos", "5")]), @"--set: there is no parameter `rwos` | did you mean `rows`?");
    insta::assert_snapshot!(said(None, &[("rows", "many")]), @"--set: `rows` is a whole number, not `many` | write it like --set rows=5000000");
}
