//! `verdicts.json` and `values.json`.

use serde::Serialize;
use serde_json::{Map, Number, Value, json};

use crate::verdict::Outcome;

use super::{RenderError, Subject};
use crate::analysis::SweepResult;
use crate::template::Scalar;

/// Every verdict, and how many of each kind.
pub(super) fn verdicts(subject: Subject<'_>) -> Result<Vec<u8>, RenderError> {
    let count = |outcome| subject.judgement.count(outcome);
    let value = json!({
        "notebook": subject.recording.manifest.notebook,
        "title": subject.notebook.title,
        "summary": subject.notebook.summary,
        "tags": subject.notebook.tags,
        "status": subject.recording.manifest.status,
        "pass": count(Outcome::Pass),
        "fail": count(Outcome::Fail),
        "inconclusive": count(Outcome::Inconclusive),
        "not_run": count(Outcome::NotRun),
        "verdicts": subject.judgement.verdicts,
    });
    pretty("verdicts.json", &value)
}

/// Every number under the name that claims and texts use, flat: for site generators.
pub(super) fn values(subject: Subject<'_>) -> Result<Vec<u8>, RenderError> {
    let mut values = Map::new();
    for (name, value) in &subject.analysis.values {
        values.insert(name.clone(), serde_json::to_value(value).unwrap_or(Value::Null));
    }
    for arm in &subject.analysis.arms {
        let path = arm.key.path();
        if let Some(node) = &arm.node {
            values.insert(format!("{path}.plan"), json!(node));
        }
        let probes = arm.probes.iter().map(|(name, value)| (name.as_str(), value));
        for (name, value) in arm.metrics.iter().map(|(metric, value)| (metric.name(), value)).chain(probes) {
            values.insert(format!("{path}.{name}"), number(*value));
        }
    }
    for sweep in &subject.analysis.sweeps {
        values.extend(swept(sweep));
    }
    for (name, named) in &subject.judgement.named {
        values.insert(name.clone(), number(named.value));
        if let Some(interval) = named.interval {
            values.insert(format!("{name}.lo"), number(interval.lo));
            values.insert(format!("{name}.hi"), number(interval.hi));
        }
    }
    values.sort_keys();
    pretty("values.json", &values)
}

/// What was found over all points of a sweep.
fn swept(sweep: &SweepResult) -> impl Iterator<Item = (String, Value)> {
    sweep.findings().into_iter().map(|(path, value)| match value {
        Scalar::Float(value) => (path, number(value)),
        other => (path, json!(other.to_string())),
    })
}

/// Integers without a fraction: `41667`, not `41667.0`.
fn number(value: f64) -> Value {
    /// Up to here every integer is exact in a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        Value::from(value as i64)
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

fn pretty(file: &str, value: &impl Serialize) -> Result<Vec<u8>, RenderError> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| RenderError::Encode { file: file.to_owned(), reason: error.to_string() })?;
    bytes.push(b'\n');
    Ok(bytes)
}
