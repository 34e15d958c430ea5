//! `.at(n=10)`: one point of a sweep, picked by the values of its parameters.

use minijinja::machinery::ast::{Call, CallArg, Expr, UnaryOpKind};

use super::kind::Swept;
use super::scalar::Scalar;

/// The arm, and the arguments, of a call that may pick a point.
pub(super) fn call_of<'a, 's>(call: &'a Call<'s>) -> Option<(&'a Expr<'s>, &'a [CallArg<'s>])> {
    match &call.expr {
        Expr::GetAttr(attribute) if attribute.name == "at" => Some((&attribute.expr, &call.args)),
        _ => None,
    }
}

/// Names with values, where every argument is one written out.
pub(super) fn arguments(args: &[CallArg<'_>]) -> Option<Vec<(String, Scalar)>> {
    let argument = |argument: &CallArg<'_>| match argument {
        CallArg::Kwarg(name, value) => Some(((*name).to_owned(), constant(value)?)),
        _ => None,
    };
    args.iter().map(argument).collect()
}

fn constant(expr: &Expr<'_>) -> Option<Scalar> {
    match expr {
        Expr::Const(constant) => Scalar::of(&constant.value),
        Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Neg) => match constant(&op.expr)? {
            Scalar::Integer(integer) => Some(Scalar::Integer(-integer)),
            Scalar::Float(float) => Some(Scalar::Float(-float)),
            _ => None,
        },
        _ => None,
    }
}

impl Swept {
    /// The point with those values, in whatever order they are given: how it prints.
    pub(super) fn find(&self, arguments: &[(String, Scalar)]) -> Option<&str> {
        let same = |one: &Scalar, other: &Scalar| match (one.number(), other.number()) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        };
        let found = self.points.iter().find(|(values, _)| {
            values.len() == arguments.len()
                && values.iter().all(|(name, value)| {
                    arguments.iter().any(|(known, given)| known == name && same(given, value))
                })
        });
        found.map(|(_, printed)| printed.as_str())
    }

    /// How `.at(…)` is written, by the first point.
    pub(super) fn example(&self) -> String {
        let first = self.points.first().map_or(&[][..], |(values, _)| values);
        let argument = |(name, value): &(String, Scalar)| match value {
            Scalar::Text(text) => format!("{name}='{text}'"),
            other => format!("{name}={other}"),
        };
        format!(".at({})", first.iter().map(argument).collect::<Vec<_>>().join(", "))
    }
}
