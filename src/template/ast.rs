//! The trees that minijinja makes of templates and expressions: their parts, and where those stand.

use minijinja::machinery::ast::{CallArg, Expr, Stmt};

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
pub(super) fn expressions<'a, 's>(
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
