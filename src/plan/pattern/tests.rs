use super::*;

fn pattern(text: &str) -> Pattern {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    text.parse::<Pattern>().expect_err(text).message
}

fn plan(json: &str) -> Plan {
    Plan::from_json(json).expect("plan")
}

/// A nested loop of a parallel scan and an index scan, with a sub-plan under the first.
fn sample() -> Plan {
    plan(
        r#"{"Node Type": "Nested Loop", "Join Type": "Left", "Plans": [
        {"Node Type": "Seq Scan", "Parallel Aware": true, "Relation Name": "part_2", "Alias": "p", "Plans": [
            {"Node Type": "Seq Scan", "Relation Name": "u", "Alias": "u", "Subplan Name": "SubPlan 1"}]},
        {"Node Type": "Bitmap Heap Scan", "Relation Name": "Odd > name", "Alias": "o", "Plans": [
            {"Node Type": "Bitmap Index Scan", "Index Name": "odd_i"}]},
        {"Node Type": "Aggregate", "Strategy": "Hashed", "Partial Mode": "Partial", "Plans": [
            {"Node Type": "Index Scan", "Scan Direction": "Backward", "Index Name": "i", "Relation Name": "t",
             "Alias": "t", "Subplan Name": "InitPlan 2 (returns $0)"}]}]}"#,
    )
}

#[test]
fn patterns_print_as_they_are_read() {
    for text in [
        "Seq Scan",
        "= Seq Scan on t",
        "Index Scan using i on t a",
        "Bitmap Heap Scan on t >> Bitmap Index Scan on i",
        "Hash Left Join > Hash > Seq Scan on public.t",
        "Seq Scan on /^part_\\d+$/",
        "Index Only Scan using /a>b/ on \"Odd > name\"",
        "Custom Scan (Columnar) on t",
        "CTE recent > Seq Scan on t",
        "SubPlan 1",
        "InitPlan",
        "Partial HashAggregate",
        "CTE Scan on recent r",
        "Seq Scan on /a\\/b/",
    ] {
        assert_eq!(pattern(text).to_string(), text);
    }
    assert_eq!(pattern("=Sort>Seq Scan  on  \"t\"").to_string(), "= Sort > Seq Scan on t");
}

#[test]
fn base_names_cover_their_variants() {
    let sample = sample();
    let count = |text| pattern(text).find(&sample, &Families::default()).len();
    for (text, found) in [
        ("Seq Scan", 2),
        ("Parallel Seq Scan", 1),
        ("= Seq Scan", 1),
        ("Nested Loop", 1),
        ("= Nested Loop", 0),
        ("Nested Loop Left Join", 1),
        ("Nested Loop Semi Join", 0),
        ("Aggregate", 1),
        ("HashAggregate", 1),
        ("Partial Aggregate", 1),
        ("GroupAggregate", 0),
        ("= Partial HashAggregate", 1),
        ("Index Scan", 1),
        ("Index Only Scan", 0),
        ("Index Scan Backward using i on t", 1),
        ("Index Scan using j", 0),
        ("Bitmap Heap Scan on \"Odd > name\"", 1),
        ("Bitmap Index Scan on odd_i", 1),
        ("Seq Scan on part_2 p", 1),
        ("Seq Scan on part_2 q", 0),
        ("Seq Scan on /part/", 1),
    ] {
        assert_eq!(count(text), found, "{text}");
    }
}

#[test]
fn children_descendants_and_headers() {
    let sample = sample();
    let count = |text| pattern(text).find(&sample, &Families::default()).len();
    for (text, found) in [
        ("Nested Loop > Seq Scan", 1),
        ("Nested Loop >> Seq Scan", 2),
        ("Seq Scan on part_2 > Seq Scan on u", 1),
        ("Seq Scan on part_2 > SubPlan 1 > Seq Scan on u", 1),
        ("SubPlan", 1),
        ("SubPlan 2", 0),
        ("InitPlan 2 > Index Scan", 1),
        ("Aggregate >> InitPlan", 1),
        ("Nested Loop > Index Scan", 0),
        ("Nested Loop >> Aggregate >> Index Scan", 1),
        ("Bitmap Heap Scan >> Bitmap Index Scan on odd_i", 1),
        ("Index Scan > Nested Loop", 0),
    ] {
        assert_eq!(count(text), found, "{text}");
    }
}

#[test]
fn a_parent_covers_its_partitions_at_any_depth() {
    let children = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let families = Families::from(std::collections::BTreeMap::from([
        ("part".to_owned(), children(&["part_1", "sub"])),
        ("sub".to_owned(), children(&["part_2", "part"])),
    ]));
    let sample = sample();
    assert_eq!(pattern("Seq Scan on part").find(&sample, &families).len(), 1);
    assert_eq!(pattern("Seq Scan on part").find(&sample, &Families::default()).len(), 0);
    assert_eq!(pattern("Seq Scan on part_1").find(&sample, &families).len(), 0);
}

#[test]
fn the_nearest_node_shares_most() {
    let sample = sample();
    let nearest = |text| pattern(text).nearest(&sample).map(Node::title);
    assert_eq!(nearest("Index Only Scan using i on t").as_deref(), Some("Index Scan Backward using i on t"));
    assert_eq!(nearest("Seq Scan on u").as_deref(), Some("Seq Scan on u"));
    assert_eq!(nearest("Hash Join").as_deref(), Some("Nested Loop Left Join"));
    assert_eq!(nearest("Limit"), None);
}

#[test]
fn names_that_must_exist() {
    let p = pattern("Nested Loop > Index Scan using i on public.t x >> Bitmap Index Scan on j");
    assert_eq!((p.relations(), p.indexes()), (vec!["t"], vec!["i", "j"]));
    let p = pattern("CTE Scan on c >> Seq Scan on /x/");
    assert_eq!((p.relations().len(), p.indexes().len()), (0, 0));
}

#[test]
fn refusals_give_the_nearest_right_form() {
    for (text, part) in [
        ("", "such as `Seq Scan on events`"),
        ("seq scan on t", "nearest is `Seq Scan on t`"),
        ("Sequential Scan on t", "nearest is `Seq Scan on t`"),
        ("Index-Only Scan using i", "nearest is `Index Only Scan using i`"),
        ("Blorp", "no PostgreSQL prints a node `Blorp`"),
        ("Bitmap Heap Scan using i on t", "`Bitmap Heap Scan on t >> Bitmap Index Scan on i`"),
        ("Bitmap Index Scan using i", "`Bitmap Index Scan on i`"),
        ("Seq Scan using i", "`Index Scan using i`"),
        ("Index Scan on t using i", "`Index Scan using i on t`"),
        ("Hash Join on t", "`Hash Join >> Seq Scan on t`"),
        ("Seq Scan on t a b", "`b` was not expected"),
        ("Seq Scan on", "`on` was not expected"),
        ("Seq Scan on /a", "no closing slash"),
        ("Seq Scan on /(/", "not a regular expression"),
        ("Seq Scan on \"t", "no closing quote"),
        ("Seq Scan on t >", "a node is missing"),
        ("> Seq Scan", "a node is missing"),
        ("->  Seq Scan on t", "leave EXPLAIN's arrow out: `Seq Scan on t`"),
        (
            "Seq Scan on t (cost=0.00..1.00 rows=1 width=4)",
            "leave the numbers in parentheses out: `Seq Scan on t`",
        ),
        ("CTE", "name the CTE"),
        ("Merge Inner Join", "nearest is"),
    ] {
        let message = refused(text);
        assert!(message.contains(part), "{text}: {message}");
    }
}
