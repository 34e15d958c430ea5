//! Dots that share an axis moved apart, always the same way.

/// How far each dot, given by its place on the axis in pixels, is moved off it, so that none of that diameter hides
/// another. Where `half` on either side is not room enough, the rest shares the room evenly.
pub(super) fn offsets(places: &[f64], diameter: f64, half: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|one, two| places[*one].total_cmp(&places[*two]).then(one.cmp(two)));
    let lanes = lanes(diameter, half);
    // The place of the last dot in each lane.
    let mut last = vec![f64::NEG_INFINITY; lanes.len()];
    let mut offsets = vec![0.0; places.len()];
    let mut crowded = 0;
    for dot in order {
        let free = last.iter().position(|last| places[dot] - last >= diameter);
        let lane = free.unwrap_or_else(|| {
            crowded += 1;
            // A step that shares no factor with the number of lanes visits all of them.
            (crowded * 2 + 1) % lanes.len()
        });
        last[lane] = places[dot];
        offsets[dot] = lanes[lane];
    }
    offsets
}

/// Distances from the axis, the nearest first: an odd number of them.
fn lanes(diameter: f64, half: f64) -> Vec<f64> {
    let count = (half / diameter).floor() as i32;
    let mut lanes = vec![0.0];
    for step in 1..=count {
        lanes.extend([f64::from(step) * diameter, -f64::from(step) * diameter]);
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_do_not_hide_one_another_while_there_is_room() {
        let places = [10.0, 10.0, 11.0, 30.0, 10.5];
        let offsets = offsets(&places, 4.0, 15.0);
        for one in 0..places.len() {
            for two in 0..one {
                let apart = (places[one] - places[two]).hypot(offsets[one] - offsets[two]);
                assert!(apart >= 4.0 - 1e-9, "{one} and {two}: {apart}");
            }
        }
        assert_eq!(offsets[3], 0.0);
    }

    #[test]
    fn a_crowd_stays_inside_its_row() {
        let places = vec![5.0; 500];
        let offsets = offsets(&places, 4.0, 15.0);
        assert!(offsets.iter().all(|offset| offset.abs() <= 15.0));
        let mut used: Vec<i64> = offsets.iter().map(|offset| *offset as i64).collect();
        used.sort();
        used.dedup();
        assert_eq!(used.len(), 7);
    }
}
