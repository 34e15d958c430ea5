//! What people paste: every form of `tests/fixtures/paste` is the same plan as the one it was made from.

use std::path::PathBuf;

use planbook::plan::{Plan, PlanError};

fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/paste").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One test for each form, so that a failure names it.
macro_rules! forms {
    ($reference:ident: $($name:ident)*) => {
        $(#[test]
        fn $name() {
            let plan = Plan::paste(&file(concat!(stringify!($name), ".txt"))).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(plan, $reference());
        })*
    };
}

fn text() -> Plan {
    Plan::from_text(&file("reference.txt")).unwrap()
}

fn json() -> Plan {
    Plan::from_json(&file("reference.json")).unwrap()
}

forms! { text:
    aligned aligned_unicode border0 border2 border2_unicode border2_double unaligned tuples_only wrapped wrapped_unicode
    wrapped_border2 expanded expanded_unicode expanded_border2_unicode expanded_border0 csv prompt statement pgadmin
    dbeaver terminal80 terminal72 mail72 mail_quoted tabs tab_indented crlf markdown
}

forms! { json:
    json_aligned json_unicode json_unaligned json_expanded json_expanded_unicode json_csv json_wrapped json_old_ascii
    json_doubled json_escaped json_statement json_terminal40
}

#[test]
fn several_plans_in_one_input() {
    let plans = Plan::paste_all(&file("two_plans.txt")).unwrap();
    assert_eq!(plans, [text(), text()]);
    assert_eq!(Plan::paste(&file("two_plans.txt")), Err(PlanError::Several(2)));
    let twice = format!("{}\n{}", file("reference.json"), file("reference.json"));
    assert_eq!(Plan::paste_all(&twice).unwrap(), [json(), json()]);
}

#[test]
fn entries_of_auto_explain() {
    for name in ["auto_explain_log.txt", "auto_explain_client.txt"] {
        let plans = Plan::paste_all(&file(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let seen: Vec<_> = plans.iter().map(|plan| (plan.query_text().unwrap(), plan.root.title())).collect();
        assert_eq!(
            seen,
            [
                ("SELECT count(*)\nFROM t\nWHERE id < 50;", "Aggregate".to_owned()),
                ("SELECT id FROM u WHERE k = 3 ORDER BY id LIMIT 2;", "Limit".to_owned()),
                ("SELECT count(*) FROM u WHERE id < 50;", "Aggregate".to_owned()),
            ],
            "{name}"
        );
    }
}

#[test]
fn other_formats_are_refused_by_name() {
    for (name, format) in [("yaml.txt", "YAML"), ("yaml_aligned.txt", "YAML"), ("xml.txt", "XML")] {
        let error = Plan::paste(&file(name)).unwrap_err();
        assert_eq!(error, PlanError::Format { name: format });
        assert!(
            error.to_string().ends_with("run EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON), or without FORMAT"),
            "{error}"
        );
    }
}

#[test]
fn errors_name_the_line_of_the_input() {
    let broken = file("border2.txt")
        .replace("Sort Method: top-N heapsort  Memory: 25kB", "Sort Method: top-N heapsort, 25kB??      ");
    let error = Plan::paste(&broken).unwrap_err();
    assert!(
        matches!(&error, PlanError::Text { line: 8, content, .. } if content.starts_with("Sort Method")),
        "{error}"
    );
    let error = Plan::paste("hello\nworld").unwrap_err();
    assert!(error.to_string().starts_with("line 1: no line here or below begins a plan"), "{error}");
    let error = Plan::paste(&file("json_aligned.txt").replacen("\"Plan\"", "\"Plan", 1)).unwrap_err();
    assert!(matches!(error, PlanError::Json { line: 5 | 6, .. }), "{error}");
    assert_eq!(Plan::paste(" \n\n"), Err(PlanError::Empty));
}
