//! Whatever stands in a file, reading it ends, without a panic, in a notebook or in faults with true places.

use std::path::Path;

use miette::{GraphicalReportHandler, GraphicalTheme};
use planbook::notebook::{Overrides, Source, load_text};
use proptest::prelude::*;

fn read(text: &str) {
    let source = Source::new("hostile.yaml", text);
    let Err(faults) = load_text("hostile", source, None, &Overrides::default()) else { return };
    assert!(!faults.faults().is_empty());
    for fault in faults.faults() {
        assert!(fault.line <= text.lines().count() + 1, "{fault:?}");
    }
    let mut shown = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    handler.render_report(&mut shown, &faults).expect("a report");
}

/// The malformed fixtures and the shipped notebooks.
fn texts() -> Vec<String> {
    let folders = ["tests/fixtures/malformed", "experiments", "experiments/datasets"];
    let mut paths: Vec<_> = folders
        .iter()
        .flat_map(|folder| Path::new(folder).read_dir().expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}

#[test]
fn any_beginning_of_a_file_can_be_read() {
    for text in texts() {
        let step = (text.len() / 40).max(1);
        for end in (0..text.len()).step_by(step).filter(|end| text.is_char_boundary(*end)) {
            read(&text[..end]);
        }
    }
}

#[test]
fn line_ends_and_byte_order_marks_change_nothing() {
    let text = std::fs::read_to_string("tests/fixtures/malformed/several_faults.yaml").expect("a text");
    let faults = |text: &str| {
        let faults = load_text("x", Source::new("x", text), None, &Overrides::default()).expect_err("faults");
        faults.faults().iter().map(|fault| (fault.line, fault.message.clone())).collect::<Vec<_>>()
    };
    let plain = faults(&text);
    assert_eq!(faults(&text.replace('\n', "\r\n")), plain);
    assert_eq!(faults(&format!("\u{feff}{text}")), plain);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_can_be_read(text in "\\PC{0,200}") {
        read(&text);
    }

    #[test]
    fn any_heap_of_yaml_can_be_read(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        read(&format!("planbook: 1\ntitle: t\n{}", pieces.concat()));
    }

    #[test]
    fn any_change_of_a_notebook_can_be_read(at in 0_usize..8000, length in 0_usize..40, with in "[-{}\\[\\]:,|>&*#'\"%@`a-z0-9\n ]{0,6}") {
        let mut text = std::fs::read_to_string("experiments/seq-vs-index.yaml").expect("a text");
        let start = at.min(text.len());
        let end = (start + length).min(text.len());
        if text.is_char_boundary(start) && text.is_char_boundary(end) {
            text.replace_range(start..end, &with);
        }
        read(&text);
    }
}

/// What notebooks are made of, and what breaks them.
const PIECES: &[&str] = &[
    "steps:\n",
    "  - ",
    "measure: ",
    "{id: a, ",
    "query: SELECT 1",
    "}",
    "\n",
    "like: a",
    "arms:",
    "expect: ",
    "plan: ",
    "Seq Scan on t",
    "when: ",
    "[",
    "]",
    "{",
    "{{ a }}",
    "{% if a %}",
    "|\n",
    ">\n",
    "    ",
    "&x ",
    "*x",
    "<<: ",
    "#",
    "'",
    "\"",
    ": ",
    ", ",
    "check: ",
    "a.rows",
    " > 0",
    "table: ",
    "of: ",
    "columns: ",
    "params: ",
    "n: 5",
    "profiles: ",
    "settings: ",
    "dataset: ",
    "sql: ",
    "BEGIN;",
    "text: ",
    "let: ",
    "vacuum: ",
    "~",
    "null",
    "---",
    "!!str ",
    "? ",
    "\t",
    "é",
    "\u{1F600}",
];
