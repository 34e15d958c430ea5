use std::convert::Infallible;

use super::*;
use crate::stats::{median, schedule};

fn faster(measure: &Measured, seed: u64) -> Decision {
    let held = resample(std::slice::from_ref(measure), seed, RESAMPLES, |samples| {
        Ok::<_, Infallible>(median(&samples[0][0]) < median(&samples[0][1]))
    })
    .unwrap();
    decide(&held)
}

/// A server's latencies as two arms would see them: a level that drifts (lag-1 autocorrelation 0.8), plus
/// noise of each sample, plus now and then a spike. Arms take turns in seeded random order.
fn two_arms(turns: usize, reps: usize, second: f64, seed: u64) -> Measured {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut normal = move || -> f64 { (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0 };
    let mut level = normal() * 0.05;
    let mut measure = vec![vec![Vec::new(); turns]; 2];
    for (turn, order) in schedule(2, turns, seed).iter().enumerate() {
        for &arm in order {
            for _ in 0..reps {
                level = 0.8 * level + 0.03 * normal();
                let spike = if normal() > 2.0 { 0.5 } else { 0.0 };
                let factor = if arm == 1 { second } else { 1.0 };
                measure[arm][turn].push(factor * (1.0 + level + 0.02 * normal() + spike));
            }
        }
    }
    measure
}

/// How many of `runs` comparisons of two arms, the second `factor` times as slow, were decided so.
fn count(decision: Decision, turns: usize, reps: usize, factor: f64, runs: u64) -> usize {
    (0..runs).filter(|&seed| faster(&two_arms(turns, reps, factor, seed), seed) == decision).count()
}

#[test]
fn one_query_against_itself_is_seldom_decided() {
    // Of sixty, 95% allows three on average; seven or more happen by chance in 3% of such tests.
    for (turns, reps) in [(5, 4), (10, 2)] {
        let decided = 60 - count(Decision::Inconclusive, turns, reps, 1.0, 60);
        assert!(decided <= 6, "{turns} turns of {reps}: {decided} of 60 decided");
    }
}

#[test]
fn a_true_difference_of_a_fifth_is_found() {
    let found = count(Decision::Pass, 10, 2, 1.2, 40);
    assert!(found >= 36, "{found} of 40");
    let refused = count(Decision::Fail, 10, 2, 1.0 / 1.2, 40);
    assert!(refused >= 36, "{refused} of 40");
}

#[test]
fn the_true_ratio_lies_in_most_intervals() {
    let inside = (0..60)
        .filter(|&seed| {
            let measure = two_arms(10, 2, 1.2, seed);
            let ratios = resample(&[measure], seed, RESAMPLES, |samples| {
                Ok::<_, Infallible>(median(&samples[0][1]) / median(&samples[0][0]))
            })
            .unwrap();
            interval(ratios).is_some_and(|at| at.lo <= 1.2 && 1.2 <= at.hi)
        })
        .count();
    assert!(inside >= 53, "{inside} of 60");
}

#[test]
fn arms_of_one_measure_are_drawn_together() {
    // The second arm is always exactly twice the first, whatever the round.
    let arms: Measured = vec![
        (1..=10).map(|turn| vec![f64::from(turn)]).collect(),
        (1..=10).map(|turn| vec![2.0 * f64::from(turn)]).collect(),
    ];
    let ratio = |samples: &[Vec<Vec<f64>>], first: (usize, usize), second: (usize, usize)| {
        Ok::<_, Infallible>(median(&samples[second.0][second.1]) / median(&samples[first.0][first.1]))
    };
    let paired = resample(std::slice::from_ref(&arms), 1, 200, |s| ratio(s, (0, 0), (0, 1))).unwrap();
    assert_eq!(interval(paired), Some(Interval { lo: 2.0, hi: 2.0 }));
    let apart = [vec![arms[0].clone()], vec![arms[1].clone()]];
    let unpaired = resample(&apart, 1, 200, |s| ratio(s, (0, 0), (1, 0))).unwrap();
    let unpaired = interval(unpaired).unwrap();
    assert!(unpaired.lo < 1.5 && unpaired.hi > 2.5, "{unpaired:?}");
}

#[test]
fn a_seed_repeats_and_an_error_comes_back() {
    let measure = vec![two_arms(10, 2, 1.0, 3)];
    let medians = |seed| resample(&measure, seed, 50, |s| Ok::<_, Infallible>(median(&s[0][0]))).unwrap();
    assert_eq!(medians(1), medians(1));
    assert_ne!(medians(1), medians(2));
    assert_eq!(resample(&measure, 1, 50, |_| Err::<f64, _>("no")), Err("no"));
}

#[test]
fn decisions_at_their_bounds() {
    let held = |count: usize| decide(&(0..2_000).map(|index| index < count).collect::<Vec<_>>());
    assert_eq!(held(1_950), Decision::Pass);
    assert_eq!(held(1_949), Decision::Inconclusive);
    assert_eq!(held(51), Decision::Inconclusive);
    assert_eq!(held(50), Decision::Fail);
    assert_eq!(decide(&[]), Decision::Inconclusive);
}

#[test]
fn few_turns_decide_nothing() {
    assert!(enough_turns(&[two_arms(5, 1, 1.0, 1)]));
    assert!(!enough_turns(&[two_arms(10, 1, 1.0, 1), two_arms(4, 9, 1.0, 1)]));
}

#[test]
fn drift_widens_an_interval_both_ways() {
    let interval = Interval { lo: 2.0, hi: 3.0 };
    assert_eq!(interval.widened(1.25), Interval { lo: 1.6, hi: 3.75 });
}
