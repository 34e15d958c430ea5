//! Where two arms of a sweep cross: the zone in which neither surely wins, narrowed point by point.

use super::{Decision, Measured, RESAMPLES, decide, enough_turns, median, resample};

/// Who wins at a point, as far as the samples decide (95%).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Winner {
    /// The first arm, surely.
    First,
    /// The second arm, surely.
    Second,
    /// Neither surely.
    Neither,
}

/// The stretch between a point where one arm surely wins and the next where the other does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zone {
    /// The last point at which `before` surely wins.
    pub lo: f64,
    /// The first point at which the other arm surely wins.
    pub hi: f64,
    /// Who wins below the zone: [`Winner::First`] or [`Winner::Second`].
    pub before: Winner,
    /// Whether nothing is left to measure: each end lies next to an undecided point, or to the other end.
    pub closed: bool,
}

/// The search for the crossing of two arms. It is told what was measured and says what to measure next.
#[derive(Debug, Clone)]
pub struct CrossingSearch {
    integers: bool,
    /// Whether integers count as next to each other only where none lies between.
    exact: bool,
    /// In ascending order.
    points: Vec<(f64, Winner)>,
}

/// Two points whose ratio is at most this are next to each other, unless the search is exact.
const NEXT_TO: f64 = 1.05;

/// A gap that begins at 0 has no ratio, and could be halved for ever.
const MOST_HALVINGS: usize = 12;

/// Which of two arms has the smaller median, as far as resamples of whole turns, paired, decide (95%).
#[must_use]
pub fn faster(first: &[Vec<f64>], second: &[Vec<f64>], seed: u64) -> Winner {
    let measured: Vec<Measured> = vec![vec![first.to_vec(), second.to_vec()]];
    if !enough_turns(&measured) {
        return Winner::Neither;
    }
    let differences = resample(&measured, seed, RESAMPLES, |samples| {
        Ok::<_, std::convert::Infallible>(median(&samples[0][0]) - median(&samples[0][1]))
    });
    let differences = differences.unwrap_or_default();
    let holds = |test: fn(f64) -> bool| decide(&differences.iter().map(|d| test(*d)).collect::<Vec<_>>());
    match (holds(|difference| difference < 0.0), holds(|difference| difference > 0.0)) {
        (Decision::Pass, _) => Winner::First,
        (_, Decision::Pass) => Winner::Second,
        _ => Winner::Neither,
    }
}

/// Which of two exact numbers is smaller.
#[must_use]
pub fn smaller(first: f64, second: f64) -> Winner {
    match first.total_cmp(&second) {
        std::cmp::Ordering::Less => Winner::First,
        std::cmp::Ordering::Greater => Winner::Second,
        std::cmp::Ordering::Equal => Winner::Neither,
    }
}

impl CrossingSearch {
    /// A search over integers, or over any numbers.
    #[must_use]
    pub fn new(integers: bool) -> Self {
        Self { integers, exact: false, points: Vec::new() }
    }

    /// The same search, which over integers goes on to the exact place: for what no noise hides.
    #[must_use]
    pub fn exact(self) -> Self {
        Self { exact: self.integers, ..self }
    }

    /// Tells who wins at `x`. A point that was told before is told anew.
    pub fn tell(&mut self, x: f64, winner: Winner) {
        match self.points.binary_search_by(|(at, _)| at.total_cmp(&x)) {
            Ok(index) => self.points[index].1 = winner,
            Err(index) => self.points.insert(index, (x, winner)),
        }
    }

    /// The next point to measure: the middle of the widest gap at an end of a zone. `None` where all zones
    /// are closed, or there is none.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        let gaps = self.stretches().into_iter().flat_map(|stretch| self.gaps(stretch));
        let widest = gaps.max_by(|one, other| width(*one).total_cmp(&width(*other)))?;
        self.middle(widest)
    }

    /// How many more points [`CrossingSearch::next`] will ask for at most to close one zone, whatever is measured there.
    #[must_use]
    pub fn most_steps(&self) -> usize {
        let pairs = self.points.windows(2).map(|pair| self.halvings((pair[0].0, pair[1].0), MOST_HALVINGS));
        // Both ends of a zone are looked for.
        pairs.max().map_or(0, |most| 2 * most)
    }

    /// The same for the zones as they are now.
    #[must_use]
    pub fn steps_left(&self) -> usize {
        let of_stretch = |stretch: &[(f64, Winner)]| {
            let gaps = self.gaps(stretch);
            let sides = if stretch.len() == 2 { 2 } else { 1 };
            sides * gaps.into_iter().map(|gap| self.halvings(gap, MOST_HALVINGS)).sum::<usize>()
        };
        self.stretches().into_iter().map(of_stretch).sum()
    }

    fn halvings(&self, (lo, hi): (f64, f64), most: usize) -> usize {
        if is_near((lo, hi)) {
            return if self.exact { (hi - lo).log2().ceil() as usize } else { 0 };
        }
        match self.middle((lo, hi)).filter(|_| most > 0) {
            None => 0,
            Some(middle) => {
                1 + self.halvings((lo, middle), most - 1).max(self.halvings((middle, hi), most - 1))
            }
        }
    }

    /// The zones, in ascending order. None where one arm surely wins at every decided point; more than one
    /// where the arms cross more than once, or noise decided a point wrongly.
    #[must_use]
    pub fn zones(&self) -> Vec<Zone> {
        let zone = |stretch: &[(f64, Winner)]| {
            let (&(lo, before), &(hi, _)) = (stretch.first()?, stretch.last()?);
            Some(Zone { lo, hi, before, closed: self.gaps(stretch).is_empty() })
        };
        self.stretches().into_iter().filter_map(zone).collect()
    }

    /// The one arm that surely wins wherever a point is decided.
    #[must_use]
    pub fn sole_winner(&self) -> Option<Winner> {
        let mut decided = self.points.iter().map(|(_, winner)| *winner).filter(|w| *w != Winner::Neither);
        let first = decided.next()?;
        decided.all(|winner| winner == first).then_some(first)
    }

    /// From a decided point to the next that is decided otherwise, both included.
    fn stretches(&self) -> Vec<&[(f64, Winner)]> {
        let mut stretches = Vec::new();
        let mut last: Option<usize> = None;
        for (index, (_, winner)) in self.points.iter().enumerate() {
            if *winner == Winner::Neither {
                continue;
            }
            if let Some(last) = last
                && self.points[last].1 != *winner
            {
                stretches.push(&self.points[last..=index]);
            }
            last = Some(index);
        }
        stretches
    }

    /// The gaps at the two ends of a stretch that are wide enough to measure in.
    fn gaps(&self, stretch: &[(f64, Winner)]) -> Vec<(f64, f64)> {
        let Some(last) = stretch.len().checked_sub(2) else { return Vec::new() };
        let mut gaps = vec![(stretch[0].0, stretch[1].0)];
        if last > 0 {
            gaps.push((stretch[last].0, stretch[last + 1].0));
        }
        gaps.retain(|gap| self.middle(*gap).is_some());
        gaps
    }

    /// A point between two that are not next to each other: the geometric middle where both are positive and far apart.
    fn middle(&self, (lo, hi): (f64, f64)) -> Option<f64> {
        let near = is_near((lo, hi));
        if near && !self.exact {
            return None;
        }
        let middle = if lo > 0.0 && !near { (lo * hi).sqrt() } else { f64::midpoint(lo, hi) };
        let middle = if self.integers { middle.round().max(lo + 1.0).min(hi - 1.0) } else { middle };
        (lo < middle && middle < hi).then_some(middle)
    }
}

/// Whether the ends of a gap are as good as one, for what is measured with noise.
fn is_near((lo, hi): (f64, f64)) -> bool {
    lo > 0.0 && hi / lo <= NEXT_TO
}

/// How wide a gap is on the axis that the middle is taken on.
fn width((lo, hi): (f64, f64)) -> f64 {
    if lo > 0.0 { hi / lo } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a search over points of which `decide` knows the winner.
    fn run(integers: bool, start: &[f64], decide: impl Fn(f64) -> Winner) -> (CrossingSearch, usize) {
        let mut search = CrossingSearch::new(integers);
        for x in start {
            search.tell(*x, decide(*x));
        }
        let mut steps = 0;
        while let Some(x) = search.next() {
            assert!(!integers || x.fract() == 0.0, "{x}");
            search.tell(x, decide(x));
            steps += 1;
            assert!(steps < 100, "no end");
        }
        (search, steps)
    }

    #[test]
    fn a_sharp_crossing_is_found_between_adjacent_points() {
        let decide = |x: f64| if x < 7.5 { Winner::First } else { Winner::Second };
        let (search, _) = run(true, &[1.0, 5.0, 12.0], decide);
        assert_eq!(search.zones(), [Zone { lo: 7.0, hi: 8.0, before: Winner::First, closed: true }]);
        let (search, steps) = run(true, &[1.0, 1_000_000.0], |x| decide(x / 10_000.0));
        let zone = search.zones()[0];
        assert!(zone.lo < 75_000.0 && zone.hi >= 75_000.0 && zone.hi / zone.lo <= 1.05, "{zone:?}");
        assert!(steps <= 10, "{steps}");
    }

    #[test]
    fn an_exact_search_ends_between_adjacent_integers() {
        for at in [12_345.5, 29_999.5, 10.5, 1_030.5] {
            let mut search = CrossingSearch::new(true).exact();
            for x in [10.0, 38.0, 144.0, 1_000.0, 3_000.0, 30_000.0] {
                search.tell(x, Winner::Neither);
            }
            let most = search.most_steps();
            let decide = |x: f64| if x < at { Winner::First } else { Winner::Second };
            for x in [10.0, 38.0, 144.0, 1_000.0, 3_000.0, 30_000.0] {
                search.tell(x, decide(x));
            }
            let mut steps = 0;
            while let Some(x) = search.next() {
                search.tell(x, decide(x));
                steps += 1;
            }
            let zone = Zone { lo: at - 0.5, hi: at + 0.5, before: Winner::First, closed: true };
            assert_eq!(search.zones(), [zone]);
            assert!(steps <= most && steps <= 20, "{at}: {steps} of {most}");
        }
    }

    #[test]
    fn an_undecided_stretch_is_measured_at_both_its_ends() {
        let decide = |x: f64| match x {
            x if x < 100.0 => Winner::Second,
            x if x > 200.0 => Winner::First,
            _ => Winner::Neither,
        };
        let (search, steps) = run(false, &[1.0, 1_000.0], decide);
        let zone = search.zones()[0];
        assert!(zone.closed && zone.before == Winner::Second);
        assert!((95.0..100.0).contains(&zone.lo) && zone.hi > 200.0 && zone.hi < 210.5, "{zone:?}");
        assert!(steps <= 20, "{steps}");
    }

    #[test]
    fn noise_everywhere_and_one_winner_leave_no_zone() {
        let (search, steps) = run(true, &[1.0, 10.0], |_| Winner::Neither);
        assert_eq!((search.zones(), steps, search.sole_winner()), (vec![], 0, None));
        let one = |x: f64| if x > 5.0 { Winner::Second } else { Winner::Neither };
        let (search, steps) = run(true, &[1.0, 10.0], one);
        assert_eq!((search.zones(), steps, search.sole_winner()), (vec![], 0, Some(Winner::Second)));
    }

    #[test]
    fn every_crossing_is_a_zone_of_its_own() {
        let decide = |x: f64| if (20.0..40.0).contains(&x) { Winner::Second } else { Winner::First };
        let (search, _) = run(true, &[0.0, 30.0, 100.0], decide);
        let zones: Vec<(f64, f64)> = search.zones().iter().map(|zone| (zone.lo, zone.hi)).collect();
        assert_eq!(zones, [(19.0, 20.0), (39.0, 40.0)]);
        assert_eq!(search.sole_winner(), None);
    }

    #[test]
    fn the_bound_is_kept_whatever_is_found() {
        for (integers, start) in
            [(true, vec![1.0, 10.0, 900.0]), (false, vec![0.5, 3.0, 100.0]), (true, vec![0.0, 7.0])]
        {
            for (lo, hi) in [(0.3, 0.3), (2.0, 2.5), (20.0, 30.0), (5.0, 600.0)] {
                let decide = |x: f64| match x {
                    x if x <= lo => Winner::First,
                    x if x >= hi => Winner::Second,
                    _ => Winner::Neither,
                };
                let mut search = CrossingSearch::new(integers);
                start.iter().for_each(|x| search.tell(*x, decide(*x)));
                let most = search.most_steps();
                let (_, steps) = run(integers, &start, decide);
                assert!(
                    steps <= search.steps_left(),
                    "{start:?} {lo} {hi}: {steps} > {}",
                    search.steps_left()
                );
                assert!(steps <= most, "{start:?} {lo} {hi}: {steps} > {most}");
            }
        }
    }

    #[test]
    fn an_arm_is_faster_where_the_turns_agree() {
        let turns = |base: f64| -> Vec<Vec<f64>> {
            (0..10).map(|turn| vec![base + f64::from(turn % 4), base + f64::from((turn + 1) % 3)]).collect()
        };
        assert_eq!(faster(&turns(10.0), &turns(20.0), 1), Winner::First);
        assert_eq!(faster(&turns(20.0), &turns(10.0), 1), Winner::Second);
        assert_eq!(faster(&turns(10.0), &turns(10.0), 1), Winner::Neither);
        assert_eq!(faster(&turns(10.0)[..4], &turns(20.0)[..4], 1), Winner::Neither, "too few turns");
        assert_eq!(
            [smaller(1.0, 2.0), smaller(2.0, 1.0), smaller(2.0, 2.0)],
            [Winner::First, Winner::Second, Winner::Neither]
        );
    }

    #[test]
    fn a_point_told_anew_is_replaced() {
        let mut search = CrossingSearch::new(true);
        search.tell(1.0, Winner::Neither);
        search.tell(1.0, Winner::First);
        search.tell(2.0, Winner::Second);
        assert_eq!(search.zones().len(), 1);
        assert_eq!(search.next(), None);
    }
}
