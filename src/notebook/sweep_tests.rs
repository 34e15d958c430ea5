use super::*;
use crate::template::Scalar;

fn sweep(text: &str) -> Sweep {
    let text = format!("planbook: 1\ntitle: t\nparams: {{top: 100, rows: 5}}\n{text}");
    let notebook = load_text("test", Source::new("test.yaml", text), None, &Overrides::default());
    let notebook = notebook.unwrap_or_else(|faults| {
        panic!("{:#?}", faults.faults().iter().map(|fault| &fault.message).collect::<Vec<_>>());
    });
    let sweeps = notebook.steps.into_iter().filter_map(|step| match step.kind {
        StepKind::Sweep(sweep) => Some(*sweep),
        _ => None,
    });
    sweeps.last().expect("a sweep")
}

fn over(over: &str) -> Vec<String> {
    let sweep = sweep(&format!("steps: [{{sweep: {{id: s, over: {over}, query: 'SELECT {{{{ n }}}}'}}}}]"));
    sweep.points.iter().map(|point| point.point.to_string()).collect()
}

#[test]
fn values_are_listed_or_spaced() {
    assert_eq!(over("{n: [1, 5, '{{ top }}']}"), ["n=1", "n=5", "n=100"]);
    assert_eq!(over("{n: 7}"), ["n=7"]);
    assert_eq!(over("{n: {from: 1, to: 10, step: 4}}"), ["n=1", "n=5", "n=9"]);
    assert_eq!(over("{n: {from: 3, to: 1, step: -1}}"), ["n=3", "n=2", "n=1"]);
    assert_eq!(over("{n: {from: 0, to: 0.3, step: 0.1}}").len(), 4);
    assert_eq!(over("{n: {from: 0, to: 100, points: 3}}"), ["n=0", "n=50", "n=100"]);
    assert_eq!(over("{n: {log: [1, 1000], points: 4}}"), ["n=1", "n=10", "n=100", "n=1000"]);
    assert_eq!(over("{n: {log: [1, 3], points: 12}}"), ["n=1", "n=2", "n=3"], "whole numbers, each once");
    assert_eq!(over("{n: {log: [0.5, 2.0], points: 4}}"), ["n=0.5", "n=0.7937", "n=1.26", "n=2"]);
}

#[test]
fn two_parameters_make_a_grid_in_which_the_last_one_changes_fastest() {
    let points = over("{n: [1, 2], mode: [hash, sort]}");
    assert_eq!(points, ["n=1,mode=hash", "n=1,mode=sort", "n=2,mode=hash", "n=2,mode=sort"]);
}

#[test]
fn expectations_are_those_of_their_point_and_the_common_ones_hold_everywhere() {
    let sweep = sweep(
        "steps:
  - sweep:
      id: s
      over: {n: [1, 20]}
      query: SELECT {{ n }}
      expect: {rows: '{{ n * 2 }}', when: [{n: <= 10, plan: Result}]}
      arms: {a: {}, b: {settings: {enable_seqscan: off}, expect: {blocks: 0}}}
      crossing: {of: [a, b], metric: blocks}
",
    );
    let written = |arms: &[Arm], arm: usize| -> Vec<String> {
        arms[arm].expect.iter().map(|expectation| expectation.written.clone()).collect()
    };
    assert_eq!(written(&sweep.points[0].arms, 1), ["rows: 2", "plan: Result", "blocks: 0"]);
    assert_eq!(written(&sweep.points[1].arms, 0), ["rows: 40", "plan: Result"]);
    assert_eq!(written(&sweep.measure.arms, 1), ["plan: Result", "blocks: 0"]);
    let added = Point::new(vec![("n".to_owned(), Scalar::Integer(5))]);
    assert_eq!(written(sweep.arms_at(&added), 0), ["plan: Result"]);
    assert_eq!(sweep.free_arm().and_then(|arm| arm.id.as_deref()), Some("a"));
}

#[test]
fn the_free_arm_has_no_settings_for_the_planner_of_its_own() {
    let free = |arms: &str| {
        let text = format!(
            "settings: {{enable_bitmapscan: off}}\nsteps: [{{sweep: {{id: s, over: {{n: [1]}}, query: SELECT 1, arms: {arms}}}}}]"
        );
        sweep(&text).free_arm().and_then(|arm| arm.id.clone())
    };
    assert_eq!(
        free("{a: {settings: {random_page_cost: 1.1}}, b: {settings: {work_mem: 4MB}}}").as_deref(),
        Some("b")
    );
    assert_eq!(free("{a: {settings: {enable_seqscan: off}}, b: {within: DROP INDEX i}}"), None);
}

#[test]
fn a_parameter_of_the_dataset_makes_a_dataset_per_value() {
    let inline = "dataset: {sql: 'CREATE TABLE t AS SELECT generate_series(1, {{ rows }})'}\nsteps: [{sweep: {id: s, over: {rows: [1, 2], n: [7, 8]}, query: 'SELECT {{ n }}'}}]";
    let sweep = sweep(inline);
    let rows: Vec<&Scalar> = sweep
        .points
        .iter()
        .map(|point| {
            let dataset = point.dataset.as_ref().expect("a dataset");
            &dataset.params.iter().find(|(name, _)| name == "rows").expect("rows").1
        })
        .collect();
    assert_eq!(rows, [1, 1, 2, 2].map(Scalar::Integer).iter().collect::<Vec<_>>());
    assert!(sweep.has_own_databases());

    let file = "planbook-dataset: 1\nparams: {size: 1}\nsql: SELECT {{ size }}";
    let text = |with: &str, over: &str| {
        let text = format!(
            "planbook: 1\ntitle: t\nparams: {{rows: 5}}\ndataset: {{file: d.yaml{with}}}\nsteps: [{{sweep: {{id: s, over: {{{over}}}, query: SELECT 1}}}}]"
        );
        let dataset = Source::new("d.yaml", file);
        let notebook = load_text("t", Source::new("t.yaml", text), Some(dataset), &Overrides::default());
        let StepKind::Sweep(sweep) = notebook.expect("valid").steps.remove(0).kind else { panic!("a sweep") };
        let sizes =
            sweep.points.iter().map(|point| point.dataset.as_ref().map(|of| of.params[0].1.to_string()));
        sizes.collect::<Vec<_>>()
    };
    let sizes = |values: [&str; 2]| values.map(|value| Some(value.to_owned()));
    assert_eq!(text(", with: {size: '{{ rows * 10 }}'}", "rows: [1, 2]"), sizes(["10", "20"]));
    assert_eq!(text("", "size: [3, 4]"), sizes(["3", "4"]));
    assert_eq!(text(", with: {size: 2}", "n: [1, 2]"), [None, None]);
}

#[test]
fn what_a_sweep_runs_is_hashed_and_what_it_shows_apart() {
    let base = "steps: [{sweep: {id: s, over: {n: [1, 2]}, query: SELECT 1, arms: {a: {}, b: {settings: {jit: off}}}, probe: {p: SELECT 1}, crossing: {of: [a, b]}}}]";
    let hashes = |text: &str| {
        let text = format!("planbook: 1\ntitle: t\n{text}");
        let notebook =
            load_text("t", Source::new("t.yaml", text), None, &Overrides::default()).expect("valid");
        (notebook.runs_hash(), notebook.shown_hash())
    };
    let (runs, shown) = hashes(base);
    for (from, to) in [
        ("[1, 2]", "[1, 3]"),
        ("{p: SELECT 1}", "{p: SELECT 2}"),
        ("of: [a, b]", "of: [b, a]"),
        ("id: s,", "id: s, fresh: point,"),
    ] {
        assert_ne!(hashes(&base.replace(from, to)).0, runs, "{to}");
    }
    for (from, to) in [
        ("id: s,", "id: s, expect: {rows: 1},"),
        ("id: s,", "id: s, x: {label: l, expr: n},"),
        ("id: s,", "id: s, label: l,"),
    ] {
        let (also, changed) = hashes(&base.replace(from, to));
        assert_eq!(also, runs, "{to}");
        assert_ne!(changed, shown, "{to}");
    }
}
