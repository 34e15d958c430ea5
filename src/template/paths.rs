//! Small changes to a template's text before it is evaluated, found on its syntax tree.
//!
//! Metrics and named numbers must be plain numbers to minijinja: objects have no arithmetic and compare
//! wrongly. So `speedup.lo` is looked up under a name of its own, a time is told from a count by the path
//! that it was reached by, and `.at(n=10)` becomes `['n=10']`, the name of the point.

use minijinja::machinery::ast::Expr;
use minijinja::machinery::{parse, parse_expr};

use crate::metric::{Metric, Unit};

use super::ast::{expressions, extent, walk};
use super::context::{Context, end_name};
use super::point;

/// A replacement of `start..end`.
struct Edit {
    start: usize,
    end: usize,
    with: String,
}

/// The template with the ends of intervals under their own names.
pub(super) fn rewrite_template(text: &str, values: &Context) -> String {
    let Ok(tree) = parse(text, "", super::library::syntax()) else {
        return text.to_owned();
    };
    let mut edits = Vec::new();
    expressions(&tree, &mut |expr| ends(expr, values, &mut edits), &mut |_| ());
    apply(text, edits)
}

/// The same, and times that are printed as they are get the `ms` filter.
pub(super) fn rewrite_text(text: &str, values: &Context) -> String {
    let Ok(tree) = parse(text, "", super::library::syntax()) else {
        return text.to_owned();
    };
    let mut edits = Vec::new();
    let mut times = Vec::new();
    expressions(&tree, &mut |expr| ends(expr, values, &mut edits), &mut |emitted| {
        if let Expr::GetAttr(attribute) = emitted
            && Metric::from_name(attribute.name).is_some_and(|metric| metric.unit() == Unit::Milliseconds)
        {
            let end = attribute.span().end_offset as usize;
            times.push(Edit { start: end, end, with: "|ms".to_owned() });
        }
    });
    edits.extend(times);
    apply(text, edits)
}

/// The expression with the ends of intervals under their own names.
pub(super) fn rewrite_expression(text: &str, values: &Context) -> String {
    let Ok(tree) = parse_expr(text) else { return text.to_owned() };
    let mut edits = Vec::new();
    walk(&tree, &mut |expr| ends(expr, values, &mut edits));
    apply(text, edits)
}

fn ends(expr: &Expr<'_>, values: &Context, edits: &mut Vec<Edit>) {
    if let Expr::Call(call) = expr
        && let Some((of, args)) = point::call_of(call)
        && let Some(name) = root(of)
        && let Some(printed) = point::arguments(args).and_then(|args| values.point_of(name, &args))
    {
        // What a point prints has neither quotes nor backslashes.
        edits.push(Edit { start: extent(of).1, end: extent(expr).1, with: format!("['{printed}']") });
    }
    if let Expr::GetAttr(attribute) = expr
        && matches!(attribute.name, "lo" | "hi")
        && let Expr::Var(variable) = &attribute.expr
        && values.is_interval(variable.id)
    {
        edits.push(Edit {
            start: variable.span().start_offset as usize,
            end: attribute.span().end_offset as usize,
            with: end_name(variable.id, attribute.name),
        });
    }
}

/// The name that a path begins with.
fn root<'a>(expr: &'a Expr<'_>) -> Option<&'a str> {
    match expr {
        Expr::Var(variable) => Some(variable.id),
        Expr::GetAttr(attribute) => root(&attribute.expr),
        _ => None,
    }
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.start));
    let mut text = text.to_owned();
    for edit in edits {
        if text.is_char_boundary(edit.start) && text.is_char_boundary(edit.end) && edit.start <= edit.end {
            text.replace_range(edit.start..edit.end, &edit.with);
        }
    }
    text
}
