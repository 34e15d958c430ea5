//! What an expression stands for, and what in it cannot be.

use minijinja::machinery::ast::{BinOpKind, CallArg, Compare, CompareOpKind, Expr, GetItem, UnaryOpKind};

use crate::metric::{self, Metric};

use super::ast::{self, extent};
use super::check::{Checker, EstimateUse, MetricUse};
use super::kind::{Group, Kind, Swept};
use super::library::{FILTERS, FUNCTIONS, Makes, TESTS, returns};
use super::point;
use super::unit;

impl Checker<'_> {
    pub(super) fn expression(&mut self, expr: &Expr<'_>) -> Kind {
        match expr {
            Expr::Var(variable) => self.variable(variable.id, extent(expr)),
            Expr::Const(constant) => constant_kind(&constant.value),
            Expr::GetAttr(attribute) => {
                let of = self.expression(&attribute.expr);
                self.attribute(expr, &attribute.expr, &of, attribute.name)
            }
            Expr::GetItem(item) => self.item(expr, item),
            Expr::Slice(slice) => {
                self.all([&slice.start, &slice.stop, &slice.step].into_iter().flatten().collect());
                self.expression(&slice.expr)
            }
            Expr::UnaryOp(op) => {
                let kind = self.expression(&op.expr);
                match op.op {
                    UnaryOpKind::Not => self.truth("not", &op.expr, &kind),
                    UnaryOpKind::Neg => match self.operand("-", &op.expr, &kind) {
                        Kind::Number => Kind::number(kind.unit()),
                        other => other,
                    },
                }
            }
            Expr::BinOp(op) => self.binary(op.op, &op.left, &op.right),
            Expr::Compare(compare) => self.chain(compare),
            Expr::IfExpr(choice) => {
                let kind = self.expression(&choice.test_expr);
                self.truth("if", &choice.test_expr, &kind);
                let yes = self.expression(&choice.true_expr);
                choice.false_expr.as_ref().map(|no| self.expression(no)).map_or(yes.clone(), |no| yes.or(no))
            }
            Expr::Filter(filter) => {
                let kind = filter.expr.as_ref().map_or(Kind::Text, |of| self.expression(of));
                self.all(filter.args.iter().map(ast::argument).collect());
                self.filter(expr, filter.name, filter.args.len(), filter.expr.as_ref(), kind)
            }
            Expr::Test(test) => {
                self.expression(&test.expr);
                self.all(test.args.iter().map(ast::argument).collect());
                self.asks_whether_defined |= matches!(test.name, "defined" | "undefined");
                if !TESTS.contains(&test.name) {
                    self.unknown("test", test.name, extent(expr), TESTS);
                }
                Kind::Boolean
            }
            Expr::Call(call) => {
                self.all(call.args.iter().map(ast::argument).collect());
                match point::call_of(call) {
                    Some((of, args)) => self.point(expr, of, args),
                    None => self.call(expr, &call.expr),
                }
            }
            Expr::List(list) => self.list(list.items.iter().collect()),
            Expr::Tuple(tuple) => self.list(tuple.items.iter().collect()),
            Expr::Map(_) => {
                self.all(ast::children(expr));
                Kind::Any
            }
        }
    }

    fn item(&mut self, expr: &Expr<'_>, item: &GetItem<'_>) -> Kind {
        let of = self.expression(&item.expr);
        self.expression(&item.subscript_expr);
        match (&item.subscript_expr, &of) {
            (_, Kind::List(element)) => (**element).clone(),
            (_, Kind::Any) => Kind::Any,
            _ => {
                let help = "write the name of the part after a dot".to_owned();
                self.error(extent(expr), format!("{} takes no `[…]`", of.noun()), help);
                Kind::Any
            }
        }
    }

    fn chain(&mut self, compare: &Compare<'_>) -> Kind {
        let mut left = (&compare.expr, self.expression(&compare.expr));
        for op in &compare.ops {
            let right = (&op.expr, self.expression(&op.expr));
            let ordered = matches!(
                op.op,
                CompareOpKind::Lt | CompareOpKind::Lte | CompareOpKind::Gt | CompareOpKind::Gte
            );
            self.comparison(&left, &right, ordered);
            left = right;
        }
        Kind::Boolean
    }

    fn call(&mut self, expr: &Expr<'_>, function: &Expr<'_>) -> Kind {
        match function {
            Expr::Var(function) if FUNCTIONS.contains(&function.id) => returns(function.id),
            Expr::Var(name) => {
                self.unknown("function", name.id, extent(function), FUNCTIONS);
                Kind::Any
            }
            other => {
                self.expression(other);
                let help = "use a filter: `value|filter`".to_owned();
                self.error(extent(expr), "values have no methods".to_owned(), help);
                Kind::Any
            }
        }
    }

    /// `.at(n=10)` of an arm of a sweep.
    fn point(&mut self, expr: &Expr<'_>, of: &Expr<'_>, args: &[CallArg<'_>]) -> Kind {
        let group = match self.expression(of) {
            Kind::Any => return Kind::Any,
            Kind::Group(group) => Some(group),
            _ => None,
        };
        let points = group.and_then(|group| {
            let Some(Kind::List(points)) = group.parts.get("points").cloned() else { return None };
            Some((*points, group.swept?))
        });
        let Some((Kind::Group(mut picked), swept)) = points else {
            let help = "`.at(…)` picks a point of an arm of a sweep: `sweep.arm.at(n=10)`".to_owned();
            self.error(extent(expr), "there is no `.at(…)` here".to_owned(), help);
            return Kind::Any;
        };
        let Some(arguments) = point::arguments(args) else {
            let help = format!("write the value of every parameter out: `{}`", swept.example());
            self.error(extent(expr), "this picks no point".to_owned(), help);
            return Kind::Any;
        };
        let Some(found) = swept.find(&arguments) else {
            let printed: Vec<&str> = swept.points.iter().map(|(_, printed)| printed.as_str()).collect();
            let shown = printed.iter().take(12).copied().collect::<Vec<_>>().join("; ");
            let more = if printed.len() > 12 { "; …" } else { "" };
            let help = format!("the points are {shown}{more}");
            self.error(extent(expr), "the sweep has no such point".to_owned(), help);
            return Kind::Any;
        };
        let found = found.to_owned();
        picked.swept = Some(Box::new(Swept { picked: Some(found), ..*swept }));
        Kind::Group(picked)
    }

    fn all(&mut self, expressions: Vec<&Expr<'_>>) -> Option<Kind> {
        expressions.into_iter().map(|expr| self.expression(expr)).reduce(Kind::or)
    }

    fn list(&mut self, items: Vec<&Expr<'_>>) -> Kind {
        Kind::List(Box::new(self.all(items).unwrap_or(Kind::Any)))
    }

    fn variable(&mut self, name: &str, span: (usize, usize)) -> Kind {
        let found =
            self.scopes.iter().enumerate().rev().find_map(|(depth, scope)| Some((depth, scope.get(name)?)));
        if let Some((depth, kind)) = found {
            let kind = kind.clone();
            if depth == 0 && !self.names.iter().any(|known| known == name) {
                self.names.push(name.to_owned());
            }
            return kind;
        }
        let known: Vec<String> = self.scopes.iter().flat_map(|scope| scope.keys().cloned()).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        self.unknown("name", name, span, &known);
        Kind::Any
    }

    fn unknown(&mut self, what: &str, name: &str, span: (usize, usize), known: &[&str]) {
        let message = if what == "name" {
            format!("`{name}` is not defined here")
        } else {
            format!("there is no {what} `{name}`")
        };
        self.error(span, message, advice(name, known, what));
        if let Some(error) = self.errors.last_mut() {
            error.undefined = what == "name";
        }
    }

    fn attribute(&mut self, expr: &Expr<'_>, inner: &Expr<'_>, of: &Kind, name: &str) -> Kind {
        let end = expr.span().end_offset as usize;
        let span = (end.saturating_sub(name.len()), end);
        match of {
            Kind::Any => Kind::Any,
            Kind::Interval(unit) if matches!(name, "lo" | "hi") => Kind::number(*unit),
            Kind::Group(group) => {
                let Some(kind) = group.parts.get(name) else {
                    let path = self.text.get(extent(inner).0..extent(inner).1).unwrap_or_default().to_owned();
                    self.no_part(span, &path, group, name);
                    return Kind::Any;
                };
                match (kind, &group.swept) {
                    (Kind::Metric(metric), Some(swept)) => self.swept_metric(expr, swept, *metric),
                    (Kind::Metric(metric), None) => self.metric(expr, inner, *metric),
                    (Kind::Estimated, _) => self.estimate(expr),
                    _ => {}
                }
                kind.clone()
            }
            other => {
                let help = matches!(other, Kind::Interval(_)).then(|| "it has `.lo` and `.hi`".to_owned());
                self.error(span, format!("{} has no `.{name}`", other.noun()), help);
                Kind::Any
            }
        }
    }

    fn no_part(&mut self, span: (usize, usize), path: &str, group: &Group, name: &str) {
        let known: Vec<&str> = group.parts.keys().map(String::as_str).collect();
        let message = format!("`{path}` has no {} `{name}`", group.part);
        let help = if let (Some(swept), Some(_)) = (&group.swept, Metric::from_name(name)) {
            Some(format!("name a point too: `{path}{}.{name}`", swept.example()))
        } else if group.part == "arm" && Metric::from_name(name).is_some() {
            known.first().map(|arm| format!("name the arm too: `{path}.{arm}.{name}`"))
        } else {
            let which = || (group.part == "metric").then(|| metric::WHICH.to_owned());
            advice(name, &known, group.part).or_else(which)
        };
        self.error(span, message, help);
    }

    /// A metric of a point, or of whichever point of a list.
    fn swept_metric(&mut self, expr: &Expr<'_>, swept: &Swept, metric: Metric) {
        let (start, end) = extent(expr);
        let points = swept.points.iter().map(|(_, printed)| printed);
        for point in points.filter(|point| swept.picked.as_ref().is_none_or(|picked| picked == *point)) {
            self.metrics.push(MetricUse {
                measure: swept.measure.clone(),
                arm: swept.arm.clone(),
                point: Some(point.clone()),
                one_of_many: swept.picked.is_none(),
                metric,
                offset: start,
                length: end.saturating_sub(start),
            });
        }
    }

    fn estimate(&mut self, expr: &Expr<'_>) {
        let (start, end) = extent(expr);
        let path = self.text.get(start..end).unwrap_or_default().to_owned();
        self.estimates.push(EstimateUse { path, offset: start, length: end.saturating_sub(start) });
    }

    fn metric(&mut self, expr: &Expr<'_>, inner: &Expr<'_>, metric: Metric) {
        let (measure, arm) = match inner {
            Expr::Var(measure) => (measure.id, None),
            Expr::GetAttr(arm) => match &arm.expr {
                Expr::Var(measure) => (measure.id, Some(arm.name.to_owned())),
                _ => return,
            },
            _ => return,
        };
        // A loop variable is no measure: what it stands for is seen only when the template is rendered.
        if self.scopes.iter().skip(1).any(|scope| scope.contains_key(measure)) {
            return;
        }
        let (start, end) = extent(expr);
        self.metrics.push(MetricUse {
            measure: measure.to_owned(),
            arm,
            point: None,
            one_of_many: false,
            metric,
            offset: start,
            length: end.saturating_sub(start),
        });
    }

    fn binary(&mut self, op: BinOpKind, left: &Expr<'_>, right: &Expr<'_>) -> Kind {
        let (l, r) = (self.expression(left), self.expression(right));
        let symbol = symbol(op);
        match op {
            BinOpKind::Eq | BinOpKind::Ne | BinOpKind::In => {
                self.comparison(&(left, l), &(right, r), false);
                Kind::Boolean
            }
            BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => {
                self.comparison(&(left, l), &(right, r), true);
                Kind::Boolean
            }
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let (l, r) = (self.truth(symbol, left, &l), self.truth(symbol, right, &r));
                l.or(r)
            }
            BinOpKind::Concat => Kind::Text,
            BinOpKind::Add if l == Kind::Text && r == Kind::Text => Kind::Text,
            BinOpKind::Add if matches!((&l, &r), (Kind::Any, Kind::Text) | (Kind::Text, Kind::Any)) => {
                Kind::Any
            }
            _ => {
                let unit = unit::combined(op, (left, &l), (right, &r));
                match self.operand(symbol, left, &l).or(self.operand(symbol, right, &r)) {
                    Kind::Any if matches!(op, BinOpKind::Add) => Kind::Any,
                    _ => Kind::number(unit),
                }
            }
        }
    }

    fn operand(&mut self, symbol: &str, expr: &Expr<'_>, kind: &Kind) -> Kind {
        match kind {
            Kind::Group(group) => self.no_value(extent(expr), group),
            Kind::Any => return Kind::Any,
            kind if kind.is_number() => {}
            other => {
                let help = "only numbers can be reckoned with".to_owned();
                self.error(
                    extent(expr),
                    format!("`{symbol}` takes numbers, and this is {}", other.noun()),
                    help,
                );
            }
        }
        Kind::Number
    }

    fn truth(&mut self, symbol: &str, expr: &Expr<'_>, kind: &Kind) -> Kind {
        match kind {
            Kind::Boolean => Kind::Boolean,
            Kind::Any => Kind::Any,
            Kind::Group(group) => {
                self.no_value(extent(expr), group);
                Kind::Boolean
            }
            other => {
                let help = "compare it with something, such as `> 0`".to_owned();
                self.error(
                    extent(expr),
                    format!("`{symbol}` takes truth values, and this is {}", other.noun()),
                    help,
                );
                Kind::Boolean
            }
        }
    }

    fn comparison(&mut self, left: &(&Expr<'_>, Kind), right: &(&Expr<'_>, Kind), ordered: bool) {
        for (expr, kind) in [left, right] {
            if let Kind::Group(group) = kind {
                self.no_value(extent(expr), group);
                return;
            }
        }
        let (l, r) = (&left.1, &right.1);
        let element = if let Kind::List(element) = r { element } else { r };
        let alike = matches!(l, Kind::Any)
            || matches!(element, Kind::Any)
            || (l.is_number() && element.is_number())
            || (*l == Kind::Text && *element == Kind::Text)
            || (*l == Kind::Boolean && *element == Kind::Boolean && !ordered);
        if !alike {
            let span = (extent(left.0).0, extent(right.0).1);
            let help = if *l == Kind::Text || *element == Kind::Text {
                "write a number without quotes, or turn a text into one with `|int`"
            } else {
                "compare like with like"
            };
            self.error(span, format!("{} is compared with {}", l.noun(), element.noun()), help.to_owned());
        }
    }

    fn filter(
        &mut self,
        expr: &Expr<'_>,
        name: &str,
        arguments: usize,
        of: Option<&Expr<'_>>,
        kind: Kind,
    ) -> Kind {
        let Some(rule) = FILTERS.iter().find(|rule| rule.name == name) else {
            let known: Vec<&str> = FILTERS.iter().map(|rule| rule.name).collect();
            let end = expr.span().end_offset as usize;
            let start = self.text.get(..end).and_then(|before| before.rfind(name)).unwrap_or(end);
            self.unknown("filter", name, (start, start + name.len()), &known);
            if matches!(name, "default" | "d")
                && let Some(error) = self.errors.last_mut()
            {
                error.help =
                    Some("what was not measured has no value, and none is made up for it".to_owned());
            }
            return Kind::Any;
        };
        if arguments > rule.arguments {
            let message =
                format!("`{name}` takes {} arguments at most, here are {arguments}", rule.arguments);
            self.error(extent(expr), message, None);
        }
        if let (Some(of), Kind::Group(group)) = (of, &kind) {
            self.no_value(extent(of), group);
        }
        if let Some(of) = of {
            self.fits(name, of, &kind);
        }
        match (rule.makes, kind) {
            (Makes::Number, _) => Kind::Number,
            (Makes::Text, _) => Kind::Text,
            (Makes::Same, kind) => kind,
            (Makes::Amount, Kind::List(element)) => Kind::number(element.unit()),
            (Makes::Amount, kind) => Kind::number(kind.unit()),
            (Makes::Element, Kind::List(element)) => *element,
            (Makes::Element, _) => Kind::Any,
        }
    }
}

/// The nearest known name, or the list where it is short.
fn advice(name: &str, known: &[&str], what: &str) -> Option<String> {
    if let Some(nearest) = crate::nearest::nearest(name, known.iter().copied()) {
        return Some(format!("did you mean `{nearest}`?"));
    }
    let mut known: Vec<&str> = known.to_vec();
    known.sort_unstable();
    known.dedup();
    match known.len() {
        0 => Some("nothing is defined here".to_owned()),
        1..=12 => Some(format!("known {what}s: {}", known.join(", "))),
        _ => None,
    }
}

fn constant_kind(value: &minijinja::Value) -> Kind {
    if value.is_number() {
        Kind::Number
    } else if value.as_str().is_some() {
        Kind::Text
    } else if bool::try_from(value.clone()).is_ok() {
        Kind::Boolean
    } else {
        Kind::Any
    }
}

fn symbol(op: BinOpKind) -> &'static str {
    match op {
        BinOpKind::Eq => "==",
        BinOpKind::Ne => "!=",
        BinOpKind::Lt => "<",
        BinOpKind::Lte => "<=",
        BinOpKind::Gt => ">",
        BinOpKind::Gte => ">=",
        BinOpKind::ScAnd => "and",
        BinOpKind::ScOr => "or",
        BinOpKind::Add => "+",
        BinOpKind::Sub => "-",
        BinOpKind::Mul => "*",
        BinOpKind::Div => "/",
        BinOpKind::FloorDiv => "//",
        BinOpKind::Rem => "%",
        BinOpKind::Pow => "**",
        BinOpKind::Concat => "~",
        BinOpKind::In => "in",
    }
}
