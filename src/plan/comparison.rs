//! Comparisons as notebooks write them: `5`, `"< 10"`, `"100..200"`, `"5000 ± 1%"`.

use std::fmt;
use std::str::FromStr;

/// A condition on one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Comparison {
    /// `5` or `= 5` or `== 5`
    Equal(f64),
    /// `!= 5`
    NotEqual(f64),
    /// `< 5`
    Less(f64),
    /// `<= 5`
    AtMost(f64),
    /// `> 5`
    Greater(f64),
    /// `>= 5`
    AtLeast(f64),
    /// `100..200`, both ends included
    Range(f64, f64),
    /// `5000 ± 1%` (or `+-`): the centre and the tolerance in percent of it
    Within(f64, f64),
}

/// Why a text is not a comparison.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a comparison: write a number, \"< 10\", \"> 0\", \"100..200\" or \"5000 ± 1%\"")]
pub struct ComparisonError {
    text: String,
}

impl Comparison {
    /// Whether `value` satisfies the comparison. Equality is exact: counters are integers.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        match *self {
            Self::Equal(x) => value == x,
            Self::NotEqual(x) => value != x,
            Self::Less(x) => value < x,
            Self::AtMost(x) => value <= x,
            Self::Greater(x) => value > x,
            Self::AtLeast(x) => value >= x,
            Self::Range(low, high) => (low..=high).contains(&value),
            Self::Within(centre, percent) => (value - centre).abs() <= centre.abs() * percent / 100.0,
        }
    }
}

impl FromStr for Comparison {
    type Err = ComparisonError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ComparisonError { text: text.trim().to_owned() };
        let text = text.trim();
        for (operator, make) in OPERATORS {
            if let Some(rest) = text.strip_prefix(operator) {
                return number(rest).map(make).ok_or_else(error);
            }
        }
        if let Some((low, high)) = text.split_once("..") {
            return match (number(low), number(high)) {
                (Some(low), Some(high)) if low <= high => Ok(Self::Range(low, high)),
                _ => Err(error()),
            };
        }
        if let Some((centre, tolerance)) = text.split_once('±').or_else(|| text.split_once("+-")) {
            let percent = tolerance.trim().strip_suffix('%').and_then(number).filter(|p| *p >= 0.0);
            return match (number(centre), percent) {
                (Some(centre), Some(percent)) => Ok(Self::Within(centre, percent)),
                _ => Err(error()),
            };
        }
        number(text).map(Self::Equal).ok_or_else(error)
    }
}

type Make = fn(f64) -> Comparison;

/// Longer operators first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Make); 7] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::NotEqual),
    ("==", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=", Comparison::Equal),
];

/// A finite decimal number, with underscores between digits allowed (`5_000_000`).
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    plain.then(|| text.replace('_', "").parse().ok()).flatten().filter(|n: &f64| n.is_finite())
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(x) => write!(f, "{x}"),
            Self::NotEqual(x) => write!(f, "!= {x}"),
            Self::Less(x) => write!(f, "< {x}"),
            Self::AtMost(x) => write!(f, "<= {x}"),
            Self::Greater(x) => write!(f, "> {x}"),
            Self::AtLeast(x) => write!(f, ">= {x}"),
            Self::Range(low, high) => write!(f, "{low}..{high}"),
            Self::Within(centre, percent) => write!(f, "{centre} ± {percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_and_prints_it_back() {
        for text in ["5", "!= 5", "< 10", "<= 2100", "> 0", ">= 0.5", "100..200", "5000 ± 1%", "-3..-1"] {
            let comparison: Comparison = text.parse().expect(text);
            assert_eq!(comparison.to_string(), text);
        }
        assert_eq!("5_000_000".parse(), Ok(Comparison::Equal(5e6)));
        assert_eq!("100 +- 2%".parse(), Ok(Comparison::Within(100.0, 2.0)));
        assert_eq!("== 5".parse(), Ok(Comparison::Equal(5.0)));
    }

    #[test]
    fn refuses_what_is_not_a_comparison() {
        for text in ["", "< ", "five", "5 rows", "200..100", "1 ± 2", "inf", "nan", "=> 5", "< < 5"] {
            assert!(text.parse::<Comparison>().is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_are_included_where_the_form_says_so() {
        assert!(Comparison::Range(1.0, 2.0).holds(2.0));
        assert!(Comparison::Within(5000.0, 1.0).holds(5050.0));
        assert!(!Comparison::Within(5000.0, 1.0).holds(5050.1));
        assert!(!Comparison::Less(10.0).holds(10.0));
    }
}
