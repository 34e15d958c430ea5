//! Quantiles, spread, and the summary of one arm.

/// The quantile `q` (0 to 1) of samples in ascending order, interpolated linearly between the two nearest
/// (type 7 of Hyndman and Fan, 1996: the default of R and NumPy). NaN where there are no samples.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = (position.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let weight = position - below as f64;
    sorted[below] + (sorted[above] - sorted[below]) * weight
}

/// The median of samples in ascending order. NaN where there are none.
#[must_use]
pub fn median(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.5)
}

/// The arithmetic mean. NaN where there are no samples.
#[must_use]
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The standard deviation with `n - 1`. NaN below two samples.
#[must_use]
pub fn stddev(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (squares / (samples.len() - 1) as f64).sqrt()
}

/// The median absolute deviation from the median, unscaled, of samples in ascending order. NaN where there
/// are none.
#[must_use]
pub fn mad(sorted: &[f64]) -> f64 {
    let centre = median(sorted);
    let mut deviations: Vec<f64> = sorted.iter().map(|sample| (sample - centre).abs()).collect();
    deviations.sort_by(f64::total_cmp);
    median(&deviations)
}

/// The drift that a fixed query saw: the slowest of its timings over the fastest, 1 or more. 1 where there
/// are none.
#[must_use]
pub fn drift(beats: &[f64]) -> f64 {
    let slowest = beats.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let fastest = beats.iter().copied().fold(f64::INFINITY, f64::min);
    if slowest >= fastest && fastest > 0.0 { slowest / fastest } else { 1.0 }
}

/// From how many samples on the largest twentieth of them is at least one.
pub const P95_SAMPLES: usize = 20;

/// From how many samples on the largest hundredth of them is at least one.
pub const P99_SAMPLES: usize = 100;

/// What the samples of one arm come to, in their own unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How many samples there are.
    pub count: usize,
    /// The median.
    pub median: f64,
    /// The smallest sample.
    pub min: f64,
    /// The largest sample.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation (n - 1), from two samples on.
    pub stddev: Option<f64>,
    /// The median absolute deviation, unscaled.
    pub mad: f64,
    /// The 95th percentile, from [`P95_SAMPLES`] on.
    pub p95: Option<f64>,
    /// The 99th percentile, from [`P99_SAMPLES`] on.
    pub p99: Option<f64>,
}

impl Summary {
    /// Summarises samples in any order; `None` where there are none.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let count = sorted.len();
        Some(Self {
            count,
            median: median(&sorted),
            min,
            max,
            mean: mean(&sorted),
            stddev: (count >= 2).then(|| stddev(&sorted)),
            mad: mad(&sorted),
            p95: (count >= P95_SAMPLES).then(|| quantile(&sorted, 0.95)),
            p99: (count >= P99_SAMPLES).then(|| quantile(&sorted, 0.99)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_linearly() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&sorted, 0.0), 1.0);
        assert_eq!(quantile(&sorted, 0.25), 1.75);
        assert_eq!(median(&sorted), 3.0);
        assert!((quantile(&sorted, 0.9) - 6.8).abs() < 1e-12);
        assert_eq!(quantile(&sorted, 1.0), 8.0);
        assert_eq!(quantile(&[5.0], 0.3), 5.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn spread_by_hand() {
        assert_eq!(stddev(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), (32.0_f64 / 7.0).sqrt());
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), 1.0);
        assert!(stddev(&[1.0]).is_nan() && mean(&[]).is_nan());
    }

    #[test]
    fn drift_is_the_largest_ratio() {
        assert_eq!(drift(&[2.0, 3.0, 1.5]), 2.0);
        assert_eq!(drift(&[2.0]), 1.0);
        assert_eq!(drift(&[]), 1.0);
    }

    #[test]
    fn a_percentile_needs_its_samples() {
        let samples: Vec<f64> = (0..100).map(f64::from).collect();
        let of = |count: usize| Summary::of(&samples[..count]).unwrap();
        assert_eq!(of(19).p95, None);
        assert_eq!(of(20).p95, Some(18.05));
        assert_eq!(of(99).p99, None);
        assert!(of(100).p99.is_some_and(|p99| (p99 - 98.01).abs() < 1e-9));
        assert_eq!(of(1).stddev, None);
        assert_eq!(Summary::of(&[]), None);
    }
}
