//! `planbook explain`, as people and other tools meet it.

use std::path::PathBuf;

use assert_cmd::Command;
use planbook::plan::Plan;

use crate::plan_fixtures::cases;

fn explain(args: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("planbook").unwrap();
    let output = command.arg("explain").args(args).env("NO_COLOR", "1").write_stdin(input).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn case(name: &str) -> String {
    cases()
        .into_iter()
        .find(|case| case.name == name)
        .map(|case| case.text)
        .unwrap_or_else(|| panic!("{name}"))
}

fn paste(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/paste").join(name)
}

#[test]
fn a_plan_for_people() {
    let (code, out, err) = explain(&["--width", "100"], &case("15 initplan"));
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out);
}

#[test]
fn a_narrow_terminal_loses_columns_not_words() {
    let text = case("18 parallel_hash");
    for width in [40, 50, 60, 80, 100, 200] {
        let (_, out, _) = explain(&["--width", &width.to_string()], &text);
        for line in out.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        for word in ["Partial HashAggregate", "(t.id = u.id)"] {
            let joined = out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(joined.contains(word), "{width}: {word} in\n{out}");
        }
    }
}

#[test]
fn notes_name_what_the_plan_shows_and_what_to_look_at() {
    for (name, seen, next) in [
        ("15 initplan", "expected 6,667 rows, got 5", "a value that is known only when the plan runs"),
        ("15 hash_batches", "hashed through temporary files", "hash_mem_multiplier"),
        ("15 sort_disk", "sorted on disk", "work_mem"),
        ("15 lossy", "its bitmap was too large for work_mem", "a larger work_mem"),
        ("15 hash_agg_spill", "grouped through temporary files", "hash_mem_multiplier"),
        ("15 delete_cascade", "the trigger child_parent_id_fkey took", "an index on the column that refers"),
        ("15 jit", "compiling (JIT) took", "jit_above_cost"),
    ] {
        let (code, out, _) = explain(&["--width", "400"], &case(name));
        assert_eq!(code, 0);
        let notes: Vec<_> = out.lines().filter(|line| line.contains(seen)).collect();
        assert!(!notes.is_empty() && out.contains(next), "{name}:\n{out}");
    }
    let plain = "Seq Scan on t  (cost=0.00..1.00 rows=5 width=4)\n";
    let (_, out, _) = explain(&[], plain);
    assert!(out.starts_with("estimates only: EXPLAIN (ANALYZE, BUFFERS) tells"), "{out}");
}

#[test]
fn what_is_written_around_a_fenced_plan_is_passed_over() {
    let plan = "Aggregate  (cost=1.00..2.00 rows=1 width=8)\n  ->  Seq Scan on t  (cost=0.00..1.00 rows=5 width=4)\n";
    let (code, wanted, _) = explain(&["--format", "text"], plan);
    assert_eq!(code, 0);
    let browser = plan.replace(' ', "\u{a0}");
    let query = format!("I ran\n```sql\nSELECT count(*) FROM t;\n```\nand got this:\n\n{plan}");
    let fenced = format!("Look at this:\n```\n{plan}```\nWhy is it slow? Is it -> the scan?\n");
    for pasted in [browser, query, fenced.replace('\n', "\n> "), fenced] {
        let (code, out, err) = explain(&["--format", "text"], &pasted);
        assert_eq!((code, out.as_str()), (0, wanted.as_str()), "{pasted}\n{err}");
    }
}

#[test]
fn a_plan_without_indexes_is_told_apart_from_one_that_was_kept_from_them() {
    let said = |settings: &str| {
        let plan = format!(
            "Seq Scan on t  (cost=0.00..999.00 rows=5 width=4) (actual time=0.010..9.020 rows=5 loops=1)\n  \
             Filter: (id = 7)\n  Rows Removed by Filter: 99995\n{settings}"
        );
        explain(&["--width", "400"], &plan).1
    };
    let advice = "an index on the filter's columns";
    assert!(said("").contains(advice) && said("Settings: enable_bitmapscan = 'off'\n").contains(advice));
    let kept = said("Settings: enable_bitmapscan = 'off', enable_indexscan = 'off'\n");
    assert!(kept.contains("settings keep the planner from indexes here") && !kept.contains(advice), "{kept}");
}

#[test]
fn json_of_every_text_is_taken_again_and_is_the_same_tree() {
    // All in one process each way: the library does the same for every fixture in `plan_fixtures`.
    let texts: Vec<String> = cases().into_iter().filter(|case| case.one).map(|case| case.text).collect();
    let all = texts.join("\n");
    let (code, json, err) = explain(&["--format", "json", "-"], &all);
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, again, _) = explain(&["--format", "json"], &json);
    assert_eq!(code, 0);
    assert_eq!(again, json);
    let plans = Plan::paste_all(&json).unwrap();
    assert_eq!(plans.len(), texts.len());
    for (plan, text) in plans.iter().zip(&texts) {
        assert_eq!(plan, &Plan::from_text(text).unwrap());
    }
}

#[test]
fn what_no_postgresql_prints_is_kept_and_shown() {
    let text = "Blorp Scan on t b  (cost=0.00..1.00 rows=5 width=4) (actual time=0.010..0.020 rows=5 loops=1)\n  \
                Blorp Factor: 7\n  Blorp Words: a, b\n";
    let (code, out, _) = explain(&[], text);
    assert_eq!(code, 0);
    for part in ["Blorp Scan on t b", "Blorp Factor: 7", "Blorp Words: a, b"] {
        assert!(out.contains(part), "{out}");
    }
    let (_, json, _) = explain(&["--format", "json"], text);
    let plan = Plan::from_json(&json).unwrap();
    assert_eq!(plan.root.property("Blorp Factor"), Some(&serde_json::Value::from(7)));
    assert_eq!(plan.to_text(), text);
    assert_eq!(plan.tree(), "Blorp Scan on t b\n  Blorp Factor: 7\n  Blorp Words: a, b");
}

#[test]
fn text_and_markdown() {
    let reference = std::fs::read_to_string(paste("reference.txt")).unwrap();
    let file = paste("json_csv.txt");
    let (code, text, _) = explain(&["--format", "text", file.to_str().unwrap()], "");
    assert_eq!(code, 0);
    assert_eq!(Plan::from_text(&text).unwrap().shape(), Plan::from_text(&reference).unwrap().shape());
    let (_, out, _) = explain(&["--format", "markdown"], &reference);
    assert!(out.starts_with("```text\nexecution ") && out.contains("<details><summary>"), "{out}");
    assert!(out.contains(&reference), "the plan itself, untouched");
}

#[test]
fn what_is_no_plan_exits_2_and_says_what_to_do() {
    for nothing in ["[]", "[[]]", "  []\n"] {
        let (code, out, err) = explain(&[], nothing);
        assert_eq!((code, out.as_str()), (2, ""), "{nothing}: {err}");
    }
    for (args, input, part) in [
        (&[][..], "hello", "standard input: line 1: no line here or below begins a plan"),
        (&["-"], "", "the input is empty"),
        (&["no/such/file"], "", "no/such/file: "),
        (&["--format", "json"], "- Plan: \n    Node Type: \"Result\"\n", "EXPLAIN's YAML, which is not read"),
    ] {
        let (code, out, err) = explain(args, input);
        let err = err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(part) && err.contains("help: "), "{err}");
    }
}

#[test]
fn what_a_terminal_would_obey_is_shown_as_nothing() {
    let plan = "Seq Scan on \"\u{1b}[31mred\u{1b}]0;title\u{7}\" x  (cost=0.00..1.00 rows=1 width=4)\n";
    for args in [&[][..], &["--format", "markdown"]] {
        let (code, out, _) = explain(args, plan);
        assert_eq!(code, 0);
        assert!(out.contains("red") && !out.contains(['\u{1b}', '\u{7}']), "{out:?}");
    }
}
