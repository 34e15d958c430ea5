//! Statistics over samples: quantiles, summaries, the bootstrap of whole turns, the order of turns.
//!
//! A leaf: numbers in, numbers out. Samples are latencies in milliseconds wherever Planbook calls it, but
//! nothing here depends on the unit.

mod bootstrap;
mod quantile;
mod schedule;

pub use bootstrap::{
    Decision, Interval, MIN_TURNS, Measured, RESAMPLES, decide, enough_turns, interval, resample,
};
pub use quantile::{Summary, drift, mad, mean, median, quantile, stddev};
pub use schedule::schedule;
