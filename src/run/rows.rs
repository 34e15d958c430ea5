//! Whether two queries returned the same rows.

use std::cmp::Ordering;

use crate::session::Answer;

/// What counts as the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// How far floating-point values may differ, as a share of the larger one.
    pub(super) tolerance: f64,
    /// Whether the order of the rows counts.
    pub(super) ordered: bool,
}

type Row = Vec<Option<String>>;

/// The largest relative difference between values that were taken as the same, where there was one; or the first
/// difference, in words. Rows count as often as they occur. Without an order, rows are paired by their exact values
/// first and by their floating-point values then.
pub(super) fn compare(
    (one_name, one): (&str, &Answer),
    (other_name, other): (&str, &Answer),
    rules: Rules,
) -> Result<Option<f64>, String> {
    if one.floats.len() != other.floats.len() {
        let (left, right) = (one.floats.len(), other.floats.len());
        return Err(format!("{one_name} has {left} columns and {other_name} {right}"));
    }
    let floats: Vec<bool> = one.floats.iter().zip(&other.floats).map(|(one, other)| *one || *other).collect();
    let arranged = |answer: &'_ Answer| -> Vec<usize> {
        let mut order: Vec<usize> = (0..answer.rows.len()).collect();
        if !rules.ordered {
            order.sort_by(|a, b| arrange(&answer.rows[*a], &answer.rows[*b], &floats));
        }
        order
    };
    let (left, right) = (arranged(one), arranged(other));
    let mut off_by = None;
    for at in 0..left.len().max(right.len()) {
        let mine = left.get(at).map(|at| &one.rows[*at]);
        let theirs = right.get(at).map(|at| &other.rows[*at]);
        let off = match (mine, theirs) {
            (Some(mine), Some(theirs)) => distance(mine, theirs, &floats),
            _ => None,
        };
        match off {
            Some(off) if off <= rules.tolerance => {
                off_by = [off_by, (off > 0.0).then_some(off)].into_iter().flatten().reduce(f64::max);
            }
            _ if rules.ordered => return Err(at_place(at, (one_name, mine), (other_name, theirs))),
            _ => return Err(alone((one_name, mine), (other_name, theirs), &floats)),
        }
    }
    Ok(off_by)
}

/// Exact values first, so that rows that differ in the last digit of a float stand at the same place.
fn arrange(one: &Row, other: &Row, floats: &[bool]) -> Ordering {
    let exact = |row: &'_ Row| -> Vec<Option<String>> {
        row.iter().zip(floats).filter(|(_, float)| !**float).map(|(cell, _)| cell.clone()).collect()
    };
    let by_value = || {
        let cells = one.iter().zip(other).zip(floats).filter(|(_, float)| **float);
        let mut orders = cells.map(|((one, other), _)| match (number(one), number(other)) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            (one, other) => one.is_some().cmp(&other.is_some()),
        });
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    exact(one).cmp(&exact(other)).then_with(by_value)
}

/// The largest relative difference of two rows; nothing where they differ in an exact value.
fn distance(one: &Row, other: &Row, floats: &[bool]) -> Option<f64> {
    let mut largest = 0.0_f64;
    for ((one, other), float) in one.iter().zip(other).zip(floats) {
        if one == other {
            continue;
        }
        let (true, Some(one), Some(other)) = (*float, number(one), number(other)) else { return None };
        let scale = one.abs().max(other.abs());
        largest = largest.max(if scale > 0.0 { (one - other).abs() / scale } else { 0.0 });
    }
    largest.is_finite().then_some(largest)
}

fn number(cell: &Option<String>) -> Option<f64> {
    cell.as_deref()?.parse().ok().filter(|number: &f64| number.is_finite())
}

fn at_place(at: usize, one: (&str, Option<&Row>), other: (&str, Option<&Row>)) -> String {
    let side = |(name, row): (&str, Option<&Row>)| match row {
        Some(row) => format!("{} in {name}", shown(row)),
        None => format!("missing in {name}"),
    };
    format!("row {} is {} and {}", at + 1, side(one), side(other))
}

/// The row that only one of them has: the smaller one, since both are sorted.
fn alone(one: (&str, Option<&Row>), other: (&str, Option<&Row>), floats: &[bool]) -> String {
    let (has, lacks, row) = match (one.1, other.1) {
        (Some(mine), Some(theirs)) if arrange(mine, theirs, floats).is_gt() => (other.0, one.0, theirs),
        (Some(mine), _) => (one.0, other.0, mine),
        (None, Some(theirs)) => (other.0, one.0, theirs),
        (None, None) => return format!("{} and {} differ", one.0, other.0),
    };
    format!("{has} has the row {}, which {lacks} has not, or not as often", shown(row))
}

fn shown(row: &Row) -> String {
    const LONGEST: usize = 120;
    let cells: Vec<&str> = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
    let text = format!("({})", cells.join(", "));
    if text.chars().count() <= LONGEST {
        return text;
    }
    format!("{}…", text.chars().take(LONGEST).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(floats: &[bool], rows: &[&[&str]]) -> Answer {
        let cell = |cell: &&str| (*cell != "NULL").then(|| (*cell).to_owned());
        Answer {
            floats: floats.to_vec(),
            rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        }
    }

    fn told(one: &Answer, other: &Answer, rules: Rules) -> Result<Option<f64>, String> {
        compare(("a", one), ("b", other), rules)
    }

    const EXACT: Rules = Rules { tolerance: 0.0, ordered: false };

    #[test]
    fn rows_are_the_same_in_any_order_and_as_often() {
        let one = answer(&[false, false], &[&["1", "x"], &["2", "NULL"], &["1", "x"]]);
        let other = answer(&[false, false], &[&["2", "NULL"], &["1", "x"], &["1", "x"]]);
        assert_eq!(told(&one, &other, EXACT), Ok(None));
        let ordered = Rules { ordered: true, ..EXACT };
        let first = told(&one, &other, ordered).expect_err("another order");
        assert_eq!(first, "row 1 is (1, x) in a and (2, NULL) in b");
        let fewer = answer(&[false, false], &[&["2", "NULL"], &["1", "x"]]);
        let lacking = told(&one, &fewer, EXACT).expect_err("a row less");
        assert_eq!(lacking, "a has the row (1, x), which b has not, or not as often");
        assert_eq!(
            told(&fewer, &one, EXACT).expect_err("a row more"),
            "b has the row (1, x), which a has not, or not as often"
        );
    }

    #[test]
    fn a_null_is_no_empty_text_and_columns_are_counted() {
        let one = answer(&[false], &[&["NULL"]]);
        assert!(told(&one, &answer(&[false], &[&[""]]), EXACT).is_err());
        let two = answer(&[false, false], &[&["1", "2"]]);
        assert_eq!(told(&one, &two, EXACT).expect_err("columns"), "a has 1 columns and b 2");
    }

    #[test]
    fn floating_point_values_may_differ_by_what_is_stated_and_exact_ones_never() {
        let one = answer(&[true, false], &[&["0.30000000000000004", "1"], &["5", "2"]]);
        let other = answer(&[true, false], &[&["5", "2"], &["0.3", "1"]]);
        assert!(told(&one, &other, EXACT).is_err());
        let near = Rules { tolerance: 1e-12, ordered: false };
        let off = told(&one, &other, near).expect("near enough").expect("a difference");
        assert!((1e-17..1e-15).contains(&off), "{off}");
        let exact = answer(&[false, false], &[&["5", "2"], &["0.3", "1"]]);
        let exact_too = answer(&[false, false], &[&["5", "2"], &["0.30000000000000004", "1"]]);
        assert!(told(&exact, &exact_too, near).is_err());
        assert!(told(&answer(&[true], &[&["NaN"]]), &answer(&[true], &[&["1"]]), near).is_err());
    }
}
