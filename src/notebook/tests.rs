use std::time::Duration;

use super::*;
use crate::metric::Metric;
use crate::plan::Comparison;

fn notebook(text: &str) -> Notebook {
    with(text, &Overrides::default())
}

fn with(text: &str, overrides: &Overrides) -> Notebook {
    let text = format!("planbook: 1\ntitle: t\n{text}");
    load_text("test", Source::new("test.yaml", text), None, overrides).unwrap_or_else(|faults| {
        panic!("{:#?}", faults.faults().iter().map(|fault| &fault.message).collect::<Vec<_>>());
    })
}

fn measures(notebook: &Notebook) -> Vec<&Measure> {
    notebook
        .steps
        .iter()
        .filter_map(|step| if let StepKind::Measure(measure) = &step.kind { Some(measure) } else { None })
        .collect()
}

#[test]
fn profiles_come_before_set_and_every_number_may_be_a_template() {
    let text = "params: {n: 3, name: t, ratio: 0.5}\nprofiles: {quick: {n: 4, ratio: 2}}\nsteps:\n  - measure: {id: a, query: SELECT 1, reps: '{{ n * 2 }}', label: '{{ name }}s', expect: {rows: '{{ n }}', plan: 'Seq Scan on {{ name }}'}}\n";
    let overrides =
        Overrides { profile: Some("quick".to_owned()), set: vec![("name".to_owned(), "u".to_owned())] };
    let notebook = with(text, &overrides);
    let values: Vec<String> = notebook.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(values, ["n=4", "name=u", "ratio=2"]);
    let measure = measures(&notebook)[0];
    assert_eq!((measure.reps, measure.turns, measure.label.as_deref()), (8, 8, Some("us")));
    let written: Vec<&str> = measure.arms[0].expect.iter().map(|expect| expect.written.as_str()).collect();
    assert_eq!(written, ["rows: 4", "plan: Seq Scan on u"]);
}

#[test]
fn like_takes_over_all_but_expectations() {
    let notebook = notebook(
        "settings: {jit: off, work_mem: 1MB}
steps:
  - measure:
      id: base
      query: SELECT 1
      settings: {work_mem: 2MB}
      arms: {x: {}, y: {query: SELECT 2, expect: {rows: 2}}}
      reps: 7
      budget: 2min
      expect: {rows: 1}
  - measure: {id: heir, like: base, settings: {jit: on}, turns: 3}
  - measure: {id: grandchild, like: heir, arms: {z: {settings: {work_mem: 3MB}}}, expect: {blocks: < 5}}
",
    );
    let measures = measures(&notebook);
    let setting =
        |measure: usize, arm: usize, name: &str| measures[measure].arms[arm].settings[name].text.clone();
    assert_eq!(measures[1].arms.len(), 2);
    assert_eq!(measures[1].arms[1].query.text, "SELECT 2");
    assert_eq!((measures[1].reps, measures[1].turns, measures[1].budget), (7, 3, Duration::from_secs(120)));
    assert_eq!((setting(0, 0, "work_mem"), setting(1, 0, "work_mem")), ("2MB".to_owned(), "2MB".to_owned()));
    assert_eq!((setting(0, 0, "jit"), setting(1, 0, "jit")), ("off".to_owned(), "on".to_owned()));
    assert!(measures[1].arms.iter().all(|arm| arm.expect.is_empty()));
    assert_eq!(measures[0].arms[1].expect.len(), 2, "the measure's, then the arm's");
    assert_eq!(measures[2].arms[0].id.as_deref(), Some("z"));
    assert_eq!(measures[2].arms[0].query.text, "SELECT 1");
    assert_eq!(setting(2, 0, "work_mem"), "3MB");
    assert_eq!(measures[2].arms[0].expect.len(), 1);
}

#[test]
fn expectations_keep_their_conditions() {
    let notebook = notebook(
        "params: {size: 5, warm: true}
profiles: {quick: {size: 1}}
steps:
  - measure:
      id: a
      query: SELECT 1
      expect:
        plan: [Seq Scan on t, Sort]
        any: [Seq Scan on t, Sort]
        heap_fetches: \"> 0\"
        when:
          - {version: \">= 18\", size: < 3, index_searches: 1}
          - {profile: default, warm: false, never: Sort}
",
    );
    let expect = &measures(&notebook)[0].arms[0].expect;
    let written: Vec<&str> = expect.iter().map(|expect| expect.written.as_str()).collect();
    let all = [
        "plan: Seq Scan on t",
        "plan: Sort",
        "any: [Seq Scan on t, Sort]",
        "heap_fetches: > 0",
        "index_searches: 1",
        "never: Sort",
    ];
    assert_eq!(written, all);
    assert!(matches!(expect[3].what, Expected::Metric(Metric::HeapFetches, Comparison::Greater(0.0))));
    let [Condition::Version(version), Condition::Parameter(name, size)] = expect[4].when.as_slice() else {
        panic!()
    };
    assert_eq!((*version, name.as_str(), *size), (Comparison::AtLeast(18.0), "size", Comparison::Less(3.0)));
    let [Condition::Profile(profile), Condition::Value(warm, value)] = expect[5].when.as_slice() else {
        panic!()
    };
    assert_eq!((profile.as_str(), warm.as_str(), value), ("default", "warm", &Scalar::Boolean(false)));
    assert!(expect[0].when.is_empty());
}

#[test]
fn texts_that_yaml_would_change_are_kept_as_written() {
    let notebook = notebook(
        "settings: {enable_seqscan: off, work_mem: 010, search_path: y, x.y: 1_000, log_min_messages: null_}\nsteps:\n  - sql: \"SELECT 1\\n  , 2\"\n  - analyze: y\n",
    );
    let settings: Vec<&str> = notebook.settings.values().map(|value| value.text.as_str()).collect();
    assert_eq!(settings, ["off", "null_", "y", "010", "1_000"]);
    let StepKind::Analyze(tables) = &notebook.steps[1].kind else { panic!() };
    assert_eq!(tables, &["y"]);
}

#[test]
fn a_place_in_a_text_is_found_in_the_file() {
    let text = "planbook: 1\ntitle: t\nsteps:\n  - sql: |\n      SELECT 1,\n\n        'é', mark\n  - sql: >-\n      SELECT a\n      FROM t\n\n      WHERE mark\n  - sql: \"SELECT \\\"a\\\", \\\n      '\\u00e9',\n      mark\"\n  - sql: 'SELECT ''x'',\n\n      mark'\n  - sql: SELECT 1,\n      mark\n  - sql: |+2\n      mark\n";
    let source = Source::new("x", text);
    let notebook = load_text("x", source.clone(), None, &Overrides::default()).expect("a notebook");
    let places: Vec<(usize, usize)> = notebook
        .steps
        .iter()
        .map(|step| {
            let StepKind::Sql(template) = &step.kind else { panic!() };
            let offset = template.text.find("mark").expect("the mark");
            let place = template.place(&source, offset, 4);
            assert_eq!(source.slice(place), "mark", "{}", template.text);
            (place.line, place.column)
        })
        .collect();
    assert_eq!(places, [(7, 14), (12, 13), (15, 7), (18, 7), (20, 7), (22, 7)]);
}

#[test]
fn what_runs_and_what_is_shown_are_hashed_apart() {
    let text = |query: &str, label: &str, expect: &str, prose: &str, claim: &str| {
        notebook(&format!(
            "steps:\n  - measure: {{id: a, query: {query}, label: {label}, expect: {{plan: {expect}}}}}\n  - text: {prose}\n  - check: {claim}\n"
        ))
    };
    let base = text("SELECT 1", "l", "Seq Scan on t", "x", "a.rows == 1");
    let hashes = |notebook: &Notebook| {
        (notebook.runs_hash() == base.runs_hash(), notebook.shown_hash() == base.shown_hash())
    };
    assert_eq!(base.runs_hash().len(), 64);
    assert_eq!(hashes(&text("SELECT 1", "l", "Seq Scan on t", "x", "a.rows == 1")), (true, true));
    assert_eq!(hashes(&text("SELECT 2", "l", "Seq Scan on t", "x", "a.rows == 1")), (false, true));
    assert_eq!(hashes(&text("SELECT 1", "m", "Seq Scan on t", "x", "a.rows == 1")), (true, false));
    assert_eq!(hashes(&text("SELECT 1", "l", "Index Scan on t", "x", "a.rows == 1")), (true, false));
    assert_eq!(hashes(&text("SELECT 1", "l", "Seq Scan on u", "x", "a.rows == 1")), (false, false));
    assert_eq!(hashes(&text("SELECT 1", "l", "Seq Scan on t", "y", "a.rows == 1")), (true, false));
    assert_eq!(hashes(&text("SELECT 1", "l", "Seq Scan on t", "x", "a.rows == 2")), (true, false));
}

#[test]
fn a_recording_is_read_again_without_files() {
    let text = "planbook: 1\ntitle: t\nparams: {n: 2}\ndataset: {file: no/such/file.yaml, with: {rows: '{{ n }}'}}\nsteps: []\n";
    let dataset = "planbook-dataset: 1\nparams: {rows: 1, other: x}\nsql: ['SELECT {{ rows }}', SELECT 2]\nverify: SELECT true\n";
    let load = |dataset: Option<&str>| {
        let dataset = dataset.map(|text| Source::new("dataset.yaml", text));
        load_text("n", Source::new("notebook.yaml", text), dataset, &Overrides::default())
    };
    let fault = load(None).expect_err("no dataset");
    assert_eq!(
        fault.faults()[0].message,
        "the dataset file `no/such/file.yaml` is not part of this recording"
    );
    let dataset = dataset.replace("['SELECT {{ rows }}', SELECT 2]", "['SELECT {{ rows }}', 'SELECT 2']");
    let notebook = load(Some(&dataset)).expect("a notebook");
    let dataset = notebook.dataset.expect("a dataset");
    assert_eq!((dataset.name.as_str(), dataset.parts.len(), dataset.verify.len()), ("file", 2, 1));
    assert_eq!(dataset.params[0], ("rows".to_owned(), Scalar::Integer(2)));
}

#[test]
fn faults_are_gathered_only_so_far() {
    let steps = "  - sql: SET jit = off\n".repeat(5000);
    let source = Source::new("x", format!("planbook: 1\ntitle: t\nsteps:\n{steps}"));
    let faults = load_text("x", source, None, &Overrides::default()).expect_err("faults");
    assert_eq!(faults.faults().len(), 100);
}
