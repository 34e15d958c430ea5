//! Numbers as people read them: thousands separators, three significant digits, units.

use crate::metric::{Metric, Unit};

/// What stands in prose where nothing was measured.
pub const NOT_MEASURED: &str = "not measured";

/// A count with thousands separators: `41,667`. A count that is no integer keeps three significant digits, and
/// never fewer than its integer part has.
#[must_use]
pub fn count(value: f64) -> String {
    if value.fract() == 0.0 { grouped(value, 0) } else { significant(value) }
}

/// A time in milliseconds with three significant digits and the unit that suits it: `0.216 ms`, `882 ms`, `12.4 s`.
#[must_use]
pub fn milliseconds(value: f64) -> String {
    let (scale, unit) = time_unit(value);
    // EXPLAIN prints whole microseconds: more digits would be none that anybody measured.
    let microseconds = value * 1e3;
    if value.abs() < 0.1 && value != 0.0 && (microseconds - microseconds.round()).abs() < 1e-9 {
        return format!("{value:.3} {unit}");
    }
    format!("{} {unit}", significant(value / scale))
}

/// A time in milliseconds with its interval, all in one unit: `1.76 ms [1.71 – 1.83]`.
#[must_use]
pub fn milliseconds_within(value: f64, low: f64, high: f64) -> String {
    let (scale, _) = time_unit(value);
    format!("{} [{} – {}]", milliseconds(value), significant(low / scale), significant(high / scale))
}

/// A span of time to reckon with, from milliseconds: `850 ms`, `42 s`, `5 min 10 s`, `2 h 5 min`.
#[must_use]
pub fn duration(milliseconds: f64) -> String {
    let seconds = (milliseconds / 1e3).round();
    if seconds < 1.0 {
        return format!("{} ms", milliseconds.round());
    }
    let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
    let (hours, odd) = ((minutes / 60.0).floor(), minutes % 60.0);
    match (hours, minutes, rest) {
        (hours, ..) if hours >= 1.0 => format!("{hours} h {odd} min"),
        (_, minutes, rest) if minutes >= 1.0 => format!("{minutes} min {rest} s"),
        _ => format!("{seconds} s"),
    }
}

/// Milliseconds up to what rounds to a second.
fn time_unit(milliseconds: f64) -> (f64, &'static str) {
    if milliseconds.abs() >= 999.5 { (1e3, "s") } else { (1.0, "ms") }
}

/// Three significant digits, thousands separated: `0.0123`, `4.08`, `1,230`.
#[must_use]
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    // Rounding first decides how many digits stand before the point: 9.996 is 10.0, not 10.00.
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    let magnitude = rounded.abs().log10().floor();
    let decimals = (2.0 - magnitude).clamp(0.0, 12.0) as usize;
    if magnitude > 2.0 { grouped(value.round(), 0) } else { grouped(value, decimals) }
}

/// A share as a percentage with three significant digits: `12.5%`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{}%", significant(share * 100.0))
}

/// Bytes in the binary unit that suits them: `616 MB` as PostgreSQL's own pg_size_pretty counts them.
#[must_use]
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];
    let mut value = value;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{} bytes", count(value))
    } else {
        format!("{} {}", significant(value), UNITS[unit])
    }
}

/// The value of a metric, in its unit where the unit is not plain.
#[must_use]
pub fn metric(metric: Metric, value: f64) -> String {
    in_unit(metric.unit(), value)
}

/// A number in its unit where the unit is not plain.
#[must_use]
pub fn in_unit(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Milliseconds => milliseconds(value),
        Unit::Count | Unit::Blocks => count(value),
        Unit::Kilobytes => format!("{} kB", count(value)),
        Unit::Bytes => bytes(value),
        Unit::Cost => grouped(value, 2),
        Unit::Ratio => significant(value),
    }
}

fn grouped(value: f64, decimals: usize) -> String {
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, fraction) =
        plain.split_once('.').map_or((plain.as_str(), ""), |(whole, fraction)| (whole, fraction));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    if value < 0.0 && out.chars().any(|c| c.is_ascii_digit() && c != '0') { format!("-{out}") } else { out }
}

/// `1 row`, `5,005 rows`.
#[must_use]
pub fn plural(n: f64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1.0 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        let got = [0.0, 8.0, 999.0, 1000.0, 41_667.0, 5_000_000.0, -1234.0, 66_666.67].map(count);
        assert_eq!(got, ["0", "8", "999", "1,000", "41,667", "5,000,000", "-1,234", "66,667"]);
    }

    #[test]
    fn three_digits_are_kept() {
        let got = [0.0, 0.012_34, 0.216, 1.755, 9.996, 20.24, 134.03, 881.9, 1528.6, 999.6].map(significant);
        assert_eq!(got, ["0", "0.0123", "0.216", "1.75", "10.0", "20.2", "134", "882", "1,529", "1,000"]);
    }

    #[test]
    fn units_suit_the_size() {
        assert_eq!(milliseconds(881.94), "882 ms");
        assert_eq!(milliseconds(12_345.0), "12.3 s");
        assert_eq!(milliseconds(999.7), "1.00 s");
        assert_eq!(
            [0.007, 0.059, 0.0453, 0.0].map(milliseconds),
            ["0.007 ms", "0.059 ms", "0.0453 ms", "0 ms"]
        );
        assert_eq!(milliseconds_within(1528.6, 1490.0, 1601.0), "1.53 s [1.49 – 1.60]");
        assert_eq!(bytes(512.0), "512 bytes");
        assert_eq!(bytes(341_336_064.0), "326 MB");
        assert_eq!(percent(0.125), "12.5%");
        assert_eq!(metric(Metric::SortSpace, 2048.0), "2,048 kB");
    }
}
