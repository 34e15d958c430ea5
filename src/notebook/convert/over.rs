//! The parameters of a sweep and their values: lists, ranges, and what is wrong with them.

use crate::template::{Context, Scalar, check_template, render_sql};

use super::super::de::Reader;
use super::super::model::{Axis, Values};
use super::super::node::NodeId;
use super::super::point::Point;
use super::super::scalar;
use super::super::wire::{self, Either, OneOrMany, Range, Value, Whole};
use super::identifier::identifier;
use super::params;

/// The most points of one sweep: each is a measure of its own.
const MOST_POINTS: usize = 1_000;
/// The longest text that may be a value, since it stands in file names.
const LONGEST: usize = 40;

/// Reads `over`. The notebook's parameters can be used in it, and a swept one keeps the type that it has there.
pub(super) fn axes(reader: &Reader<'_>, params: &Values, wire: &wire::Sweep) -> Option<Vec<Axis>> {
    let over = Over { reader, params, context: Context::new().with(params) };
    if wire.over.0.is_empty() {
        let place = reader.tree.place(wire.id.0);
        reader.fault(place, "`over` names no parameter", "write `over: {n: [1, 10, 100]}`");
    }
    let axes: Option<Vec<Axis>> = wire
        .over
        .0
        .iter()
        .map(|(name, values)| over.axis(*name, values))
        .collect::<Vec<_>>()
        .into_iter()
        .collect();
    let axes = axes.filter(|axes| !axes.is_empty())?;
    let count = axes.iter().map(|axis| axis.values.len()).try_fold(1_usize, usize::checked_mul);
    if count.is_none_or(|count| count > MOST_POINTS) {
        let message =
            format!("this sweep has more than {MOST_POINTS} points, and each is measured by itself");
        reader.fault(reader.tree.place(wire.id.0), message, "name fewer values");
        return None;
    }
    Some(axes)
}

/// All combinations of the values, the last parameter changing fastest.
pub(super) fn points(axes: &[Axis]) -> Vec<Point> {
    let mut points = vec![Values::new()];
    for axis in axes {
        let with = |point: &Values, value: &Scalar| {
            let mut point = point.clone();
            point.push((axis.name.clone(), value.clone()));
            point
        };
        points =
            points.iter().flat_map(|point| axis.values.iter().map(move |value| with(point, value))).collect();
    }
    points.into_iter().map(Point::new).collect()
}

struct Over<'r> {
    reader: &'r Reader<'r>,
    params: &'r Values,
    context: Context,
}

impl Over<'_> {
    fn axis(&self, name: wire::Name, values: &Either<Range, OneOrMany<Value>>) -> Option<Axis> {
        let id = identifier(self.reader, name, "a swept parameter");
        let values = match values {
            Either::Map(range) => self.range(name, range),
            Either::Other(list) => self.list(name, &list.items),
        };
        let (name, values) = (id?, values?);
        Some(Axis { name, values })
    }

    fn list(&self, name: wire::Name, items: &[Value]) -> Option<Vec<Scalar>> {
        let text = self.reader.tree.text(name.0);
        if items.is_empty() {
            let place = self.reader.tree.place(name.0);
            self.reader.fault(place, format!("`{text}` has no value"), "name at least one");
            return None;
        }
        let read: Vec<Option<(NodeId, Scalar)>> =
            items.iter().map(|item| Some((item.0, self.value(item.0)?))).collect();
        let mut values: Vec<(NodeId, Scalar)> = read.into_iter().collect::<Option<_>>()?;
        let known = self.params.iter().find(|(known, _)| known == text).map(|(_, value)| value.clone());
        // Of whole and other numbers together, all are numbers.
        let float = values.iter().find(|(_, value)| matches!(value, Scalar::Float(_)));
        let model = known.or_else(|| Some(float.or(values.first())?.1.clone()))?;
        let mut sound = true;
        for at in 0..values.len() {
            let (node, value) = values[at].clone();
            let place = self.reader.tree.place(node);
            let fault = |message: String, help: String| self.reader.fault(place, message, help);
            match params::alike(&model, value.clone()) {
                Some(value) => values[at].1 = value,
                None => {
                    let noun = params::noun(&model);
                    fault(format!("`{text}` is {noun}, and `{value}` is not"), format!("write {noun}"));
                    sound = false;
                }
            }
            if values[..at].iter().any(|(_, other)| other.to_string() == value.to_string()) {
                let help = "name each value once: a point is measured once".to_owned();
                fault(format!("`{value}` stands here twice"), help);
                sound = false;
            }
            sound &= self.can_name_files(node, &value);
        }
        sound.then(|| values.into_iter().map(|(_, value)| value).collect())
    }

    fn can_name_files(&self, node: NodeId, value: &Scalar) -> bool {
        let Scalar::Text(text) = value else { return true };
        let harmless = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        if !text.is_empty() && text.len() <= LONGEST && text.chars().all(harmless) {
            return true;
        }
        let message = format!("`{text}` cannot be a value here: it would name files");
        let help = format!(
            "write letters, digits and _ . + - only, {LONGEST} of them at most; a query can be an arm's own"
        );
        self.reader.fault(self.reader.tree.place(node), message, help);
        false
    }

    fn range(&self, name: wire::Name, range: &Range) -> Option<Vec<Scalar>> {
        let place = self.reader.tree.place(name.0);
        let refuse = |message: &str| {
            let help = "write a list, {from: 0, to: 100, step: 10} or {log: [1, 1000], points: 12}";
            self.reader.fault(place, message, help);
            None
        };
        match range {
            Range { from: Some(from), to: Some(to), step: Some(step), log: None, points: None } => {
                let [from, to, step] = [self.number(from.0), self.number(to.0), self.number(step.0)];
                let (from, to, step) = (from?, to?, step?);
                let (Some(first), Some(last), Some(by)) = (from.number(), to.number(), step.number()) else {
                    return None;
                };
                if by == 0.0 || (last - first) * by < 0.0 {
                    return refuse("this range comes to no end");
                }
                // A step of 0.1 is not quite a tenth.
                let count = ((last - first) / by * (1.0 + 1e-12)).floor();
                if count >= MOST_POINTS as f64 {
                    return refuse("this range has too many values");
                }
                let whole = [&from, &to, &step].into_iter().all(|end| matches!(end, Scalar::Integer(_)));
                let values = (0..=count as usize).map(|at| first + by * at as f64);
                Some(scalars(values, whole))
            }
            Range { from: Some(from), to: Some(to), step: None, log: None, points: Some(points) } => {
                let (from, to) = (self.number(from.0), self.number(to.0));
                let (from, to, points) = (from?, to?, self.count(*points)?);
                self.spaced(name, [&from, &to], points, |lo, hi, share| lo + (hi - lo) * share)
            }
            Range { from: None, to: None, step: None, log: Some(ends), points: Some(points) } => {
                let [lo, hi] = ends.items.as_slice() else { return refuse("`log` takes two numbers") };
                let (lo, hi) = (self.number(lo.0), self.number(hi.0));
                let (lo, hi, points) = (lo?, hi?, self.count(*points)?);
                if lo.number().is_none_or(|lo| lo <= 0.0) || hi.number().is_none_or(|hi| hi <= 0.0) {
                    return refuse("ratios need numbers above 0 at both ends of `log`");
                }
                self.spaced(name, [&lo, &hi], points, |lo, hi, share| lo * (hi / lo).powf(share))
            }
            _ => refuse("this is no range"),
        }
    }

    /// `points` values from one end to the other; whole ones where both ends are, each once.
    fn spaced(
        &self,
        name: wire::Name,
        [lo, hi]: [&Scalar; 2],
        points: usize,
        at: impl Fn(f64, f64, f64) -> f64,
    ) -> Option<Vec<Scalar>> {
        let (from, to) = (lo.number()?, hi.number()?);
        if from == to {
            let place = self.reader.tree.place(name.0);
            self.reader.fault(place, "both ends of this range are the same", "write a list of one value");
            return None;
        }
        let whole = matches!((lo, hi), (Scalar::Integer(_), Scalar::Integer(_)));
        let last = points - 1;
        let mut values: Vec<f64> = Vec::new();
        for index in 0..points {
            let value = match index {
                0 => from,
                index if index == last => to,
                index => at(from, to, index as f64 / last as f64),
            };
            // Four digits are enough between two ends, and name files that can be read.
            let value = if whole {
                value.round()
            } else if index == 0 || index == last {
                value
            } else {
                tidy(value)
            };
            if values.last() != Some(&value) {
                values.push(value);
            }
        }
        Some(scalars(values.into_iter(), whole))
    }

    fn count(&self, points: Whole) -> Option<usize> {
        let value = self.number(points.0)?;
        let count = match value {
            Scalar::Integer(count) => usize::try_from(count).ok(),
            _ => None,
        };
        let count = count.filter(|count| (2..=MOST_POINTS).contains(count));
        if count.is_none() {
            let message = format!("`points` is {value}, and must be from 2 to {MOST_POINTS}");
            self.reader.fault(
                self.reader.tree.place(points.0),
                message,
                "write a whole number of at least 2",
            );
        }
        count
    }

    fn number(&self, id: NodeId) -> Option<Scalar> {
        let value = self.value(id)?;
        if value.number().is_none() {
            let message = format!("`{value}` is no number, and a range goes from number to number");
            self.reader.fault(self.reader.tree.place(id), message, "write it in digits");
            return None;
        }
        Some(value)
    }

    /// A value as it is written, or as its template over the parameters makes it.
    fn value(&self, id: NodeId) -> Option<Scalar> {
        let tree = self.reader.tree;
        let text = tree.text(id);
        if !text.contains("{{") && !text.contains("{%") {
            return params::literal(self.reader, id);
        }
        let checked = check_template(text, &self.context.names());
        let rendered = match checked.errors.into_iter().next() {
            Some(error) => Err(error),
            None => render_sql(text, &self.context),
        };
        match rendered {
            Ok(rendered) => {
                let integer = scalar::integer(rendered.trim()).map(Scalar::Integer);
                let number = integer.or_else(|| scalar::float(rendered.trim()).map(Scalar::Float));
                Some(number.unwrap_or(Scalar::Text(rendered)))
            }
            Err(error) => {
                let help =
                    error.help.unwrap_or_else(|| "`over` can use the notebook's parameters".to_owned());
                self.reader.fault(tree.place(id), error.message, help);
                None
            }
        }
    }
}

fn scalars(values: impl Iterator<Item = f64>, whole: bool) -> Vec<Scalar> {
    let scalar = |value: f64| if whole { Scalar::Integer(value as i64) } else { Scalar::Float(value) };
    values.map(scalar).collect()
}

/// Four significant digits.
fn tidy(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
