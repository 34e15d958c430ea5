//! What a `sweep` leaves in a recording, beside the captures and samples of its arms at its points.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::notebook::Point;

use super::{ArmKey, RecordingError};

/// What a sweep has before it, said before it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepEvent {
    /// The step.
    pub step: usize,
    /// The sweep.
    pub measure: String,
    /// The points that the notebook lists.
    pub points: usize,
    /// Its arms.
    pub arms: usize,
    /// How many points may be added in search of the crossing, and timed; 0 where none is looked for by time.
    pub most_added: usize,
    /// How many more may be added whose plans alone are captured, to find where the two arms touch equally many blocks.
    pub most_captured: usize,
    /// The longest that the timed and untimed executions at the listed points can take, in milliseconds: as long as
    /// `min_reps` of a query fit its budget.
    pub at_most_ms: f64,
    /// The same of the points that may be added.
    pub added_at_most_ms: f64,
}

/// A point of a sweep begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointEvent {
    /// The step.
    pub step: usize,
    /// The sweep.
    pub measure: String,
    /// The point.
    pub point: Point,
    /// Whether it was added in search of the crossing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added: bool,
    /// Counted from 1.
    pub number: usize,
    /// How many there will be at most.
    pub of: usize,
    /// The longest that this point and those after it can take, in milliseconds, by what is known now.
    pub at_most_ms: f64,
    /// How long they take if every execution is as long as the slowest captured one of its arm so far; absent before
    /// any was captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about_ms: Option<f64>,
}

/// A metric from SQL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeEvent {
    /// The step.
    pub step: usize,
    /// The arm at its point.
    #[serde(flatten)]
    pub key: ArmKey,
    /// The metric's name.
    pub name: String,
    /// The query as sent.
    pub sql: String,
    /// The number; absent where the query returned NULL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// What EXPLAIN alone said of the arms of a sweep over the range of its parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimatesEvent {
    /// The step.
    pub step: usize,
    /// The sweep.
    pub measure: String,
    /// The parameter.
    pub parameter: String,
    /// The arm in which the planner was free; absent where that was the sweep's own settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<String>,
    /// Every plan that was seen, as EXPLAIN prints its nodes; `plan` of a row counts from 1.
    pub plans: Vec<String>,
    /// Every EXPLAIN. Kept as a file, not in the line.
    #[serde(skip)]
    pub rows: Vec<EstimateRow>,
}

/// What one EXPLAIN said.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateRow {
    /// The value of the parameter.
    pub at: f64,
    /// The arm; absent for the sweep's own settings.
    pub arm: Option<String>,
    /// The number of the plan, from 1.
    pub plan: usize,
    /// The planner's total cost of the root.
    pub cost: Option<f64>,
    /// The rows that it expected of the root.
    pub rows: Option<f64>,
}

impl EstimatesEvent {
    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("plans/{}.estimates.csv", self.measure))
    }

    fn header(&self) -> String {
        format!("{},arm,plan,cost,rows", self.parameter)
    }

    /// Writes the rows into their file.
    pub(super) fn write(&self, folder: &Path) -> Result<(), RecordingError> {
        let mut text = format!("{}\n", self.header());
        let cell = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        for EstimateRow { at, arm, plan, cost, rows } in &self.rows {
            let arm = arm.as_deref().unwrap_or_default();
            let _ = writeln!(text, "{at},{arm},{plan},{},{}", cell(*cost), cell(*rows));
        }
        let path = self.path(folder);
        fs::write(&path, text).map_err(RecordingError::io("write", &path))
    }

    /// Reads the rows from their file.
    pub(super) fn read(&mut self, folder: &Path) -> Result<(), RecordingError> {
        let path = self.path(folder);
        let text = fs::read_to_string(&path).map_err(RecordingError::io("read", &path))?;
        let mut lines = text.lines();
        if lines.next() != Some(&self.header()) {
            return Err(RecordingError::damaged(&path, format!("its first line is not `{}`", self.header())));
        }
        let plans = self.plans.len();
        let rows = lines.enumerate().map(|(index, line)| {
            let row = row(line).filter(|row| (1..=plans).contains(&row.plan));
            row.ok_or_else(|| RecordingError::damaged(&path, format!("line {} is no estimate", index + 2)))
        });
        self.rows = rows.collect::<Result<_, _>>()?;
        Ok(())
    }
}

fn row(line: &str) -> Option<EstimateRow> {
    let fields: Vec<&str> = line.split(',').collect();
    let [at, arm, plan, cost, rows] = fields.as_slice() else { return None };
    let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    let optional = |text: &str| if text.is_empty() { Some(None) } else { Some(Some(number(text)?)) };
    Some(EstimateRow {
        at: number(at)?,
        arm: (!arm.is_empty()).then(|| (*arm).to_owned()),
        plan: plan.parse().ok()?,
        cost: optional(cost)?,
        rows: optional(rows)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a directory");
        fs::create_dir(folder.path().join("plans")).expect("plans");
        let row = |at, arm: Option<&str>, cost| EstimateRow {
            at,
            arm: arm.map(str::to_owned),
            plan: 1,
            cost,
            rows: Some(1.0),
        };
        let written = EstimatesEvent {
            step: 1,
            measure: "cross".to_owned(),
            parameter: "n".to_owned(),
            free: None,
            plans: vec!["Seq Scan on t".to_owned()],
            rows: vec![row(1.0, None, Some(12.5)), row(1.5, Some("seq"), None)],
        };
        written.write(folder.path()).expect("written");
        let mut read = EstimatesEvent { rows: Vec::new(), ..written.clone() };
        read.read(folder.path()).expect("read");
        assert_eq!(read, written);
        let path = written.path(folder.path());
        for damage in ["n,arm,plan,cost,rows\n1,,2,3,4\n", "n,arm,plan,cost,rows\n1,,1,NaN,4\n", "n\n"] {
            fs::write(&path, damage).expect("damage");
            assert!(read.read(folder.path()).is_err(), "{damage}");
        }
    }
}
