//! Reports made again: from whole recordings, damaged ones, and beside notebooks that were edited since.

use std::fs;

use crate::project::Project;

/// Two acting steps and a failing one, so that the numbers of all of them matter.
const STEPS: &str = r#"planbook: 1
title: Steps that may move
dataset:
  sql: CREATE TABLE t AS SELECT generate_series AS id FROM generate_series(1, 1000)
steps:
  - text: An opening word.
  - sql: CREATE INDEX t_id ON t (id)
  - measure:
      id: lookup
      reps: 2
      turns: 2
      query: SELECT * FROM t WHERE id = 7
      expect: {rows: 1}
  - sql: SELECT nonsense FROM t
"#;

const PLACE: &str = "results/steps/local-15";

fn recorded() -> Project {
    let project = Project::with("steps", STEPS);
    project.planbook(&["run", "steps", "--server", "local"]).exits(1);
    project
}

#[test]
fn evidence_stays_with_its_step_when_steps_that_show_come_and_go() {
    let project = recorded();
    let more = STEPS.replace("steps:\n", "steps:\n  - text: One more.\n  - text: And another.\n");
    let fewer = STEPS.replace("  - text: An opening word.\n", "");
    for edited in [more, fewer, STEPS.to_owned()] {
        project.write("experiments/steps.yaml", &edited);
        project.planbook(&["render"]).exits(0);
        let report = project.read(&format!("{PLACE}/report.md"));
        let place = |text: &str| report.find(text).unwrap_or_else(|| panic!("{text} is not in\n{report}"));
        assert!(report.contains("✗ 1 failed"), "{report}");
        assert!(place("CREATE INDEX in") < place("### lookup"), "{report}");
        assert!(place("### lookup") < place("**The step failed**"), "{report}");
        let verdicts = project.json(&format!("{PLACE}/verdicts.json"));
        assert_eq!(verdicts["fail"], 1, "{verdicts}");
    }
}

#[test]
fn every_file_of_evidence_counts_to_the_last_byte() {
    let project = recorded();
    let evidence = project.json(&format!("{PLACE}/manifest.json"))["files"].clone();
    let evidence: Vec<String> = evidence.as_object().expect("files").keys().cloned().collect();
    for needed in ["events.jsonl", "notebook.yaml", "plans/lookup.json", "plans/lookup.txt", "samples.csv"] {
        assert!(evidence.iter().any(|file| file == needed), "{needed} is not among {evidence:?}");
    }
    for file in evidence {
        let path = project.path().join(PLACE).join(&file);
        let whole = fs::read(&path).expect("read");
        // Cut after a line: what is left may well be in order for itself.
        let cut = whole.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        fs::write(&path, &whole[..cut.min(whole.len() - 1)]).expect("write");
        let said = project.planbook(&["render"]).exits(3);
        assert!(said.err.contains(&file) && said.err.contains("damaged"), "{file}: {}", said.err);
        fs::remove_file(&path).expect("remove");
        let said = project.planbook(&["render"]).exits(3);
        assert!(said.err.contains(&file) && said.err.contains("missing"), "{file}: {}", said.err);
        fs::write(&path, &whole).expect("bring back");
    }
    project.planbook(&["render"]).exits(0);
}

#[test]
fn a_damaged_recording_does_not_keep_the_others_from_their_reports() {
    let project = recorded();
    let folder = |name: &str| project.path().join("results").join(name);
    fs::create_dir_all(folder("damaged/local-15")).expect("create");
    fs::write(folder("damaged/local-15/manifest.json"), "{").expect("write");
    fs::remove_file(project.path().join(PLACE).join("report.md")).expect("remove");
    let said = project.planbook(&["render"]).exits(3);
    assert!(said.err.contains("damaged/local-15/manifest.json"), "{}", said.err);
    assert!(project.exists(&format!("{PLACE}/report.md")));
}

#[test]
fn a_notebook_that_cannot_serve_is_said_to_be_left_out() {
    let project = recorded();
    let said = project.planbook(&["render"]).exits(0);
    assert_eq!(said.err, "");
    project.write("experiments/steps.yaml", &STEPS.replace("id = 7", "id = 8"));
    let said = project.planbook(&["render"]).exits(0);
    assert!(said.err.contains("runs something else by now"), "{}", said.err);
    project.write("experiments/steps.yaml", "nonsense");
    let said = project.planbook(&["render"]).exits(0);
    assert!(said.err.contains("has faults"), "{}", said.err);
}

#[test]
fn a_notebook_is_rendered_by_its_name() {
    let project = recorded();
    for named in ["steps", "experiments/steps.yaml", "results/steps", PLACE] {
        fs::remove_file(project.path().join(PLACE).join("report.md")).expect("remove");
        project.planbook(&["render", named]).exits(0);
        assert!(project.read(&format!("{PLACE}/report.md")).starts_with("# Steps that may move"), "{named}");
    }
    let said = project.planbook(&["render", "stepps"]).exits(2);
    assert!(said.err.contains("neither stepps nor results/stepps holds one"), "{}", said.err);
    assert!(said.err.contains("did you mean `steps`?"), "{}", said.err);
    let said = project.planbook(&["render", "--results", "elsewhere"]).exits(2);
    assert!(said.err.contains("elsewhere holds no recording"), "{}", said.err);
}
