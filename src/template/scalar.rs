//! Single values, and what they are inside templates.

use minijinja::Value;

/// A value of a parameter, a `let` or a named number.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// `true` or `false`
    Boolean(bool),
    /// An integer
    Integer(i64),
    /// Any other number
    Float(f64),
    /// Text
    Text(String),
}

impl Scalar {
    /// What a value of a template is; none where it is no single value, or a number that would be rounded.
    pub(super) fn of(value: &Value) -> Option<Self> {
        if let Ok(boolean) = bool::try_from(value.clone()) {
            return Some(Self::Boolean(boolean));
        }
        if let Some(text) = value.as_str() {
            return Some(Self::Text(text.to_owned()));
        }
        if !value.is_number() {
            return None;
        }
        if value.is_integer() {
            // One that does not fit would be rounded.
            return i64::try_from(value.clone()).ok().map(Self::Integer);
        }
        f64::try_from(value.clone()).ok().filter(|number| number.is_finite()).map(Self::Float)
    }

    /// Its size, where it is a number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Float(float) => Some(*float),
            Self::Boolean(_) | Self::Text(_) => None,
        }
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Boolean(boolean) => Value::from(*boolean),
            Self::Integer(integer) => Value::from(*integer),
            Self::Float(float) => Value::from(*float),
            Self::Text(text) => Value::from(text.as_str()),
        }
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Boolean(boolean) => boolean.fmt(f),
            Self::Integer(integer) => integer.fmt(f),
            Self::Float(float) => float.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Whole numbers become integers, so that they print without a decimal point.
pub(super) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        return Value::from(value as i64);
    }
    Value::from(value)
}
