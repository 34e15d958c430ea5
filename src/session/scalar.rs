//! One value from SQL.

use postgres_protocol::Oid;

use super::query::one_statement;
use super::{Session, SessionError};

pub use crate::template::Scalar;

impl Session {
    /// The value of a statement that returns exactly one row of one column; NULL is `None`.
    ///
    /// # Errors
    /// [`SessionError::NotScalar`] with what came instead, and as [`Session::execute`].
    pub fn scalar(&mut self, sql: &str) -> Result<Option<Scalar>, SessionError> {
        one_statement(sql)?;
        let mut reply = self.ask(sql)?;
        let (rows, columns) = (reply.rows.len(), reply.types.len());
        match (&reply.types[..], &mut reply.rows[..]) {
            ([kind], [row]) => Ok(row.first_mut().and_then(Option::take).map(|text| read(*kind, text))),
            _ => Err(SessionError::NotScalar { rows, columns }),
        }
    }
}

/// Reads the text form of a value of the type with that OID (`pg_type.dat` fixes those of built-in types).
fn read(kind: Oid, text: String) -> Scalar {
    const BOOL: Oid = 16;
    const INTEGERS: [Oid; 4] = [20, 21, 23, 26];
    const FLOATS: [Oid; 2] = [700, 701];
    const NUMERIC: Oid = 1700;
    // A number that is not finite cannot be reckoned with: it stays the text that the server sent.
    let number = match kind {
        BOOL => return Scalar::Boolean(text == "t"),
        kind if INTEGERS.contains(&kind) => text.parse().ok().map(Scalar::Integer),
        NUMERIC => whole(&text).map(Scalar::Integer).or_else(|| text.parse().ok().map(Scalar::Float)),
        kind if FLOATS.contains(&kind) => text.parse().ok().map(Scalar::Float),
        _ => None,
    };
    number.filter(is_finite).unwrap_or(Scalar::Text(text))
}

/// A NUMERIC without a fraction: `2` and `2.0000`.
fn is_finite(value: &Scalar) -> bool {
    !matches!(value, Scalar::Float(number) if !number.is_finite())
}

fn whole(text: &str) -> Option<i64> {
    let digits = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        Some(_) => return None,
        None => text,
    };
    digits.parse().ok()
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
            (1700, "92233720368547758070", Scalar::Float(92_233_720_368_547_758_070.0)),
            (701, "2", Scalar::Float(2.0)),
            (701, "1e-05", Scalar::Float(1e-5)),
            (16, "t", Scalar::Boolean(true)),
            (16, "f", Scalar::Boolean(false)),
            (25, "2", Scalar::Text("2".to_owned())),
            (3802, "{\"a\": 1}", Scalar::Text("{\"a\": 1}".to_owned())),
        ] {
            assert_eq!(read(kind, text.to_owned()), value, "{kind} {text}");
        }
        assert_eq!(read(701, "Infinity".to_owned()), Scalar::Text("Infinity".to_owned()));
        assert_eq!(read(1700, "NaN".to_owned()), Scalar::Text("NaN".to_owned()));
    }
}
