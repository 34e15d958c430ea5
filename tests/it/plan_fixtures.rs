//! Text and JSON of the same plan are the same tree, for every fixture of PostgreSQL 13 to 18.

use std::path::Path;

use planbook::plan::Plan;
use serde_json::Value;

use crate::plan_same::differences;

fn folder(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A captured case: its name, whether text and JSON are one execution, the text and the JSON.
pub struct Case {
    pub name: String,
    pub one: bool,
    pub text: String,
    pub json: String,
}

/// Every case of `tests/fixtures/plans`.
pub fn cases() -> Vec<Case> {
    let mut out = vec![];
    for major in [15, 16, 17, 18] {
        let file = std::fs::read_to_string(folder("plans").join(format!("{major}.jsonl"))).unwrap();
        for line in file.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            out.push(Case {
                name: format!("{major} {}", text("case")),
                one: line["one"].as_bool().unwrap(),
                text: text("text"),
                json: line["json"].to_string(),
            });
        }
    }
    assert!(out.len() > 600);
    out
}

#[test]
fn one_execution_is_one_tree_field_by_field() {
    let mut wrong = vec![];
    let mut checked = 0;
    for case in cases().into_iter().filter(|case| case.one) {
        let json = Plan::from_json(&case.json).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        match Plan::from_text(&case.text) {
            Ok(text) => wrong
                .extend(differences(&text, &json).into_iter().map(|line| format!("{}: {line}", case.name))),
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
        }
        checked += 1;
    }
    assert!(checked > 300, "{checked}");
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

/// Name, text and JSON of every pair of `tests/fixtures/explain`.
pub fn explain_pairs() -> Vec<(String, String, String)> {
    let mut all = vec![];
    for entry in std::fs::read_dir(folder("explain")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "txt") {
            let read = |ext: &str| std::fs::read_to_string(path.with_extension(ext)).unwrap();
            all.push((path.file_stem().unwrap().to_string_lossy().into_owned(), read("txt"), read("json")));
        }
    }
    all
}

/// Two executions differ in times, in what is cached, and in how workers share the work.
fn can_differ(path: &str) -> bool {
    let clocks = ["Time", "Generation", "Inlining", "Optimization", "Emission", "Total", "Deform"];
    let parallel = path.contains("/Gather")
        && ["Actual Rows", "Rows Removed by Filter", "Actual Loops", "Cache Hits"]
            .iter()
            .any(|name| path.contains(name));
    let name = path.split(": text").next().unwrap_or(path);
    clocks.iter().any(|clock| name.ends_with(clock))
        || name.contains(".Workers.")
        || name.ends_with(" Blocks")
        || name.contains("WAL ")
        || parallel
}

fn pairs() -> Vec<(String, String, String)> {
    // Between two executions a rolled-back UPDATE grows the table, and a sample without a seed is another one.
    let moves = |name: &str| name.contains("update_partitions") || name.contains("sample_system");
    let two = cases()
        .into_iter()
        .filter(|case| !case.one && !moves(&case.name))
        .map(|case| (case.name, case.text, case.json));
    let mut all: Vec<_> = two.collect();
    all.extend(explain_pairs());
    all.sort();
    assert!(all.len() > 250, "{}", all.len());
    all
}

#[test]
fn two_executions_have_the_same_shape_names_conditions_and_fixed_counters() {
    let mut wrong = vec![];
    for (name, text, json) in pairs() {
        let json = Plan::from_json(&json).unwrap_or_else(|error| panic!("{name}: {error}"));
        let text = Plan::from_text(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(text.shape(), json.shape(), "{name}");
        let differing = differences(&text, &json).into_iter().filter(|line| !can_differ(line));
        wrong.extend(differing.map(|line| format!("{name}: {line}")));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

/// Text printed again from what was read is the text that was read, line for line.
#[test]
fn text_is_printed_as_it_was_read() {
    for (name, text) in all_texts() {
        let plan = Plan::from_text(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        pretty_eq(&plan.to_text(), &text, &name);
        let again = Plan::from_text(&plan.to_text()).unwrap();
        assert_eq!(differences(&again, &plan), Vec::<String>::new(), "{name}");
    }
}

/// JSON printed as text is the text of the same execution, down to the last blank, above the summary that the
/// notice does not have.
#[test]
fn json_prints_the_text_of_the_same_execution() {
    for case in cases().into_iter().filter(|case| case.one) {
        let plan = Plan::from_json(&case.json).unwrap();
        let tree = |text: &str| {
            let lines = text.lines().take_while(|line| !line.starts_with("Settings: "));
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        let printed = tree(&plan.to_text());
        pretty_eq(&printed, &tree(&case.text), &case.name);
    }
}

/// JSON of any plan is read again as the same plan.
#[test]
fn json_of_a_text_is_accepted_and_is_the_same_tree() {
    for (name, text) in all_texts() {
        let plan = Plan::from_text(&text).unwrap();
        let json = serde_json::to_string(&[&plan]).unwrap();
        assert_eq!(Plan::paste(&json).unwrap(), plan, "{name}");
    }
}

fn all_texts() -> Vec<(String, String)> {
    let mut all: Vec<_> = pairs().into_iter().map(|(name, text, _)| (name, text)).collect();
    all.extend(cases().into_iter().filter(|case| case.one).map(|case| (case.name, case.text)));
    all
}

/// Text shows a counter as 0 where fewer than half a row a loop was removed; JSON shows every 0.
fn pretty_eq(left: &str, right: &str, name: &str) {
    let rounded = |line: &&str| !(line.trim_start().starts_with("Rows Removed by ") && line.ends_with(": 0"));
    let lines = |text: &str| text.trim_end().lines().filter(rounded).map(str::to_owned).collect::<Vec<_>>();
    let (left, right) = (lines(left), lines(right));
    for (at, (left, right)) in left.iter().zip(&right).enumerate() {
        assert_eq!(left, right.trim_end(), "{name}, line {}", at + 1);
    }
    assert_eq!(left.len(), right.len(), "{name}: number of lines");
}
