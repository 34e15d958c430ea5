//! One point of a sweep: a value for each of its parameters.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::scalar;
use super::value::Values;
use crate::template::Scalar;

/// A value for each parameter of a sweep, in the order in which the sweep names them.
///
/// Prints as `n=10` or `n=10,m=2`, the same in file names, CSVs and messages. Two points that print alike are one:
/// what is read back from a file is the point that was written.
#[derive(Debug, Clone)]
pub struct Point(Values);

impl Point {
    /// The point with those values.
    #[must_use]
    pub fn new(values: Values) -> Self {
        Self(values)
    }

    /// Its parameters and their values.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.0
    }

    /// The value of a parameter.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Scalar> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The value of a parameter, where it is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.value(name).and_then(Scalar::number)
    }

    /// The one number that it consists of; none on a grid, or where its value is no number.
    #[must_use]
    pub fn position(&self) -> Option<f64> {
        match self.0.as_slice() {
            [(_, value)] => value.number(),
            _ => None,
        }
    }

    /// Reads what [`Point`] prints.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let value = |part: &str| {
            let (name, value) = part.split_once('=')?;
            Some((name.to_owned(), read(value)))
        };
        text.split(',').map(value).collect::<Option<Values>>().map(Self)
    }

    /// As an expression names it: `n=10, mode='hash'`.
    #[must_use]
    pub fn arguments(&self) -> String {
        let argument = |(name, value): &(String, Scalar)| match value {
            Scalar::Text(text) => format!("{name}='{text}'"),
            other => format!("{name}={other}"),
        };
        self.0.iter().map(argument).collect::<Vec<_>>().join(", ")
    }
}

/// A value without its type, which its form shows.
fn read(text: &str) -> Scalar {
    if let Some(integer) = scalar::integer(text) {
        return Scalar::Integer(integer);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Scalar::Float(number),
        _ => text.parse().map_or_else(|_| Scalar::Text(text.to_owned()), Scalar::Boolean),
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl Ord for Point {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        let mut orders = pairs.map(|((one_name, one), (other_name, other))| {
            one_name.cmp(other_name).then_with(|| order(one, other))
        });
        orders.find(|order| order.is_ne()).unwrap_or_else(|| self.0.len().cmp(&other.0.len()))
    }
}

/// Numbers by size; whatever prints alike is the same.
fn order(one: &Scalar, other: &Scalar) -> Ordering {
    let by_text = || one.to_string().cmp(&other.to_string());
    match (one.number(), other.number()) {
        (Some(one), Some(other)) => one.total_cmp(&other).then_with(by_text),
        (one, other) => other.is_some().cmp(&one.is_some()).then_with(by_text),
    }
}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Point {}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PointVisitor;
        impl<'de> Visitor<'de> for PointVisitor {
            type Value = Point;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("parameters with values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Point, A::Error> {
                let mut values = Values::new();
                while let Some(entry) = access.next_entry()? {
                    values.push(entry);
                }
                Ok(Point(values))
            }
        }
        deserializer.deserialize_map(PointVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(values: &[(&str, Scalar)]) -> Point {
        Point::new(values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    #[test]
    fn what_prints_alike_is_one_point() {
        let points = [
            point(&[("n", Scalar::Integer(10)), ("mode", Scalar::Text("hash".to_owned()))]),
            point(&[("share", Scalar::Float(0.1))]),
            point(&[("share", Scalar::Float(10.0))]),
            point(&[("on", Scalar::Boolean(true))]),
        ];
        for point in &points {
            assert_eq!(Point::parse(&point.to_string()).as_ref(), Some(point), "{point}");
            let json = serde_json::to_string(point).expect("json");
            assert_eq!(serde_json::from_str::<Point>(&json).expect("a point"), *point, "{json}");
        }
        assert_eq!(points[0].to_string(), "n=10,mode=hash");
        assert_eq!(points[0].arguments(), "n=10, mode='hash'");
        assert_eq!(points[2].to_string(), "share=10");
        assert_eq!(Point::parse("nonsense"), None);
    }

    #[test]
    fn numbers_are_ordered_by_size() {
        let mut points: Vec<Point> =
            [100.0, 9.5, 10.0].map(|n| point(&[("n", Scalar::Float(n))])).into_iter().collect();
        points.push(point(&[("n", Scalar::Integer(9))]));
        points.sort();
        let printed: Vec<String> = points.iter().map(ToString::to_string).collect();
        assert_eq!(printed, ["n=9", "n=9.5", "n=10", "n=100"]);
    }
}
