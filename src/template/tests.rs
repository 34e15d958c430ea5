use std::collections::BTreeMap;

use super::*;

fn metrics(values: &[(&str, f64)]) -> BTreeMap<String, f64> {
    values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn context() -> Context {
    let mut context = Context::new().with(&[
        ("rows".to_owned(), Scalar::Integer(5_000_000)),
        ("share".to_owned(), Scalar::Float(0.105)),
        ("mode".to_owned(), Scalar::Text("a_b <i>*x*".to_owned())),
        ("fast".to_owned(), Scalar::Boolean(true)),
    ]);
    context.set_measure("seq", metrics(&[("blocks", 41_667.0), ("median", 881.94), ("rows", 5.0)]));
    context.set_measure("index", metrics(&[("blocks", 8.0), ("median", 0.2164), ("rows", 5.0)]));
    context.set_measure("never", metrics(&[]));
    context.set_arm("toggles", "off", metrics(&[("blocks", 12.0), ("median", 3.0)]));
    context.set_interval("speedup", 4075.5, Some((3900.25, 4200.0)), None);
    context.set_interval("exact", 2.0, Some((2.0, 2.0)), None);
    context.set_interval("unsure", 2.0, None, None);
    context
}

fn text(template: &str) -> String {
    render_text(template, &context())
}

fn value(expression: &str) -> Scalar {
    evaluate(expression, &context()).expect(expression)
}

fn fault(expression: &str) -> String {
    evaluate(expression, &context()).expect_err(expression).message
}

#[test]
fn sql_takes_values_as_they_are() {
    let sql = |template| render_sql(template, &context()).expect(template);
    assert_eq!(sql("LIMIT {{ rows // 2 }}"), "LIMIT 2500000");
    assert_eq!(sql("{{ share }} {{ mode }} {{ fast }}"), "0.105 a_b <i>*x* true");
    assert_eq!(
        sql("IN ({% for i in range(3) %}{{ i }}{% if not loop.last %}, {% endif %}{% endfor %})"),
        "IN (0, 1, 2)"
    );
    assert_eq!(sql("a\n"), "a\n", "the last line break is kept");
}

#[test]
fn prose_makes_numbers_readable() {
    assert_eq!(text("{{ seq.blocks }} and {{ index.blocks }} of {{ rows }}"), "41,667 and 8 of 5,000,000");
    assert_eq!(text("{{ seq.median }}, {{ index.median }}"), "882 ms, 0.216 ms");
    assert_eq!(text("{{ toggles.off.median }} {{ toggles.off.blocks }}"), "3.00 ms 12");
    assert_eq!(text("{{ seq.median / index.median }} times"), "4,076 times");
    assert_eq!(text("{{ speedup }} ({{ speedup.lo }} to {{ speedup.hi }})"), "4,076 (3,900 to 4,200)");
    assert_eq!(text("{{ -seq.blocks }} {{- (seq.rows + 1) * 2 }}"), "-41,66712");
    assert_eq!(text("{{ exact.lo }} {{ exact + 1 }}"), "2 3");
    assert_eq!(text("{{ unsure }} from {{ unsure.lo }}"), "2 from not measured");
    assert!(evaluate("unsure.lo > 1", &context()).is_err());
    assert_eq!(
        text("{{ seq.blocks|raw }} {{ seq.median|raw }} {{ share|percent }} {{ 1500|ms }}"),
        "41667 881.94 10.5% 1.50 s"
    );
    assert_eq!(text("{% for m in [seq, index] %}{{ m.median }} {% endfor %}"), "882 ms 0.216 ms ");
}

#[test]
fn prose_escapes_texts() {
    assert_eq!(text("{{ mode }}"), "a_b &lt;i&gt;\\*x\\*");
    assert_eq!(escape_markdown("[x](y) `z` _a_ | # \\"), "\\[x\\](y) \\`z\\` \\_a\\_ \\| \\# \\\\");
}

#[test]
fn what_was_not_measured_is_said_to_be_so() {
    assert_eq!(text("{{ seq.blocks }}, {{ never.blocks }}, {{ index.blocks }}"), "41,667, not measured, 8");
    assert_eq!(text("{{ never.median }}"), "not measured");
    assert_eq!(
        text("{{ seq.median / never.median }} {{ gone }} {{ gone.rows }}"),
        "not measured not measured not measured"
    );
    assert_eq!(text("{{- never.rows -}} x"), "not measuredx");
    assert_eq!(text("a {{ '{{' }} b {{ never.rows }} c"), "a {{ b not measured c");
}

#[test]
fn a_story_with_branches_is_left_out_whole() {
    let told = text("{% if never.rows > 1 %}more{% else %}fewer{% endif %}");
    assert_eq!(
        told,
        "*A paragraph is left out here, because it tells of what was not measured: `never.rows`.*\n"
    );
    assert_eq!(text("{% if seq.rows > 1 %}more{% else %}fewer{% endif %}"), "more");
    assert_eq!(text("{% if never.rows is defined %}yes{% else %}no{% endif %}"), "no");
}

#[test]
fn expressions_have_values() {
    assert_eq!(value("seq.blocks > 100 * index.blocks"), Scalar::Boolean(true));
    assert_eq!(value("rows // 2"), Scalar::Integer(2_500_000));
    assert_eq!(value("share * 2"), Scalar::Float(0.21));
    assert_eq!(value("mode ~ '!'"), Scalar::Text("a_b <i>*x*!".to_owned()));
    assert_eq!(value("speedup.lo > 3900"), Scalar::Boolean(true));
    assert_eq!(value("1 < index.blocks < 10"), Scalar::Boolean(true));
    assert_eq!(value("[seq.blocks, index.blocks]|max"), Scalar::Integer(41_667));
}

#[test]
fn expressions_fail_with_a_reason() {
    assert_eq!(fault("seq.blocks > '3'"), "a number is compared with a text");
    assert_eq!(fault("fast > 1"), "a truth value is compared with a number");
    assert_eq!(fault("seq.rows and fast"), "`and` takes truth values, and this is a number");
    assert_eq!(fault("seq"), "the result is neither a number, a truth value nor a text, but map");
    assert_eq!(fault("seq > 1"), "`seq` is a measure and has no value of its own");
    assert_eq!(fault("seq.blocks / 0"), "unable to calculate 41667 / 0");
    assert_eq!(fault("mode + 1"), "`+` takes numbers, and this is a text");
    assert_eq!(fault("gone + 1"), "`gone` is not defined here");
    assert_eq!(fault("never.blocks == 0"), "`never.blocks` was not measured");
    for claim in [
        "never.blocks > 0 or fast",
        "[never.blocks, 1]|max > 0",
        "never.blocks|int == 0",
        "never.blocks in [0, 1]",
    ] {
        assert_eq!(fault(claim), "`never.blocks` was not measured", "{claim}");
    }
    assert_eq!(fault("not never.blocks"), "`not` takes truth values, and this is a number");
}

#[test]
fn a_check_knows_what_is_used() {
    let checked = check_expression("toggles.off.median / seq.median > rows", &context().names());
    assert_eq!(checked.kind, Kind::Boolean);
    assert_eq!(checked.names, ["toggles", "seq", "rows"]);
    let paths: Vec<String> = checked.metrics.iter().map(MetricUse::path).collect();
    assert_eq!(paths, ["toggles.off.median", "seq.median"]);
}

#[test]
fn places_are_exact() {
    let checked =
        check_template("é {{ seq.blocks }}\n  {{ seq.blokcs }} {{ (seq.rows + 'a') }}", &context().names());
    let places: Vec<(usize, usize, usize)> =
        checked.errors.iter().map(|error| (error.line, error.column, error.length)).collect();
    assert_eq!(places, [(2, 10, 6), (2, 35, 3)]);
    assert_eq!(checked.errors[0].help.as_deref(), Some("did you mean `blocks`?"));
}

#[test]
fn an_expression_is_evaluated_many_times() {
    let mut context = context();
    let prepared =
        Expression::new("seq.median / index.median + speedup.lo", &context).expect("an expression");
    let first = prepared.evaluate(&context).expect("a value");
    assert_eq!(first, value("seq.median / index.median + speedup.lo"));
    context.set_measure("seq", metrics(&[("median", 2.0)]));
    context.set_measure("index", metrics(&[("median", 1.0)]));
    assert_eq!(prepared.evaluate(&context), Ok(Scalar::Float(3902.25)));
    context.set_measure("index", metrics(&[]));
    assert_eq!(prepared.evaluate(&context).expect_err("missing").message, "`index.median` was not measured");
}

#[test]
fn unreasonable_templates_are_refused_and_do_not_hang() {
    let long = "1+".repeat(200_000) + "1";
    assert!(fault(&long).contains("300 words"));
    assert!(render_sql(&format!("{{{{ {long} }}}}"), &context()).is_err());
    let tags = "{% if fast %}".repeat(5000);
    assert!(render_sql(&tags, &context()).is_err());
    let nested = "(".repeat(900) + "1" + &")".repeat(900);
    assert!(evaluate(&nested, &context()).is_err());
    let chain = "1+".repeat(149) + "1";
    assert_eq!(value(&chain), Scalar::Integer(150));
    let loops = "{% for a in range(90000) %}{% for b in range(90000) %}x{% endfor %}{% endfor %}";
    assert_eq!(
        render_sql(loops, &context()).expect_err("endless").message,
        "this takes too long to evaluate"
    );
    let minus = "-".repeat(1900) + "1";
    assert!(evaluate(&minus, &context()).is_err());
}

fn swept() -> Context {
    use std::sync::Arc;
    let mut context = context();
    for (arm, factor) in [("index", 1.0), ("seq", 10.0)] {
        for n in [1_i64, 10] {
            let blocks = factor * n as f64;
            context.set_point(
                "cross",
                arm,
                PointValues {
                    values: vec![("n".to_owned(), Scalar::Integer(n))],
                    printed: format!("n={n}"),
                    x: Some(n as f64 / 1000.0),
                    metrics: Arc::new(metrics(&[("blocks", blocks), ("median", blocks / 2.0)])),
                    probes: Arc::new(metrics(&[("density", 0.5)])),
                },
            );
        }
    }
    let numbers = |values: &[(&str, Option<f64>)]| {
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect::<BTreeMap<_, _>>()
    };
    context.set_part("cross", "crossing", Part::Numbers(numbers(&[("lo", Some(3.0)), ("hi", None)])));
    let regret = numbers(&[("ratio", Some(1.5)), ("ratio_lo", Some(1.2))]);
    context.set_part("cross", "regret", Part::Estimates(regret, &["ratio"]));
    let flip = BTreeMap::from([
        ("lo".to_owned(), Scalar::Float(5.0)),
        ("after".to_owned(), Scalar::Text("Seq Scan on t".to_owned())),
    ]);
    context.set_part("cross", "flips", Part::List(vec![flip]));
    context
}

#[test]
fn a_point_of_a_sweep_is_picked_by_its_values() {
    let context = swept();
    let value = |text: &str| evaluate(text, &context).expect(text);
    assert_eq!(value("cross.index.at(n=10).blocks"), Scalar::Integer(10));
    assert_eq!(value("cross.seq.at(n = 1.0).blocks / cross.index.at(n=1).blocks"), Scalar::Float(10.0));
    assert_eq!(value("cross.index.points|length"), Scalar::Integer(2));
    assert_eq!(value("(cross.seq.points|last).blocks"), Scalar::Integer(100));
    assert_eq!(value("cross.seq.points[0].n + cross.seq.at(n=1).density"), Scalar::Float(1.5));
    assert_eq!(
        value("cross.flips[0].after == 'Seq Scan on t' and cross.flips|length == 1"),
        Scalar::Boolean(true)
    );
    assert_eq!(value("cross.crossing.lo"), Scalar::Integer(3));
    assert_eq!(
        render_text(
            "{{ cross.index.at(n=10).median }} at {{ cross.index.at(n=10).x | percent }}: {% for p in cross.seq.points %}{{ p.n }} {{ p.blocks }}; {% endfor %}",
            &context
        ),
        "5.00 ms at 1.00%: 1 10; 10 100; "
    );
    assert_eq!(render_text("{{ cross.crossing.hi }}", &context), "not computable");
}

#[test]
fn what_is_wrong_with_a_point_is_told() {
    let context = swept();
    let fault = |text: &str| {
        let error = evaluate(text, &context).expect_err(text);
        format!("{} | {}", error.message, error.help.unwrap_or_default())
    };
    assert_eq!(fault("cross.index.at(n=2).blocks"), "the sweep has no such point | the points are n=1; n=10");
    assert_eq!(
        fault("cross.index.at(10).blocks"),
        "this picks no point | write the value of every parameter out: `.at(n=1)`"
    );
    assert!(fault("seq.at(n=1)").starts_with("there is no `.at(…)` here"));
    assert_eq!(
        fault("cross.index > 5"),
        "`cross.index` is an arm of a sweep and has no value of its own | name a point of it: `cross.index.at(n=1)`"
    );
    assert!(fault("cross.index.at(n=1).blokcs").contains("did you mean `blocks`?"));
    assert!(fault("cross.crossing.hi > 1").contains("undefined"));
}

#[test]
fn what_a_claim_rests_on_is_known_for_points_too() {
    let names = swept().names();
    let used = |text: &str| -> Vec<String> {
        check_expression(text, &names).metrics.iter().map(MetricUse::path).collect()
    };
    assert_eq!(used("cross.index.at(n=10).median < 5"), ["cross.index.at(n=10).median"]);
    assert_eq!(
        used("(cross.seq.points|first).median < 5"),
        ["cross.seq.at(n=1).median", "cross.seq.at(n=10).median"],
        "it may be any of them"
    );
    let estimates =
        check_expression("cross.regret.ratio < 2 and cross.regret.ratio_lo < 2", &names).estimates;
    let paths: Vec<&str> = estimates.iter().map(|used| used.path.as_str()).collect();
    assert_eq!(paths, ["cross.regret.ratio"]);
}
