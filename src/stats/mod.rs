//! Statistics over samples: quantiles, summaries, the bootstrap of whole turns, the order of turns,
//! the search for a crossing.
//!
//! A leaf: numbers in, numbers out. Samples are latencies in milliseconds wherever Planbook calls it, but
//! nothing here depends on the unit.

mod bootstrap;
mod crossing;
mod quantile;
mod schedule;

pub use bootstrap::{
    Decision, Interval, MIN_TURNS, Measured, RESAMPLES, decide, enough_turns, interval, resample,
};
pub use crossing::{CrossingSearch, Winner, Zone, faster, smaller};
pub use quantile::{P95_SAMPLES, P99_SAMPLES, Summary, drift, mad, mean, median, quantile, stddev};
pub use schedule::schedule;
