//! Whether a setting in force is the one that was asked for, however it is written.

/// Compares values as the server does: `1GB` is `1024MB`, `on` is `true`.
pub(super) fn same(asked: &str, in_force: &str) -> bool {
    canonical(asked) == canonical(in_force)
}

#[derive(Debug, PartialEq)]
enum Value {
    Flag(bool),
    /// Bytes, microseconds, or a plain number.
    Number(f64, char),
    Word(String),
}

fn canonical(text: &str) -> Value {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" => return Value::Flag(true),
        "off" | "false" | "no" => return Value::Flag(false),
        _ => {}
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let Ok(number) = digits.parse::<f64>() else { return Value::Word(text.to_owned()) };
    let (factor, kind) = match text[digits.len()..].trim() {
        "" => (1.0, '1'),
        "B" => (1.0, 'B'),
        "kB" => (1024.0, 'B'),
        "MB" => (1024.0 * 1024.0, 'B'),
        "GB" => (1024.0 * 1024.0 * 1024.0, 'B'),
        "TB" => (1024.0 * 1024.0 * 1024.0 * 1024.0, 'B'),
        "us" => (1.0, 't'),
        "ms" => (1e3, 't'),
        "s" => (1e6, 't'),
        "min" => (60e6, 't'),
        "h" => (3600e6, 't'),
        "d" => (86400e6, 't'),
        _ => return Value::Word(text.to_owned()),
    };
    Value::Number(number * factor, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_what_they_mean() {
        for (asked, in_force) in [
            ("1024MB", "1GB"),
            ("true", "on"),
            ("60s", "1min"),
            ("1.0", "1"),
            ("UTC", "UTC"),
            ("replica", "replica"),
        ] {
            assert!(same(asked, in_force), "{asked} is {in_force}");
        }
        for (asked, in_force) in [("1GB", "1TB"), ("on", "off"), ("1GB", "1"), ("UTC", "Etc/UTC")] {
            assert!(!same(asked, in_force), "{asked} is not {in_force}");
        }
    }
}
