//! Quotes and lists in what PostgreSQL deparses, and what they are in JSON: `'it''s'`, `"odd ""name"""`, `count(*), COALESCE(a, 'x, y')`.

use serde_json::{Number, Value};

use crate::plan::Properties;

/// Whether a position stands inside quotes. A doubled quote closes and opens again, which comes to the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    None,
    Single,
    Double,
}

impl Quote {
    /// The state after `text`.
    pub(super) fn after(self, text: &str) -> Self {
        if memchr::memchr2(b'\'', b'"', text.as_bytes()).is_none() {
            return self;
        }
        let mut state = self;
        for byte in text.bytes() {
            state = state.step(byte);
        }
        state
    }

    fn step(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::None, b'\'') => Self::Single,
            (Self::None, b'"') => Self::Double,
            (Self::Single, b'\'') | (Self::Double, b'"') => Self::None,
            (state, _) => state,
        }
    }
}

/// The items of a list that PostgreSQL joined by `, `: commas inside quotes and brackets are not between items.
pub(super) fn list(text: &str) -> Value {
    let mut items = vec![];
    let (mut start, mut depth, mut quote) = (0, 0_usize, Quote::None);
    for (at, byte) in text.bytes().enumerate() {
        quote = quote.step(byte);
        match byte {
            _ if quote != Quote::None => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 && text[at + 1..].starts_with(' ') => {
                items.push(Value::from(&text[start..at]));
                start = at + 2;
            }
            _ => {}
        }
    }
    items.push(Value::from(&text[start..]));
    Value::Array(items)
}

/// A number as JSON would hold it: an integer where it is printed as one.
pub(super) fn number(text: &str) -> Option<Value> {
    numeral(text).map(Value::Number)
}

/// The same, not yet a value.
pub(super) fn numeral(text: &str) -> Option<Number> {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-') {
        return None;
    }
    if bytes.len() <= WHOLE_DIGITS && bytes.iter().all(u8::is_ascii_digit) {
        return Some(Number::from(bytes.iter().fold(0_u64, |n, digit| n * 10 + u64::from(digit - b'0'))));
    }
    if !bytes.contains(&b'.') {
        let whole = text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from));
        if let Ok(whole) = whole {
            return Some(whole);
        }
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

/// Digits that a whole number of 64 bits always has room for.
const WHOLE_DIGITS: usize = 19;

/// Properties as a JSON object.
pub(super) fn object(properties: Properties) -> Value {
    Value::Object(properties.into_iter().map(|(name, value)| (name.into_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_inside_quotes_and_brackets_do_not_split() {
        let split = list("count(*), COALESCE(a, 'x, (y'), \"a, \"\"b\", ARRAY[1, 2], 'it''s, '::text");
        let want = ["count(*)", "COALESCE(a, 'x, (y')", "\"a, \"\"b\"", "ARRAY[1, 2]", "'it''s, '::text"];
        assert_eq!(split, serde_json::json!(want));
        assert_eq!(list(""), serde_json::json!([""]));
        assert_eq!(list("größe, b"), serde_json::json!(["größe", "b"]));
    }

    #[test]
    fn numbers_keep_their_kind() {
        assert_eq!(number("5"), Some(Value::from(5)));
        assert_eq!(number("-5"), Some(Value::from(-5)));
        assert_eq!(number("5.00"), Some(Value::from(5.0)));
        assert_eq!(number("18446744073709551616").and_then(|n| n.as_f64()), Some(18446744073709551616.0));
        for text in ["", "-", "5 b", "nan", "0x5", "1..2"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
