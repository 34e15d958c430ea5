//! Labels beside their lines, moved apart where lines end close together.

/// Middles of labels of that height, each as near to the one wanted as its neighbours and the bounds allow, in the
/// order in which they were given. They fit where the bounds are wide enough for all of them.
pub(super) fn spread(wanted: &[f64], height: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|one, two| wanted[*one].total_cmp(&wanted[*two]).then(one.cmp(two)));
    // Labels that touch form a block, which is centred on the mean of what its members want.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for label in &order {
        blocks.push((wanted[*label], 1));
        while let [.., (above, many), (below, few)] = blocks[..] {
            if below - above >= (many + few) as f64 * height / 2.0 {
                break;
            }
            let all = many + few;
            let middle = (above * many as f64 + below * few as f64) / all as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((middle, all));
        }
    }
    let mut places = vec![0.0; wanted.len()];
    let mut labels = order.into_iter();
    let mut free = top;
    let mut below: usize = wanted.len();
    for (middle, count) in blocks {
        let half = count as f64 * height / 2.0;
        // What lies below must still fit.
        let lowest = bottom - below as f64 * height + half;
        let start = (middle.min(lowest) - half).max(free);
        for (at, label) in labels.by_ref().take(count).enumerate() {
            places[label] = start + height * (at as f64 + 0.5);
        }
        free = start + count as f64 * height;
        below -= count;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_where_there_is_room() {
        assert_eq!(spread(&[50.0, 20.0], 10.0, (0.0, 100.0)), [50.0, 20.0]);
    }

    #[test]
    fn labels_that_would_touch_move_apart_in_order() {
        assert_eq!(spread(&[52.0, 50.0], 10.0, (0.0, 100.0)), [56.0, 46.0]);
        assert_eq!(spread(&[50.0, 50.0, 50.0], 10.0, (0.0, 100.0)), [40.0, 50.0, 60.0]);
    }

    #[test]
    fn labels_stay_inside() {
        for wanted in [[0.0, 0.0, 1.0], [99.0, 98.0, 100.0], [0.0, 99.0, 100.0], [-50.0, 500.0, 50.0]] {
            let places = spread(&wanted, 10.0, (0.0, 100.0));
            assert!(places.iter().all(|place| (5.0..=95.0).contains(place)), "{wanted:?}: {places:?}");
            let mut sorted = places.clone();
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 10.0 - 1e-9), "{wanted:?}: {places:?}");
        }
        assert!(spread(&[], 10.0, (0.0, 1.0)).is_empty());
    }
}
