//! Small changes to a template's text before it is evaluated, found on its syntax tree.
//!
//! Metrics and named numbers must be plain numbers to minijinja: objects have no arithmetic and compare
//! wrongly. So `speedup.lo` is looked up under a name of its own, a time is told from a count by the path
//! that it was reached by, and `.at(n=10)` becomes `['n=10']`, the name of the point.

use minijinja::machinery::ast::{CallArg, Expr, Stmt};
use minijinja::machinery::{parse, parse_expr};

use crate::metric::{Metric, Unit};

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

/// Every expression inside `expr`, itself first.
pub(super) fn walk<'a, 's>(expr: &'a Expr<'s>, visit: &mut dyn FnMut(&'a Expr<'s>)) {
    visit(expr);
    for child in children(expr) {
        walk(child, visit);
    }
}

/// The expressions directly below one.
pub(super) fn children<'a, 's>(expr: &'a Expr<'s>) -> Vec<&'a Expr<'s>> {
    match expr {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::Slice(slice) => {
            let bounds = [&slice.start, &slice.stop, &slice.step];
            std::iter::once(&slice.expr).chain(bounds.into_iter().flatten()).collect()
        }
        Expr::UnaryOp(op) => vec![&op.expr],
        Expr::BinOp(op) => vec![&op.left, &op.right],
        Expr::Compare(compare) => {
            std::iter::once(&compare.expr).chain(compare.ops.iter().map(|op| &op.expr)).collect()
        }
        Expr::IfExpr(choice) => {
            [&choice.test_expr, &choice.true_expr].into_iter().chain(&choice.false_expr).collect()
        }
        Expr::Filter(filter) => filter.expr.iter().chain(filter.args.iter().map(argument)).collect(),
        Expr::Test(test) => std::iter::once(&test.expr).chain(test.args.iter().map(argument)).collect(),
        Expr::GetAttr(attribute) => vec![&attribute.expr],
        Expr::GetItem(item) => vec![&item.expr, &item.subscript_expr],
        Expr::Call(call) => std::iter::once(&call.expr).chain(call.args.iter().map(argument)).collect(),
        Expr::List(list) => list.items.iter().collect(),
        Expr::Tuple(tuple) => tuple.items.iter().collect(),
        Expr::Map(map) => map.keys.iter().chain(&map.values).collect(),
    }
}

/// The expression of an argument, however it is passed.
pub(super) fn argument<'a, 's>(argument: &'a CallArg<'s>) -> &'a Expr<'s> {
    match argument {
        CallArg::Pos(expr)
        | CallArg::Kwarg(_, expr)
        | CallArg::PosSplat(expr)
        | CallArg::KwargSplat(expr) => expr,
    }
}

/// Every expression of a template; `emitted` sees those that stand alone between `{{` and `}}`.
fn expressions<'a, 's>(
    statement: &'a Stmt<'s>,
    visit: &mut dyn FnMut(&'a Expr<'s>),
    emitted: &mut dyn FnMut(&'a Expr<'s>),
) {
    let mut bodies: Vec<&'a [Stmt<'s>]> = Vec::new();
    match statement {
        Stmt::Template(template) => bodies.push(&template.children),
        Stmt::EmitExpr(emit) => {
            emitted(&emit.expr);
            walk(&emit.expr, visit);
        }
        Stmt::ForLoop(each) => {
            walk(&each.iter, visit);
            each.filter_expr.iter().for_each(|filter| walk(filter, visit));
            bodies.extend([&each.body[..], &each.else_body[..]]);
        }
        Stmt::IfCond(choice) => {
            walk(&choice.expr, visit);
            bodies.extend([&choice.true_body[..], &choice.false_body[..]]);
        }
        Stmt::WithBlock(with) => {
            with.assignments.iter().for_each(|(_, value)| walk(value, visit));
            bodies.push(&with.body);
        }
        Stmt::Set(set) => walk(&set.expr, visit),
        Stmt::SetBlock(set) => bodies.push(&set.body),
        Stmt::FilterBlock(filter) => bodies.push(&filter.body),
        // Plain text, and statements that the check refuses.
        _ => {}
    }
    for body in bodies {
        for statement in body {
            expressions(statement, visit, emitted);
        }
    }
}

/// Where an expression begins and ends. A span of minijinja may begin in the middle of a path.
pub(super) fn extent(expr: &Expr<'_>) -> (usize, usize) {
    let span = expr.span();
    let own = (span.start_offset as usize, span.end_offset as usize);
    let first = match expr {
        Expr::Var(_) | Expr::Const(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => return own,
        Expr::UnaryOp(_) | Expr::IfExpr(_) => children(expr).into_iter().map(|child| extent(child).0).min(),
        _ => children(expr).first().map(|child| extent(child).0),
    };
    let last = children(expr).into_iter().map(|child| extent(child).1).max();
    (first.unwrap_or(own.0), own.1.max(last.unwrap_or(own.1)))
}
