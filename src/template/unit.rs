//! The unit of what is reckoned from numbers that have one: a difference of times is a time, their quotient is none.

use minijinja::machinery::ast::{BinOpKind, Expr};

use crate::metric::Unit;

use super::ast::{self, extent};
use super::check::Checker;
use super::kind::Kind;

/// From this factor on, a number that is written out may turn one unit into another: seconds into minutes, bytes into kB.
const CONVERTS: f64 = 60.0;

/// What a number brings into a product or a sum.
#[derive(Clone, Copy, PartialEq)]
enum Brings {
    Unit(Unit),
    Nothing,
    /// It may have a unit that nobody knows.
    Anything,
}

impl Kind {
    /// The unit that a number is known to have.
    #[must_use]
    pub fn unit(&self) -> Option<Unit> {
        match self {
            Self::Metric(metric) => Some(metric.unit()),
            Self::Quantity(unit) => Some(*unit),
            Self::Interval(unit) => *unit,
            _ => None,
        }
    }

    /// A number of that unit, where it has one.
    pub(super) fn number(unit: Option<Unit>) -> Self {
        unit.map_or(Self::Number, Self::Quantity)
    }

    /// Counts, blocks, costs and ratios are reckoned with as plain numbers are.
    fn brings(&self) -> Brings {
        match self.unit() {
            Some(unit @ (Unit::Milliseconds | Unit::Bytes | Unit::Kilobytes)) => Brings::Unit(unit),
            Some(_) => Brings::Nothing,
            None if matches!(self, Self::Number | Self::Interval(None)) => Brings::Nothing,
            None => Brings::Anything,
        }
    }
}

/// The unit of two numbers put together, where it is sure.
pub(super) fn combined(
    op: BinOpKind,
    (left, l): (&Expr<'_>, &Kind),
    (right, r): (&Expr<'_>, &Kind),
) -> Option<Unit> {
    match (op, l.brings(), r.brings()) {
        (BinOpKind::Add | BinOpKind::Sub | BinOpKind::Rem, Brings::Unit(one), Brings::Unit(other)) => {
            (one == other).then_some(one)
        }
        (BinOpKind::Add | BinOpKind::Sub, Brings::Unit(unit), Brings::Nothing)
        | (BinOpKind::Add | BinOpKind::Sub, Brings::Nothing, Brings::Unit(unit)) => Some(unit),
        (BinOpKind::Mul | BinOpKind::Div | BinOpKind::FloorDiv, Brings::Unit(unit), Brings::Nothing) => {
            (!converts(right)).then_some(unit)
        }
        (BinOpKind::Mul, Brings::Nothing, Brings::Unit(unit)) => (!converts(left)).then_some(unit),
        _ => None,
    }
}

/// Whether a factor may be there to change the unit: no wrong one is printed then.
fn converts(factor: &Expr<'_>) -> bool {
    match factor {
        Expr::Const(constant) => f64::try_from(constant.value.clone())
            .is_ok_and(|size| size.abs() >= CONVERTS || size.abs() <= 1.0 / CONVERTS),
        other => names_nothing(other),
    }
}

fn names_nothing(expr: &Expr<'_>) -> bool {
    !matches!(expr, Expr::Var(_)) && ast::children(expr).into_iter().all(names_nothing)
}

impl Checker<'_> {
    /// Refuses a filter that would show a number as what it is not.
    pub(super) fn fits(&mut self, filter: &str, of: &Expr<'_>, kind: &Kind) {
        let (Some(unit), Some((shows, fitting))) = (kind.unit(), shown_as(filter)) else { return };
        if unit == fitting {
            return;
        }
        let (start, end) = extent(of);
        let path = self.text.get(start..end).unwrap_or_default();
        let help = match (filter, unit) {
            ("bytes", Unit::Kilobytes) => format!("a kB is 1024 bytes: `({path} * 1024)|bytes`"),
            ("bytes", Unit::Blocks) => {
                format!("a block is 8192 bytes unless built otherwise: `({path} * 8192)|bytes`")
            }
            ("percent", _) => format!("divide it by its whole: `({path} / …)|percent`"),
            (_, Unit::Milliseconds) => format!("`{path}|ms` shows a time"),
            (_, Unit::Bytes) => format!("`{path}|bytes` shows a size"),
            _ => format!("leave the filter out: `{path}`"),
        };
        let message = format!("`{filter}` shows {shows}, and `{path}` is {}", noun(unit));
        self.error((start, end), message, help);
    }
}

/// What a filter makes of any number, and the unit that this is right for.
fn shown_as(filter: &str) -> Option<(&'static str, Unit)> {
    match filter {
        "ms" => Some(("a time", Unit::Milliseconds)),
        "bytes" => Some(("a size in bytes", Unit::Bytes)),
        "percent" => Some(("a share", Unit::Ratio)),
        _ => None,
    }
}

fn noun(unit: Unit) -> &'static str {
    match unit {
        Unit::Milliseconds => "a time in ms",
        Unit::Bytes => "a size in bytes",
        Unit::Kilobytes => "a size in kB",
        Unit::Blocks => "a number of blocks",
        Unit::Count => "a count",
        Unit::Cost => "a cost",
        Unit::Ratio => "a ratio",
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_expression, check_template};
    use super::super::kind::Names;
    use super::*;

    fn names() -> Names {
        Names::from([
            ("a".to_owned(), Kind::metrics("measure")),
            ("b".to_owned(), Kind::metrics("measure")),
            ("n".to_owned(), Kind::Number),
            ("found".to_owned(), Kind::Any),
            ("saved".to_owned(), Kind::Interval(Some(Unit::Milliseconds))),
        ])
    }

    #[test]
    fn a_unit_is_derived_where_it_is_sure() {
        let (time, size) = (Some(Unit::Milliseconds), Some(Unit::Bytes));
        for (expression, unit) in [
            ("a.median - b.median", time),
            ("-(a.median - b.p95) * 2", time),
            ("(a.median + b.median) / 2", time),
            ("2 * saved + saved.lo", time),
            ("a.median / a.rows * n", time),
            ("[a.median, b.mean] | max", time),
            ("[a.median, b.mean] | sum", time),
            ("(a.median - b.median) | abs | round(2)", time),
            ("a.median if n > 1 else b.min", time),
            ("a.wal_bytes - b.wal_bytes", size),
            ("a.wal_bytes / n", size),
            ("a.median / b.median", None),
            ("a.median / 1000", None),
            ("a.wal_bytes / (1024 * 1024)", None),
            ("0.001 * a.median", None),
            ("a.median * b.median", None),
            ("a.median - b.wal_bytes", None),
            ("a.median / found", None),
            ("n / a.median", None),
            ("a.blocks - b.blocks", None),
        ] {
            let checked = check_expression(expression, &names());
            assert_eq!(checked.errors, [], "{expression}");
            assert_eq!(checked.kind.unit(), unit, "{expression}");
        }
    }

    #[test]
    fn a_filter_shows_nothing_as_what_it_is_not() {
        for (text, message, help) in [
            ("{{ a.median | bytes }}", "`a.median` is a time in ms", "`a.median|ms`"),
            ("{{ saved | bytes }}", "`saved` is a time in ms", "`saved|ms`"),
            ("{{ (a.median - b.median) | percent }}", "is a time in ms", "divide it by its whole"),
            ("{{ a.sort_space | bytes }}", "is a size in kB", "(a.sort_space * 1024)|bytes"),
            ("{{ a.blocks | bytes }}", "is a number of blocks", "(a.blocks * 8192)|bytes"),
            ("{{ a.wal_bytes | ms }}", "is a size in bytes", "`a.wal_bytes|bytes`"),
            ("{% for m in [a, b] %}{{ m.cost | ms }}{% endfor %}", "is a cost", "leave the filter out"),
        ] {
            let errors = check_template(text, &names()).errors;
            assert_eq!(errors.len(), 1, "{text}");
            assert!(errors[0].message.contains(message), "{}", errors[0].message);
            assert!(errors[0].help.as_ref().is_some_and(|said| said.contains(help)), "{:?}", errors[0].help);
        }
        for text in [
            "{{ saved | ms }} {{ a.median | ms }} {{ (a.blocks * 8192) | bytes }} {{ n | bytes }} {{ found | ms }}",
            "{{ (a.median / b.median) | percent }} {{ a.wal_bytes | bytes }} {{ (a.sort_space * 1024) | bytes }}",
        ] {
            assert_eq!(check_template(text, &names()).errors, [], "{text}");
        }
    }
}
