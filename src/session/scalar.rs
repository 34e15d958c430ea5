//! One value from SQL.

use postgres_protocol::Oid;

use super::query::one_statement;
use super::{Session, SessionError};

pub use crate::template::Scalar;

impl Session {
    /// The value of a statement that returns exactly one row of one column; NULL is `None`.
    ///
    /// # Errors
    /// [`SessionError::NotScalar`] with what came instead, [`SessionError::TooLarge`], and as [`Session::execute`].
    pub fn scalar(&mut self, sql: &str) -> Result<Option<Scalar>, SessionError> {
        one_statement(sql)?;
        let mut reply = self.ask(sql)?;
        let (rows, columns) = (reply.rows.len(), reply.types.len());
        match (&reply.types[..], &mut reply.rows[..]) {
            ([kind], [row]) => {
                row.first_mut().and_then(Option::take).map(|text| read(*kind, text)).transpose()
            }
            _ => Err(SessionError::NotScalar { rows, columns }),
        }
    }
}

/// Reads the text form of a value of the type with that OID (`pg_type.dat` fixes those of built-in types).
fn read(kind: Oid, text: String) -> Result<Scalar, SessionError> {
    const BOOL: Oid = 16;
    const INTEGERS: [Oid; 4] = [20, 21, 23, 26];
    const FLOATS: [Oid; 2] = [700, 701];
    const NUMERIC: Oid = 1700;
    // A number that is not finite cannot be reckoned with: it stays the text that the server sent.
    let number = match kind {
        BOOL => return Ok(Scalar::Boolean(text == "t")),
        kind if INTEGERS.contains(&kind) => text.parse().ok().map(Scalar::Integer),
        NUMERIC => match whole(&text).map(str::parse) {
            Some(Ok(integer)) => Some(Scalar::Integer(integer)),
            Some(Err(_)) => return Err(SessionError::TooLarge(text)),
            None => text.parse().ok().map(Scalar::Float),
        },
        kind if FLOATS.contains(&kind) => text.parse().ok().map(Scalar::Float),
        _ => None,
    };
    Ok(number.filter(is_finite).unwrap_or(Scalar::Text(text)))
}

fn is_finite(value: &Scalar) -> bool {
    !matches!(value, Scalar::Float(number) if !number.is_finite())
}

/// The digits of a NUMERIC without a fraction: `2` and `2.0000`.
fn whole(text: &str) -> Option<&str> {
    let digits = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        Some(_) => return None,
        None => text,
    };
    let (_, bare) = digits.split_at(usize::from(digits.starts_with('-')));
    bare.bytes().all(|digit| digit.is_ascii_digit()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_type() {
        for (kind, text, value) in [
            (23, "-5", Scalar::Integer(-5)),
            (20, "9223372036854775807", Scalar::Integer(i64::MAX)),
            (1700, "2.5", Scalar::Float(2.5)),
            (1700, "2.000", Scalar::Integer(2)),
            (1700, "1e3", Scalar::Float(1000.0)),
            (1700, "12345678901234567890.5", Scalar::Float(12_345_678_901_234_567_890.5)),
            (701, "2", Scalar::Float(2.0)),
            (701, "1e-05", Scalar::Float(1e-5)),
            (16, "t", Scalar::Boolean(true)),
            (16, "f", Scalar::Boolean(false)),
            (25, "2", Scalar::Text("2".to_owned())),
            (3802, "{\"a\": 1}", Scalar::Text("{\"a\": 1}".to_owned())),
        ] {
            assert_eq!(read(kind, text.to_owned()).unwrap(), value, "{kind} {text}");
        }
        for (kind, text) in [(701, "Infinity"), (1700, "NaN"), (1700, "-Infinity")] {
            assert_eq!(read(kind, text.to_owned()).unwrap(), Scalar::Text(text.to_owned()));
        }
        for text in ["92233720368547758070", "-12345678901234567890123.000"] {
            let error = read(1700, text.to_owned()).unwrap_err().to_string();
            assert!(error.contains("64 bits"), "{error}");
        }
    }
}
