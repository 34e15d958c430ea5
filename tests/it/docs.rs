//! Every YAML snippet of the docs is read; those marked `refused` are refused.

use std::path::Path;

use planbook::metric::{Metric, Nature};
use planbook::notebook::{Faults, Notebook, Overrides, Source, load_text};

/// A fenced block: what stands after the backticks, and its text.
fn snippets(markdown: &str) -> Vec<(String, String)> {
    let mut snippets = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in markdown.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.to_owned(), String::new())),
            (Some(_), Some(_)) => snippets.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    snippets
}

/// What a snippet of steps may refer to.
const SCAFFOLD: &str = "planbook: 1
title: A snippet
params: {n: 3}
profiles: {quick: {n: 1}}
steps:
- let: {lo: {expr: 1}, hi: {expr: lo + 1}}
- measure: {id: before, query: SELECT 1}
- measure: {id: after, like: before}
- measure: {id: toggles, query: SELECT 1, arms: {on: {}, off: {settings: {jit: off}}}}
";

const SQUARES: &str = "planbook-dataset: 1\nparams: {rows: 1}\nsql: SELECT {{ rows }}\n";

fn read(snippet: &str) -> Result<Notebook, Faults> {
    let (notebook, dataset) = if snippet.starts_with("planbook-dataset:") {
        ("planbook: 1\ntitle: A snippet\nsteps: []\ndataset: {file: x.yaml}\n".to_owned(), snippet)
    } else if snippet.starts_with("planbook:") {
        (snippet.to_owned(), SQUARES)
    } else if snippet.starts_with('-') {
        (format!("{SCAFFOLD}{snippet}"), SQUARES)
    } else {
        (format!("planbook: 1\ntitle: A snippet\nsteps: []\n{snippet}"), SQUARES)
    };
    let dataset = Source::new("dataset.yaml", dataset);
    load_text("snippet", Source::new("snippet.yaml", notebook), Some(dataset), &Overrides::default())
}

#[test]
fn snippets_of_the_language_are_what_the_page_says() {
    let page = std::fs::read_to_string("docs/notebook.md").expect("the page");
    let (mut valid, mut refused) = (0, 0);
    for (info, snippet) in snippets(&page) {
        let outcome = read(&snippet);
        match info.as_str() {
            "yaml" => {
                assert!(outcome.is_ok(), "{snippet}\n{:?}", outcome.err());
                valid += 1;
            }
            "yaml refused" => {
                assert!(outcome.is_err(), "this is not refused:\n{snippet}");
                refused += 1;
            }
            _ => {}
        }
    }
    assert!(valid >= 15 && refused >= 4, "{valid} valid, {refused} refused");
}

fn metrics_table() -> String {
    let mut table = String::from("| metric | kind | what it is |\n|---|---|---|\n");
    for metric in Metric::ALL {
        let kind = match metric.nature() {
            Nature::Counter => "counter",
            Nature::SingleTime => "single time, ms",
            Nature::Timing => "timing, ms",
            Nature::Size => "size, bytes",
        };
        table.push_str(&format!("| `{metric}` | {kind} | {} |\n", metric.doc()));
    }
    table
}

/// After a new metric: `PLANBOOK_WRITE_DOCS=1 cargo test --test it docs`.
#[test]
fn the_table_of_metrics_is_the_catalogue() {
    let path = Path::new("docs/notebook.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (begin, end) = ("<!-- metrics: begin -->\n", "<!-- metrics: end -->");
    let (before, rest) = page.split_once(begin).expect("the beginning of the table");
    let (table, after) = rest.split_once(end).expect("the end of the table");
    if std::env::var_os("PLANBOOK_WRITE_DOCS").is_some() {
        std::fs::write(path, format!("{before}{begin}{}{end}{after}", metrics_table())).expect("the page");
        return;
    }
    assert_eq!(table, metrics_table(), "docs/notebook.md is stale");
}
