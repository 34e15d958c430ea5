//! Axes: where a value stands, which ticks there are, and how they are printed.

use super::model::Print;
use crate::metric::Unit;
use crate::notebook::AxisScale;
use crate::number;

/// Values further apart than this are shown by their ratios.
const MUCH: f64 = 20.0;

/// An axis that maps values to pixels.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
    unit: Print,
}

impl Scale {
    /// An axis around the values, drawn between two pixels. `zero` keeps zero on it.
    pub(super) fn around(
        values: impl IntoIterator<Item = f64>,
        unit: Print,
        asked: AxisScale,
        zero: bool,
        (from, to): (f64, f64),
    ) -> Option<Self> {
        let mut values = values.into_iter().filter(|value| value.is_finite());
        let first = values.next()?;
        let (least, most) =
            values.fold((first, first), |(least, most), value| (least.min(value), most.max(value)));
        // A ratio needs something above zero.
        let log = !zero
            && least > 0.0
            && match asked {
                AxisScale::Log => true,
                AxisScale::Linear => false,
                AxisScale::Auto => most / least >= MUCH,
            };
        let (low, high) = if log { padded_log(least, most) } else { padded(least, most, zero) };
        Some(Self { low, high, log, from, to, unit })
    }

    /// An axis from the least to the greatest value.
    pub(super) fn exact(
        values: impl IntoIterator<Item = f64>,
        unit: Print,
        asked: AxisScale,
        pixels: (f64, f64),
    ) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let around = Self::around(values, unit, asked, false, pixels)?;
        Some(if least < most { Self { low: least, high: most, ..around } } else { around })
    }

    /// An axis over a given span, which must not be empty. One of ratios begins above zero.
    pub(super) fn over(low: f64, high: f64, unit: Print, log: bool, (from, to): (f64, f64)) -> Self {
        Self { low, high, log: log && low > 0.0, from, to, unit }
    }

    /// Whether equal distances are equal ratios.
    pub(super) fn is_log(&self) -> bool {
        self.log
    }

    /// The pixel of a value, on the axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// At most `most` ticks: values in order, with what is printed at them.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let (factor, suffix) = self.units();
        let (low, high) = (self.low / factor, self.high / factor);
        let ticks = if self.log { log_ticks(low, high, most) } else { linear_ticks(low, high, most) };
        // There is no half a row: what is counted has whole ticks, where two of them are in sight.
        let whole: Vec<f64> = ticks.iter().copied().filter(|tick| tick.fract() == 0.0).collect();
        let counted = matches!(self.unit, Print::Unit(Unit::Count | Unit::Blocks)) && whole.len() >= 2;
        let ticks = if counted { whole } else { ticks };
        let print = |tick: f64| match self.unit {
            // Each in the unit that suits it: an axis of ratios may go from microseconds to minutes.
            Print::Unit(Unit::Milliseconds) if self.log && tick >= 1000.0 => {
                format!("{} s", plain(tick / 1000.0))
            }
            _ => format!("{}{suffix}", plain(tick)),
        };
        ticks.into_iter().map(|tick| (tick * factor, print(tick))).collect()
    }

    /// What the values of the axis are divided by, and the unit that is printed after them.
    fn units(&self) -> (f64, &'static str) {
        let largest = self.high.abs().max(self.low.abs());
        let unit = match self.unit {
            Print::Unit(unit) => unit,
            Print::Percent => return (0.01, "%"),
        };
        match unit {
            Unit::Milliseconds if !self.log && largest >= 2000.0 => (1000.0, " s"),
            Unit::Milliseconds => (1.0, " ms"),
            Unit::Kilobytes if largest >= 2048.0 => (1024.0, " MB"),
            Unit::Kilobytes => (1.0, " kB"),
            Unit::Bytes => {
                const NAMES: [&str; 4] = [" bytes", " kB", " MB", " GB"];
                let power =
                    (0..NAMES.len() - 1).find(|power| largest < 2048.0 * 1024_f64.powi(*power as i32));
                let power = power.unwrap_or(NAMES.len() - 1);
                (1024_f64.powi(power as i32), NAMES[power])
            }
            Unit::Count | Unit::Blocks | Unit::Cost | Unit::Ratio => (1.0, ""),
        }
    }
}

fn padded_log(least: f64, most: f64) -> (f64, f64) {
    // One value alone still needs an axis on both sides of it.
    let ratio = (most / least).max(1.2);
    let pad = ratio.powf(0.05);
    let middle = (least * most).sqrt();
    let half = (ratio.sqrt() * pad).max(1.1);
    let (low, high) = (middle / half, middle * half);
    // Over a decade and more, an end that is near a power of ten goes to it: no point stands far outside all ticks.
    if ratio < 10.0 {
        return (low, high);
    }
    let (below, above) = (10_f64.powf(low.log10().floor()), 10_f64.powf(high.log10().ceil()));
    (
        if low / below <= NEAR { below / 1.02 } else { low },
        if above / high <= NEAR { above * 1.02 } else { high },
    )
}

/// How far an end of a logarithmic axis goes to reach a power of ten: half of a decade.
const NEAR: f64 = 3.2;

fn padded(least: f64, most: f64, zero: bool) -> (f64, f64) {
    // Near enough to zero, zero belongs on the axis.
    let zero = zero || (least >= 0.0 && (least < most / 2.0 || most == 0.0));
    let (low, high) = if zero { (least.min(0.0), most.max(0.0)) } else { (least, most) };
    let span = high - low;
    if span <= 0.0 {
        let around = if most == 0.0 { 1.0 } else { most.abs() / 10.0 };
        return (low - if zero { 0.0 } else { around }, high + around);
    }
    let pad = span * 0.05;
    (if low == 0.0 { 0.0 } else { low - pad }, if high == 0.0 { 0.0 } else { high + pad })
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let rough = (high - low) / most.max(2) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let count = |step: f64| (high / step).floor() - (low / step).ceil() + 1.0;
    let few = steps.into_iter().find(|step| (2.0..=most as f64).contains(&count(*step)));
    // One tick says nothing of the axis: rather one too many.
    let several = || steps.into_iter().rev().find(|step| count(*step) >= 2.0);
    let step = few.or_else(several).unwrap_or(power);
    let first = (low / step).ceil();
    (0..count(step).max(0.0) as usize).map(|number| (first + number as f64) * step).collect()
}

/// Powers of ten, with 2 and 5 between them where there is room. An axis shorter than that gets linear ones.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let with = |factors: &[f64], every: i32| -> Vec<f64> {
        let powers = powers.clone().filter(|power| power.rem_euclid(every) == 0);
        powers
            .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)))
            .filter(|tick| (low..=high).contains(tick))
            .collect()
    };
    let choices =
        [with(&[1.0, 2.0, 5.0], 1), with(&[1.0, 3.0], 1), with(&[1.0], 1), with(&[1.0], 2), with(&[1.0], 3)];
    let fit = |least: usize| choices.iter().find(|ticks| (least..=most).contains(&ticks.len())).cloned();
    // Over less than a decade equal steps are close to equal ratios.
    let few = || fit(2).filter(|_| high >= 10.0 * low);
    fit(3).or_else(few).unwrap_or_else(|| linear_ticks(low, high, most))
}

/// A tick without digits that say nothing: `0.05`, `2.5`, `10,000`, `3M` for three millions.
fn plain(tick: f64) -> String {
    let rounded: f64 = format!("{tick:.6e}").parse().unwrap_or(tick);
    if rounded.abs() >= 1e6 {
        return format!("{}M", plain(rounded / 1e6));
    }
    if rounded.fract() == 0.0 { number::count(rounded) } else { rounded.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(values: &[f64], unit: Unit, asked: AxisScale, zero: bool) -> String {
        let scale =
            Scale::around(values.iter().copied(), unit.into(), asked, zero, (0.0, 500.0)).expect("values");
        let ticks = scale.ticks(6);
        assert!(ticks.len() <= 6, "{ticks:?}");
        assert!(ticks.len() >= 2, "{values:?}: {ticks:?}");
        for (tick, _) in &ticks {
            assert!((0.0..=500.0).contains(&scale.place(*tick)));
        }
        ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn ticks_are_round_and_have_their_unit() {
        let ms = Unit::Milliseconds;
        assert_eq!(
            printed(&[0.1, 900.0], ms, AxisScale::Auto, false),
            "0.1 ms | 1 ms | 10 ms | 100 ms | 1 s"
        );
        assert_eq!(printed(&[2.0, 5000.0], ms, AxisScale::Log, false), "1 ms | 10 ms | 100 ms | 1 s | 10 s");
        assert_eq!(
            printed(&[20.0, 24.0], ms, AxisScale::Auto, false),
            "20 ms | 21 ms | 22 ms | 23 ms | 24 ms"
        );
        assert_eq!(printed(&[200.0, 9000.0], ms, AxisScale::Linear, false), "0 s | 2 s | 4 s | 6 s | 8 s");
        assert_eq!(
            printed(&[0.0, 41_667.0], Unit::Blocks, AxisScale::Auto, true),
            "0 | 10,000 | 20,000 | 30,000 | 40,000"
        );
        assert_eq!(printed(&[3.0e8], Unit::Bytes, AxisScale::Auto, true), "0 MB | 100 MB | 200 MB | 300 MB");
        let percent =
            Scale::around([0.001, 0.9], Print::Percent, AxisScale::Auto, false, (0.0, 1.0)).expect("values");
        let shown: Vec<String> = percent.ticks(6).into_iter().map(|(_, text)| text).collect();
        assert_eq!(shown, ["0.1%", "1%", "10%", "100%"]);
        assert_eq!(printed(&[-8192.0, 8192.0], Unit::Bytes, AxisScale::Auto, true), "-5 kB | 0 kB | 5 kB");
    }

    #[test]
    fn a_short_axis_of_ratios_has_ticks() {
        let ms = Unit::Milliseconds;
        assert_eq!(
            printed(&[1.02, 1.31], ms, AxisScale::Log, false),
            "1.05 ms | 1.1 ms | 1.15 ms | 1.2 ms | 1.25 ms | 1.3 ms"
        );
        assert_eq!(
            printed(&[30.0, 70.0], ms, AxisScale::Log, false),
            "30 ms | 40 ms | 50 ms | 60 ms | 70 ms"
        );
    }

    #[test]
    fn one_value_has_an_axis_around_it() {
        for (value, asked, zero) in [
            (5.0, AxisScale::Auto, false),
            (5.0, AxisScale::Log, false),
            (0.0, AxisScale::Auto, false),
            (0.0, AxisScale::Auto, true),
        ] {
            let values = [value, value];
            let scale =
                Scale::around(values, Unit::Milliseconds.into(), asked, zero, (0.0, 100.0)).expect("values");
            assert!(scale.place(value).is_finite());
            assert!(scale.ticks(6).len() >= 2, "{value} {asked:?}");
        }
        assert!(Scale::around([], Unit::Count.into(), AxisScale::Auto, false, (0.0, 1.0)).is_none());
    }

    #[test]
    fn zero_takes_no_part_in_ratios() {
        let scale = Scale::around([0.0, 100.0], Unit::Count.into(), AxisScale::Log, false, (0.0, 100.0))
            .expect("values");
        assert!(!scale.is_log());
    }
}
