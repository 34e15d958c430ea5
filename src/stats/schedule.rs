//! In which order arms take their turns.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// For each of `turns` rounds, every arm once, in an order drawn from `seed`: drift and the traces that one
/// arm leaves for the next then fall on all alike.
#[must_use]
pub fn schedule(arms: usize, turns: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    (0..turns)
        .map(|_| {
            let mut order: Vec<usize> = (0..arms).collect();
            order.shuffle(&mut random);
            order
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_holds_every_arm_once_and_the_seed_decides() {
        let rounds = schedule(4, 50, 7);
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
        assert_eq!(rounds, schedule(4, 50, 7));
        assert_ne!(rounds, schedule(4, 50, 8));
    }

    #[test]
    fn every_arm_comes_first_about_equally_often() {
        let rounds = schedule(3, 3_000, 1);
        for arm in 0..3 {
            let first = rounds.iter().filter(|round| round[0] == arm).count();
            assert!((850..1150).contains(&first), "{arm}: {first}");
        }
    }
}
