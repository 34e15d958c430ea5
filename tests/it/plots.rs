//! Figures of recordings: drawn from the recording alone, and only what its evidence shows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::project::{Project, files};

/// A shipped recording with bars and a distribution, and its notebook.
const PLACE: &str = "results/two-indexes/local-15";

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).expect("below the folder"));
        fs::create_dir_all(target.parent().expect("a folder")).expect("create folder");
        fs::copy(&file, target).expect("copy");
    }
}

fn shipped() -> Project {
    let project = Project::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy(&root.join(PLACE), &project.path().join(PLACE));
    let notebook = fs::read_to_string(root.join("experiments/two-indexes.yaml")).expect("the notebook");
    project.write("experiments/two-indexes.yaml", &notebook);
    let dataset = fs::read_to_string(root.join("experiments/datasets/orders.yaml")).expect("the dataset");
    project.write("experiments/datasets/orders.yaml", &dataset);
    project
}

/// The figures by name.
fn figures(project: &Project) -> BTreeMap<String, Vec<u8>> {
    let folder = project.path().join(PLACE).join("plots");
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    files(&folder).into_iter().map(|path| (name(&path), fs::read(&path).expect("read"))).collect()
}

/// Changes a file of evidence and what the manifest says of it.
fn change(project: &Project, file: &str, with: impl Fn(&str) -> String) {
    let text = with(&project.read(&format!("{PLACE}/{file}")));
    project.write(&format!("{PLACE}/{file}"), &text);
    let mut manifest = project.json(&format!("{PLACE}/manifest.json"));
    let hash: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    manifest["files"][file] = hash.into();
    project.write(&format!("{PLACE}/manifest.json"), &manifest.to_string());
}

#[test]
fn a_figure_changes_with_what_it_shows_and_with_nothing_else() {
    let project = shipped();
    project.planbook(&["render"]).exits(0);
    let before = figures(&project);
    let names: Vec<&str> = before.keys().map(String::as_str).collect();
    assert_eq!(names, ["blocks.png", "blocks.svg", "latencies.png", "latencies.svg"]);
    project.planbook(&["render"]).exits(0);
    assert!(figures(&project) == before, "rendering again gave other figures");
    change(&project, "samples.csv", |samples| {
        let (start, latency) = samples.trim_end().rsplit_once(',').expect("a sample");
        let latency: f64 = latency.parse().expect("a latency");
        format!("{start},{}\n", latency * 3.0)
    });
    project.planbook(&["render"]).exits(0);
    let after = figures(&project);
    let changed: Vec<&String> = before.keys().filter(|name| before[*name] != after[*name]).collect();
    assert_eq!(changed, ["latencies.png", "latencies.svg"]);
}

#[test]
fn plots_come_and_go_with_the_notebook_and_need_no_run() {
    let project = shipped();
    let notebook = project.read("experiments/two-indexes.yaml");
    let more = format!(
        "{notebook}\n  - plot: {{id: drift, kind: timeline, of: lookup, caption: \"{{{{ lookup.filter.rows }}}} rows\"}}\n"
    );
    project.write("experiments/two-indexes.yaml", &more);
    let said = project.planbook(&["render"]).exits(0);
    assert_eq!(said.err, "");
    assert!(figures(&project).contains_key("drift.png"));
    let report = project.read(&format!("{PLACE}/report.md"));
    assert!(report.contains("](plots/drift.svg)"), "{report}");
    assert!(report.contains("The arms took turns in random order."), "{report}");
    project.write("experiments/two-indexes.yaml", &notebook);
    project.planbook(&["render"]).exits(0);
    assert!(!figures(&project).contains_key("drift.png"));
}

/// The second measure is never reached.
const CUT: &str = r#"planbook: 1
title: A run that ends early
steps:
  - measure: {id: done, label: "done `|` <b>", reps: 5, turns: 5, query: SELECT 1}
  - sql: SELECT nonsense
  - measure: {id: never, reps: 5, turns: 5, query: SELECT 2}
  - plot: {id: both, kind: distribution, of: [done, never]}
  - plot: {id: nothing, kind: timeline, of: never}
  - plot: {id: fetches, kind: bars, of: [done, never], value: heap_fetches}
"#;

#[test]
fn what_was_not_measured_is_said_in_the_figure() {
    let project = Project::with("cut", CUT);
    project.planbook(&["run", "cut", "--server", "local"]).exits(1);
    let figure = |name: &str| project.read(&format!("results/cut/local-15/plots/{name}.svg"));
    assert_eq!(figure("both").matches(">not measured</text>").count(), 1);
    assert!(figure("both").contains("done `|` &lt;b&gt;</text>"), "{}", figure("both"));
    assert_eq!(figure("nothing").matches(">not measured</text>").count(), 1);
    assert!(figure("fetches").contains(">not reported by this plan</text>"), "{}", figure("fetches"));
    let report = project.read("results/cut/local-15/report.md");
    assert!(report.contains("Nothing of this was measured."), "{report}");
    assert!(report.contains(r"done \`\|\` &lt;b&gt;: median"), "{report}");
}
