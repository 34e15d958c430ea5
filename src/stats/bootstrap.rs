//! The bootstrap of whole turns, and what it decides.
//!
//! Samples taken right after one another resemble one another (a lag-1 autocorrelation of 0.5 to 0.8 is
//! usual), so single samples may not be resampled: turns are. The arms of one measure took their turns in
//! the same rounds, so one draw of rounds serves them all, and what was slow for all alike cancels out.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::quantile;

/// How many resamples a decision rests on.
pub const RESAMPLES: usize = 2_000;

/// The timed samples of one measure: for each arm, its turns in order, for each turn its samples.
pub type Measured = Vec<Vec<Vec<f64>>>;

/// Evaluates `statistic` over `resamples` resamples of the measures.
///
/// The statistic is given, for each measure and each of its arms, the resampled samples in ascending order
/// (`samples[measure][arm]`). Arms of one measure with equally many turns are drawn together (paired); an
/// arm that the budget cut to fewer turns is drawn by itself, which widens the interval. Measures are drawn
/// independently. The same seed gives the same resamples. Ask [`enough_turns`] first.
///
/// # Errors
/// The first error of the statistic.
pub fn resample<T, E>(
    measures: &[Measured],
    seed: u64,
    resamples: usize,
    mut statistic: impl FnMut(&[Vec<Vec<f64>>]) -> Result<T, E>,
) -> Result<Vec<T>, E> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut samples: Vec<Vec<Vec<f64>>> = measures.iter().map(|arms| vec![Vec::new(); arms.len()]).collect();
    let mut values = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        for (arms, drawn) in measures.iter().zip(&mut samples) {
            draw(arms, drawn, &mut random);
        }
        values.push(statistic(&samples)?);
    }
    Ok(values)
}

/// One resample of one measure, into `drawn`.
fn draw(arms: &[Vec<Vec<f64>>], drawn: &mut [Vec<f64>], random: &mut Pcg64Mcg) {
    let rounds = arms.iter().map(Vec::len).max().unwrap_or(0);
    let picks = picks(rounds, random);
    for (turns, samples) in arms.iter().zip(drawn) {
        samples.clear();
        let own;
        let picks = if turns.len() == rounds {
            &picks
        } else {
            own = self::picks(turns.len(), random);
            &own
        };
        for &pick in picks {
            samples.extend_from_slice(&turns[pick]);
        }
        samples.sort_by(f64::total_cmp);
    }
}

/// Which of `turns` turns a resample holds.
fn picks(turns: usize, random: &mut Pcg64Mcg) -> Vec<usize> {
    if turns == 0 {
        return Vec::new();
    }
    (0..draws(turns)).map(|_| random.random_range(0..turns)).collect()
}

/// How many turns a resample of `turns` draws: `(turns - 1) · (z / t)²`, rounded.
///
/// Drawing as many as there are makes intervals too narrow where turns are few, in two ways. The variance
/// among `n` turns is `(n - 1) / n` of the true one: drawing `n - 1` gives that back (Rao and Wu, 1988). And
/// the variance is itself estimated, which is what Student's quantile `t` (with `n - 1` degrees of freedom)
/// is for where the normal one is `z`: drawing fewer by the square of their ratio widens by the ratio.
fn draws(turns: usize) -> usize {
    const Z: f64 = 1.96;
    let freedom = turns.saturating_sub(1).max(1) as f64;
    // Abramowitz and Stegun 26.7.5, the first two terms at the 97.5% quantile.
    let t = Z + 2.37 / freedom + 2.82 / freedom.powi(2);
    ((freedom * (Z / t).powi(2)).round() as usize).max(1)
}

/// The fewest turns that can decide a claim at 95%: with four, all four lean one way by chance alone in an
/// eighth of cases.
pub const MIN_TURNS: usize = 5;

/// Whether every arm has turns enough for [`decide`] and [`interval`] to mean what they say.
#[must_use]
pub fn enough_turns(measures: &[Measured]) -> bool {
    measures.iter().flatten().all(|turns| turns.len() >= MIN_TURNS)
}

/// A 95% interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower bound, in the unit of the statistic.
    pub lo: f64,
    /// The upper bound, in the unit of the statistic.
    pub hi: f64,
}

impl Interval {
    /// The interval widened for drift: `ratio` (1 or more) is how far apart the same work was measured at
    /// the times that the statistic compares. For a ratio of positive numbers.
    #[must_use]
    pub fn widened(self, ratio: f64) -> Self {
        Self { lo: self.lo / ratio, hi: self.hi * ratio }
    }
}

/// The 95% interval of a statistic by the percentiles of its resampled values. `None` where there are no
/// values or one of them is not a number.
#[must_use]
pub fn interval(mut values: Vec<f64>) -> Option<Interval> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    Some(Interval { lo: quantile(&values, 0.025), hi: quantile(&values, 0.975) })
}

/// What the resamples say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It held in at least 97.5% of them.
    Pass,
    /// It held in at most 2.5% of them.
    Fail,
    /// In between: the samples do not decide.
    Inconclusive,
}

/// Decides a claim by how often it held. No resamples decide nothing.
#[must_use]
pub fn decide(held: &[bool]) -> Decision {
    let count = held.iter().filter(|held| **held).count();
    // Compared in fortieths, so that the bounds are exact.
    if held.is_empty() {
        Decision::Inconclusive
    } else if count * 40 >= held.len() * 39 {
        Decision::Pass
    } else if count * 40 <= held.len() {
        Decision::Fail
    } else {
        Decision::Inconclusive
    }
}

#[cfg(test)]
mod tests;
