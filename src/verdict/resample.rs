//! Claims over timings: evaluated over resamples of whole turns, and over the drift of the run.
//!
//! Arms of one measure were interleaved: what slowed one slowed all, and one draw of turns serves them all. Measures
//! ran one after the other, so a claim across several must also hold if the machine was faster for one of them, by as
//! much as the heartbeat shows that it changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::timings;
use crate::metric::Metric;
use crate::notebook::Point;
use crate::recording::{ArmKey, Event, Recording};
use crate::stats::{self, Measured, RESAMPLES};

/// The arms whose timings a claim uses, by measure; the points of a sweep were measured one after the other.
pub(super) type Timed = BTreeMap<(String, Option<Point>), BTreeSet<ArmKey>>;

/// Timings by arm, in place of those of all samples.
pub(super) type Drawn = BTreeMap<ArmKey, BTreeMap<Metric, f64>>;

/// More measures than this in one claim would need too many combinations.
const MOST_MEASURES: usize = 6;

/// For each resample, the values of `evaluate` under every combination of drift: one value where one measure is
/// involved, 2ⁿ where n are.
pub(super) fn resample<T, E>(
    recording: &Recording,
    timed: &Timed,
    mut evaluate: impl FnMut(&Drawn) -> Result<T, E>,
) -> Result<Vec<Vec<T>>, E> {
    let arms: Vec<Vec<&ArmKey>> = timed.values().map(|arms| arms.iter().collect()).collect();
    let measures = measured(recording, timed);
    let combinations = combinations(arms.len(), drift(recording));
    stats::resample(&measures, recording.manifest.seed, RESAMPLES, |drawn| {
        combinations.iter().map(|factors| evaluate(&scaled(&arms, drawn, factors))).collect()
    })
}

fn scaled(arms: &[Vec<&ArmKey>], drawn: &[Vec<Vec<f64>>], factors: &[f64]) -> Drawn {
    let mut timings_of = Drawn::new();
    for ((keys, samples), factor) in arms.iter().zip(drawn).zip(factors) {
        for (key, samples) in keys.iter().zip(samples) {
            let scaled: Vec<f64> = samples.iter().map(|sample| sample * factor).collect();
            timings_of.insert((*key).clone(), timings(&[scaled]));
        }
    }
    timings_of
}

/// Every way in which each measure may have been slowed by the drift or not. One measure alone has no drift.
fn combinations(measures: usize, drift: f64) -> Vec<Vec<f64>> {
    if measures < 2 || drift <= 1.0 {
        return vec![vec![1.0; measures]];
    }
    if measures > MOST_MEASURES {
        // Each alone slowed, and each alone spared: the ends between which the others lie for a claim that compares one
        // with the rest.
        let odd = |odd: f64, rest: f64| {
            (0..measures).map(move |one| (0..measures).map(|at| if at == one { odd } else { rest }).collect())
        };
        return std::iter::once(vec![1.0; measures]).chain(odd(drift, 1.0)).chain(odd(1.0, drift)).collect();
    }
    (0..1_usize << measures)
        .map(|bits| (0..measures).map(|measure| if bits >> measure & 1 == 1 { drift } else { 1.0 }).collect())
        .collect()
}

/// Whether every arm took turns enough to decide anything.
pub(super) fn enough(recording: &Recording, timed: &Timed) -> bool {
    stats::enough_turns(&measured(recording, timed))
}

fn measured(recording: &Recording, timed: &Timed) -> Vec<Measured> {
    let turns = |key: &ArmKey| recording.samples.get(key).cloned().unwrap_or_default();
    timed.values().map(|arms| arms.iter().map(turns).collect()).collect()
}

/// The largest ratio between two heartbeats of the run; 1 where there were none.
pub(super) fn drift(recording: &Recording) -> f64 {
    let beats = recording.events.iter().filter_map(|event| match event {
        Event::Heartbeat { before_ms, after_ms, .. } => Some([*before_ms, *after_ms]),
        _ => None,
    });
    stats::drift(&beats.flatten().collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_concerns_measures_that_were_not_interleaved() {
        assert_eq!(combinations(1, 1.5), [[1.0]]);
        assert_eq!(combinations(2, 1.0), [[1.0, 1.0]]);
        let many = combinations(9, 1.5);
        assert!(many.len() == 19 && many.iter().all(|factors| factors.len() == 9));
        assert_eq!(combinations(2, 1.5), [[1.0, 1.0], [1.5, 1.0], [1.0, 1.5], [1.5, 1.5]]);
    }
}
