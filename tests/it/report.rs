//! Reports as people read them: what did not hold stands first, plans are trees, the index leads to all.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::project::{Project, files, said};

const PLACE: &str = "results/story/local-15";

/// A pass, a failure, a claim that two turns cannot decide, a step that fails and one that is not run; plans before and after
/// an index.
pub const STORY: &str = r#"planbook: 1
title: A story with every ending
summary: It has a pass, a failure, what is undecided, and what was never run.
tags: [one, two]
dataset:
  sql:
    - CREATE TABLE t AS SELECT g AS id, g % 7 AS k FROM generate_series(1, 20000) AS g
    - CREATE TABLE u AS SELECT g AS id FROM generate_series(1, 500) AS g
steps:
  - text: |
      ## Before

      The scan touched {{ scan.blocks }} blocks.
  - measure:
      id: scan
      label: without an index
      reps: 10
      query: SELECT * FROM t JOIN u USING (id) WHERE k = 3
      expect: {rows: 72, blocks: "> 0"}
  - sql: CREATE INDEX t_id ON t (id); CREATE INDEX t_k ON t (k)
  - analyze: [t, u]
  - measure:
      id: lookup
      label: with one
      reps: 10
      query: SELECT * FROM t WHERE id = 7
      expect:
        plan: Seq Scan on t
  - measure:
      id: same
      like: scan
      arms:
        one: {}
        other: {settings: {enable_hashjoin: off}}
  - measure:
      id: short
      query: SELECT count(*) FROM t
      reps: 2
      turns: 2
      arms: {one: {}, other: {}}
  - check: [short.one.median < short.other.median]
  - check:
      - drift: same.one.median / scan.median
      - drift > 0
      - same.one.rows_removed == same.one.rows_removed + same.one.rows_removed + same.other.rows_removed + 1
  - plan: {title: what changed, of: [scan, same.other]}
  - plan: {of: lookup}
  - plan: {of: [scan, never]}
  - plot: {id: every_run, kind: distribution, of: [scan, same], caption: "The caption: {{ scan.blocks }}."}
  - plot: {id: touched, kind: bars, of: [scan, lookup], value: blocks}
  - table: {id: overview, title: side by side, of: [scan, lookup, same], columns: [plan, median, blocks]}
  - sql: SELECT nonsense FROM t
  - measure: {id: never, query: SELECT 1, expect: {rows: 1}}
"#;

/// The place of a text in a page.
fn place(page: &str, text: &str) -> usize {
    page.find(text).unwrap_or_else(|| panic!("{text:?} is not in\n{page}"))
}

#[test]
fn what_did_not_hold_stands_first() {
    let project = Project::with("story", STORY);
    project.planbook(&["run", "story", "--server", "local"]).exits(1);
    let verdicts = project.json(&format!("{PLACE}/verdicts.json"));
    let said: Vec<&str> =
        verdicts["verdicts"].as_array().unwrap().iter().filter_map(|v| v["outcome"].as_str()).collect();
    for outcome in ["fail", "not_run", "inconclusive", "pass"] {
        assert!(said.contains(&outcome), "{outcome} is not among {said:?}");
    }
    let page = project.read(&format!("{PLACE}/report.html"));
    let markdown = project.read(&format!("{PLACE}/report.md"));
    let order =
        ["A story with every ending", "Seq Scan on t", "nonsense", "short.one.median", "The scan touched"];
    for text in [&page, &markdown] {
        let places: Vec<usize> = order.iter().map(|part| place(text, part)).collect();
        assert!(places.is_sorted(), "{order:?}: {places:?}\n{text}");
    }
    assert!(place(&page, "✗ failed") < place(&page, "– not run</span>"));
    assert!(place(&page, "– not run</span>") < place(&page, "? inconclusive</span>"));
    assert!(place(&page, "? inconclusive</span>") < place(&page, "The scan touched"));
    let first = &markdown[..place(&markdown, "## Before")];
    for mark in ["✗ ", "– ", "? ", "1 inconclusive"] {
        place(first, mark);
    }
    plans_are_trees(&page, &markdown);
    rendered_again_nothing_changes(&project);
}

fn plans_are_trees(page: &str, markdown: &str) {
    // Of the join: its nodes, what they do, what changed, and the text itself.
    for part in [
        "<b>Hash Join</b>",
        "Puts the rows of its second input into a hash table",
        "became Merge Join",
        "Another plan.",
    ] {
        place(page, part);
    }
    for part in [
        "### What changed",
        "```diff\n~ Hash Join became Merge Join",
        "own blocks",
        "never**: *not measured*",
    ] {
        place(markdown, part);
    }
    assert!(page.contains("<b>never</b>: <span class=\"not_run\">– not measured</span>"), "{page}");
    assert!(
        !page.contains("<img") && !page.contains("src=") && !page.contains("url("),
        "the page asks for something"
    );
}

fn rendered_again_nothing_changes(project: &Project) {
    let files = ["report.html", "report.md", "verdicts.json", "values.json", "summary.csv", "overview.csv"];
    let read =
        || -> Vec<String> { files.iter().map(|file| project.read(&format!("{PLACE}/{file}"))).collect() };
    let index = || [project.read("results/index.html"), project.read("results/README.md")];
    let (before, index_before) = (read(), index());
    project.planbook(&["render"]).exits(0);
    assert_eq!(read(), before);
    assert_eq!(index(), index_before);
}

/// Every file that is made from the evidence, with its bytes.
fn derived(project: &Project) -> BTreeMap<String, Vec<u8>> {
    let root = project.path().join("results");
    let evidence = project.json(&format!("{PLACE}/manifest.json"))["files"].clone();
    let files = files(&root).into_iter().filter_map(|path| {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let inside = name.strip_prefix("story/local-15/").unwrap_or(&name);
        let made = inside != "manifest.json" && evidence[inside].is_null();
        made.then(|| (inside.to_owned(), std::fs::read(&path).unwrap()))
    });
    files.collect()
}

#[test]
fn a_change_of_one_sample_changes_only_what_depends_on_it() {
    let project = Project::with("story", STORY);
    project.planbook(&["run", "story", "--server", "local"]).exits(1);
    let before = derived(&project);
    // The slowest execution of `lookup` becomes slower. No figure, table or claim shows it.
    let samples = project.read(&format!("{PLACE}/samples.csv"));
    let latency = |row: &str| row.rsplit(',').next().unwrap().parse::<f64>().unwrap();
    let of_lookup = samples.lines().filter(|row| row.starts_with("lookup,"));
    let slowest = of_lookup.max_by(|a, b| latency(a).total_cmp(&latency(b))).unwrap();
    let slower = format!("{},{}", slowest.rsplit_once(',').unwrap().0, latency(slowest) * 7.0);
    let changed = samples.replacen(slowest, &slower, 1);
    let hash = |text: &str| Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let manifest = project.read(&format!("{PLACE}/manifest.json"));
    assert!(manifest.contains(&hash(&samples)), "the manifest knows its evidence");
    project.write(&format!("{PLACE}/manifest.json"), &manifest.replace(&hash(&samples), &hash(&changed)));
    project.write(&format!("{PLACE}/samples.csv"), &changed);
    project.planbook(&["render"]).exits(0);
    let after = derived(&project);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    let differ: Vec<&str> = before
        .iter()
        .filter(|(name, bytes)| after[*name] != **bytes)
        .map(|(name, _)| name.as_str())
        .collect();
    // The end of the median's interval may move, and that stands in the reports.
    let may = ["overview.csv", "report.html", "report.md"];
    let must: Vec<&str> = differ.iter().filter(|name| !may.contains(name)).copied().collect();
    assert_eq!(must, ["summary.csv", "values.json"]);
    for name in differ {
        let text = |files: &BTreeMap<String, Vec<u8>>| String::from_utf8(files[name].clone()).unwrap();
        let (old, new) = (text(&before), text(&after));
        assert_eq!(old.lines().count(), new.lines().count(), "{name}");
        let lines = old.lines().zip(new.lines()).filter(|(old, new)| old != new);
        for (line, _) in lines {
            let depends =
                line.contains("lookup") || line.contains("with one") || line.contains("class=\"number\"");
            assert!(depends, "{name}: {line}");
        }
    }
}

const SMALL: &str = "planbook: 1\ntitle: Small | *one*\nparams: {n: 1}\nprofiles: {quick: {n: 2}}\nsteps:\n  - measure: {id: m, query: 'SELECT {{ n }}', reps: 2, turns: 2, expect: {rows: 1}}\n";

#[test]
fn the_index_leads_to_every_recording_but_quick_looks() {
    let project = Project::with("small", SMALL);
    project.planbook(&["run", "small", "--server", "local", "--profile", "quick"]).exits(0);
    assert!(!project.exists("results/README.md"), "a quick look makes no index");
    project.write("experiments/another.yaml", &SMALL.replace("Small | *one*", "Another"));
    project.planbook(&["run", "--all", "--server", "local"]).exits(0);
    let markdown = project.read("results/README.md");
    let page = project.read("results/index.html");
    for text in [&markdown, &page] {
        assert!(
            text.contains("another/local-15/report.") && text.contains("small/local-15/report."),
            "{text}"
        );
        assert!(!text.contains("~quick"), "{text}");
        assert!(place(text, "Another") < place(text, "Small"), "{text}");
    }
    assert!(markdown.contains("## Small \\| \\*one\\*\n"), "{markdown}");
    assert!(markdown.contains("✓ 1 held | [small/local-15](small/local-15/report.md) |"), "{markdown}");
    project.planbook(&["render"]).exits(0);
    assert_eq!(project.read("results/README.md"), markdown);

    project.write("results/README.md", "My own words.\n");
    let said = project.planbook(&["render", "results/small"]).exits(0);
    assert!(said.err.contains("results/README.md is not Planbook's, and is left alone"), "{}", said.err);
    assert_eq!(project.read("results/README.md"), "My own words.\n");
}

#[test]
fn templates_of_ones_own_take_the_place_of_the_shipped_ones() {
    let project = Project::with("small", SMALL);
    project.planbook(&["run", "small", "--server", "local"]).exits(0);
    let shipped = project.read("results/small/local-15/report.html");
    project.write("mine/report.md", "{{ title }}: {{ counts.pass }}\n");
    project.write("mine/style.css", "body { color: rebeccapurple; }\n");
    project.write("mine/.keep", "");
    project.planbook(&["render", "--templates", "mine"]).exits(0);
    assert_eq!(project.read("results/small/local-15/report.md"), "Small | *one*: 1\n");
    let page = project.read("results/small/local-15/report.html");
    assert!(page.contains("rebeccapurple") && page.contains("How this was measured"), "{page}");
    project.planbook(&["render"]).exits(0);
    assert_eq!(project.read("results/small/local-15/report.html"), shipped);
    project.write("planbook.yaml", "templates: mine\n");
    project.planbook(&["render"]).exits(0);
    assert_eq!(project.read("results/small/local-15/report.md"), "Small | *one*: 1\n");
}

#[test]
fn a_template_that_is_wrong_is_named_with_its_line() {
    let project = Project::with("small", SMALL);
    project.planbook(&["run", "small", "--server", "local"]).exits(0);
    let refused = |file: &str, text: &str, part: &str| {
        project.write(&format!("mine/{file}"), text);
        for command in [
            &["render", "--templates", "mine"][..],
            &["run", "small", "--server", "local", "--templates", "mine"],
        ] {
            // What only rendering finds out, `run` is not made to find out here: it would leave a partial recording.
            if command[0] == "run" && part.contains("undefined") {
                continue;
            }
            let said = project.planbook(command).exits(2);
            let words = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
            assert!(words.contains(part) && words.contains("docs/templates.md"), "{file}: {words}");
        }
        std::fs::remove_file(project.path().join("mine").join(file)).unwrap();
    };
    refused(
        "repotr.md",
        "x",
        "mine/repotr.md: there is no template of that name: they are explain.html, index.html,",
    );
    refused("report.md", "one\n{% if %}\n", "mine/report.md:2: syntax error");
    refused("report.md", "one\ntwo\n{{ titel }}\n", "mine/report.md:3: undefined value");
    refused(
        "parts.html",
        "{% macro head(title) %}\n{{ nothing.at_all }}\n{% endmacro %}\n",
        "mine/parts.html:2: undefined value",
    );
    let said = project.planbook(&["render", "--templates", "nowhere"]).exits(2);
    assert!(said.err.contains("nowhere: "), "{}", said.err);
}

#[test]
fn where_there_is_no_desktop_the_page_is_named() {
    let project = Project::with("small", SMALL);
    let mut command = project.command(&["run", "small", "--server", "local", "--open"]);
    for screen in ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"] {
        command.env_remove(screen);
    }
    let said = said(command.output().unwrap()).exits(0);
    let page = project.path().join("results/small/local-15/report.html");
    assert!(said.err.contains(&format!("open {} in a browser", page.display())), "{}", said.err);
}
