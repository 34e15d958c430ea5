//! Claims: expressions that must hold, and numbers that checks name.
//!
//! A claim without timings is exact. One that uses them is evaluated over resamples of whole turns, and holds
//! or fails only where 95% of the resamples agree.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{self, Analysis};
use crate::metric::{Metric, Nature, Unit};
use crate::notebook::{Claim, Point, Scalar, Step};
use crate::number;
use crate::recording::{ArmKey, Recording, StepOutcome};
use crate::stats::{self, Decision, Interval};
use crate::template::{self, Context, Expression, MetricUse, TemplateError};

use super::resample::{self, Timed};
use super::standing::not_run;
use super::{Outcome, Verdict, step_outcome};

/// A number that a check names.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedNumber {
    /// Its value from all samples.
    pub value: f64,
    /// The 95% interval, where it uses timings, and enough of them.
    pub interval: Option<Interval>,
    /// Its unit, where that follows from what it is made of.
    pub unit: Option<Unit>,
    /// Whether it uses timings; else it is exact.
    pub timed: bool,
    /// The arms that it is made of, also by way of other named numbers.
    pub arms: BTreeSet<ArmKey>,
}

impl NamedNumber {
    /// Binds it in a context, with the ends of its interval as far as they are known.
    pub(crate) fn bind(&self, name: &str, context: &mut Context) {
        context.set_interval(name, self.value, self.ends(), self.unit);
    }

    /// Its value as people read it.
    #[must_use]
    pub fn shown(&self) -> String {
        self.as_shown(self.value)
    }

    /// The ends of the interval, where it has one, as people read them.
    #[must_use]
    pub fn shown_interval(&self) -> Option<[String; 2]> {
        self.interval.map(|within| [within.lo, within.hi].map(|end| self.as_shown(end)))
    }

    fn as_shown(&self, value: f64) -> String {
        self.unit.map_or_else(|| number::significant(value), |unit| number::in_unit(unit, value))
    }

    /// The ends of its interval, where they are known: one that is exact has itself at both.
    fn ends(&self) -> Option<(f64, f64)> {
        match self.timed {
            true => self.interval.map(|within| (within.lo, within.hi)),
            false => Some((self.value, self.value)),
        }
    }

    /// The end that a word such as `speedup.lo` names, where it is known.
    fn end(&self, word: &str) -> Option<f64> {
        self.ends().map(|(lo, hi)| if word.ends_with(".lo") { lo } else { hi })
    }
}

/// Why there is no interval, and what to do.
fn too_few_turns() -> String {
    format!("it takes {} turns to decide: set `turns`, and `reps` to as many or more", stats::MIN_TURNS)
}

/// What an expression may name, with dots and indexes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']')))
}

/// Evaluates claims in the order of the notebook; later ones may use the numbers that earlier ones named.
pub(super) struct Judge<'a> {
    recording: &'a Recording,
    analysis: &'a Analysis,
    named: BTreeMap<String, NamedNumber>,
    /// The expressions of the numbers named so far, in order: a claim about one of them is a claim about what it is
    /// made of.
    expressions: Vec<(String, String)>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(recording: &'a Recording, analysis: &'a Analysis) -> Self {
        Self { recording, analysis, named: BTreeMap::new(), expressions: Vec::new() }
    }

    pub(super) fn into_named(self) -> BTreeMap<String, NamedNumber> {
        self.named
    }

    pub(super) fn check(&mut self, step: &Step, claims: &[Claim]) -> Vec<Verdict> {
        claims.iter().filter_map(|claim| self.item(step, claim)).collect()
    }

    /// A claim is a verdict; a named number is one only where it could not be computed.
    fn item(&mut self, step: &Step, claim: &Claim) -> Option<Verdict> {
        let (outcome, seen) = match self.evaluate(claim) {
            Ok(Found::Claim(outcome, seen)) => (outcome, seen),
            Ok(Found::Number(number)) => {
                if let Some(name) = &claim.name {
                    self.named.insert(name.clone(), number);
                    self.expressions.push((name.clone(), claim.expr.text.clone()));
                }
                return None;
            }
            Err(error) => self.undecided(claim, &error),
        };
        let expected = match &claim.name {
            Some(name) => format!("{name}: {}", claim.expr.text.trim()),
            None => claim.expr.text.trim().to_owned(),
        };
        Some(Verdict {
            outcome,
            subject: "check".to_owned(),
            step: step.number,
            line: claim.expr.at.line,
            expected,
            seen,
            evidence: Some("values.json".to_owned()),
            nearest: None,
            tree: None,
            next: None,
        })
    }

    /// A claim over a measure that was not run is not run; over a metric that the server did not report it fails; over an
    /// end that too few turns leave unknown it is inconclusive.
    fn undecided(&self, claim: &Claim, error: &TemplateError) -> (Outcome, String) {
        if let Some((end, _)) = self.ends_used(claim).find(|(end, number)| number.end(end).is_none()) {
            return (Outcome::Inconclusive, format!("{end} has no value: {}", too_few_turns()));
        }
        // An arm may have been captured before another one ended the step.
        let ended =
            |step| step_outcome(self.recording, step).is_some_and(|outcome| outcome != StepOutcome::Done);
        let absent = self
            .arms_used(claim)
            .into_iter()
            .find(|key| self.analysis.arm(key).is_none_or(|arm| !arm.measured || ended(arm.step)));
        let names = template::check_expression(&claim.expr.text, &self.context().names()).names;
        let cut = self.analysis.sweeps.iter().find(|sweep| !sweep.complete && names.contains(&sweep.id));
        match absent {
            None if cut.is_some() => {
                let step = cut.and_then(|sweep| step_outcome(self.recording, sweep.step));
                let id = cut.map_or("", |sweep| sweep.id.as_str());
                (Outcome::NotRun, format!("{id} did not come to its end: {}", not_run(step)))
            }
            None if error.undefined => {
                let name = claim.expr.text.get(error.offset..error.offset + error.length);
                let name = name.unwrap_or("a name in it");
                (Outcome::NotRun, format!("{name} has no value: what gives it one failed or was not run"))
            }
            Some(key) => {
                let step = self.analysis.arm(&key).map(|arm| step_outcome(self.recording, arm.step));
                (Outcome::NotRun, format!("{key} was not measured: {}", not_run(step.flatten())))
            }
            None => {
                let why = self.uncrossed(claim).or_else(|| self.unreported(claim));
                (Outcome::Fail, why.unwrap_or_else(|| error.to_string()))
            }
        }
    }

    /// Why a metric of a plan has no value.
    fn unreported(&self, claim: &Claim) -> Option<String> {
        let has = |key: &ArmKey, metric: &Metric| {
            self.analysis.arm(key).is_some_and(|arm| arm.metrics.contains_key(metric))
        };
        let (key, metric) = self.metrics_used(claim).into_iter().find(|(key, metric)| !has(key, metric))?;
        let why = metric.absence(self.recording.manifest.server.major())?;
        Some(format!("{}.{metric} has no value: {why}", key.path()))
    }

    /// Why an end of a crossing has no value.
    fn uncrossed(&self, claim: &Claim) -> Option<String> {
        let sweeps = self.analysis.sweeps.iter();
        let named = sweeps
            .flat_map(|sweep| sweep.crossings.iter().map(|of| (format!("{}.{}", sweep.id, of.name()), of)));
        let mut uncrossed =
            named.filter(|(path, of)| of.zones.is_empty() && claim.expr.text.contains(&format!("{path}.")));
        uncrossed.next().map(|(path, _)| format!("{path} has no ends: no crossing was found"))
    }

    fn evaluate(&self, claim: &Claim) -> Result<Found, TemplateError> {
        let expression = &claim.expr.text;
        let value = template::evaluate(expression, &self.context())?;
        match (value, &claim.name) {
            (Scalar::Boolean(held), None) => self.claim(claim, held),
            (Scalar::Integer(value), Some(_)) => self.number(claim, value as f64),
            (Scalar::Float(value), Some(_)) => self.number(claim, value),
            (other, name) => {
                let wanted = if name.is_some() { "a number" } else { "true or false" };
                Err(TemplateError::whole(expression, format!("the result is {other}, not {wanted}")))
            }
        }
    }

    fn claim(&self, claim: &Claim, held: bool) -> Result<Found, TemplateError> {
        let timed = self.timed(claim);
        if timed.is_empty() {
            let outcome = if held { Outcome::Pass } else { Outcome::Fail };
            return Ok(Found::Claim(outcome, self.seen(claim)));
        }
        if !resample::enough(self.recording, &timed) {
            let seen = format!("{}; {}", self.seen(claim), too_few_turns());
            return Ok(Found::Claim(Outcome::Inconclusive, seen));
        }
        let held = self.resample(claim, &timed, |value| matches!(value, Scalar::Boolean(true)))?;
        let surely: Vec<bool> = held.iter().map(|drifts| drifts.iter().all(|held| *held)).collect();
        let perhaps: Vec<bool> = held.iter().map(|drifts| drifts.iter().any(|held| *held)).collect();
        let outcome = match (stats::decide(&surely), stats::decide(&perhaps)) {
            (Decision::Pass, _) => Outcome::Pass,
            (_, Decision::Fail) => Outcome::Fail,
            _ => Outcome::Inconclusive,
        };
        Ok(Found::Claim(outcome, format!("{}; {}", self.seen(claim), self.share(&surely, timed.len()))))
    }

    fn number(&self, claim: &Claim, value: f64) -> Result<Found, TemplateError> {
        let timed = self.timed(claim);
        let unit = template::check_expression(&claim.expr.text, &self.context().names()).kind.unit();
        let arms = self.arms_used(claim);
        if timed.is_empty() || !resample::enough(self.recording, &timed) {
            let timed = !timed.is_empty();
            return Ok(Found::Number(NamedNumber { value, interval: None, unit, timed, arms }));
        }
        let values = self.resample(claim, &timed, |value| value.number().unwrap_or(f64::NAN))?;
        let ends = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
            values.iter().filter_map(|drifts| drifts.iter().copied().reduce(pick)).collect()
        };
        let interval = match (stats::interval(ends(f64::min)), stats::interval(ends(f64::max))) {
            (Some(low), Some(high)) => Some(Interval { lo: low.lo, hi: high.hi }),
            _ => None,
        };
        Ok(Found::Number(NamedNumber { value, interval, unit, timed: true, arms }))
    }

    /// How often a claim held, and over what.
    fn share(&self, held: &[bool], measures: usize) -> String {
        let count = held.iter().filter(|held| **held).count();
        let share = number::percent(count as f64 / held.len().max(1) as f64);
        if measures < 2 {
            return format!("holds in {share} of the resamples");
        }
        let drift = number::significant(resample::drift(self.recording));
        format!("holds in {share} of the resamples under a drift of {drift}×")
    }

    /// The arms whose timings the claim uses, by measure.
    fn timed(&self, claim: &Claim) -> Timed {
        let mut timed = Timed::new();
        for (key, metric) in self.metrics_used(claim) {
            if metric.nature() == Nature::Timing {
                timed.entry((key.measure.clone(), key.point.clone())).or_default().insert(key);
            }
        }
        timed
    }

    fn arms_used(&self, claim: &Claim) -> BTreeSet<ArmKey> {
        self.metrics_used(claim).into_iter().map(|(key, _)| key).collect()
    }

    /// The metrics that the claim uses, also those behind the named numbers in it.
    fn metrics_used(&self, claim: &Claim) -> Vec<(ArmKey, Metric)> {
        let names = self.context().names();
        let behind = self.named_used(&claim.expr.text).into_iter().map(|(_, expression)| expression);
        behind
            .chain([claim.expr.text.as_str()])
            .flat_map(|expression| template::check_expression(expression, &names).metrics)
            .map(|used| (key_of(&used), used.metric))
            .collect()
    }

    /// The named numbers that an expression uses, and those that they use in turn, in the order of the notebook.
    fn named_used(&self, expression: &str) -> Vec<(&str, &str)> {
        let mentions = |text: &str, name: &str| {
            text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
                .any(|word| word == name)
        };
        let mut used: Vec<(&str, &str)> = Vec::new();
        // Later ones may use earlier ones, never the other way round.
        for (name, named) in self.expressions.iter().rev() {
            if mentions(expression, name) || used.iter().any(|(_, text)| mentions(text, name)) {
                used.push((name, named));
            }
        }
        used.reverse();
        used
    }

    /// Evaluates the claim's expression over resamples of the turns of the arms that it uses.
    fn resample<T>(
        &self,
        claim: &Claim,
        timed: &Timed,
        read: impl Fn(Scalar) -> T,
    ) -> Result<Vec<Vec<T>>, TemplateError> {
        let all = self.context();
        let expression = Expression::new(&claim.expr.text, &all)?;
        let named: Vec<(&str, Expression)> = self
            .named_used(&claim.expr.text)
            .into_iter()
            .map(|(name, text)| Ok((name, Expression::new(text, &all)?)))
            .collect::<Result<_, TemplateError>>()?;
        // Only what the claim uses is bound again for each resample.
        let mut used: BTreeMap<ArmKey, BTreeMap<Metric, f64>> = BTreeMap::new();
        for (key, metric) in self.metrics_used(claim) {
            if let Some(value) = self.analysis.arm(&key).and_then(|arm| arm.metrics.get(&metric)) {
                used.entry(key).or_default().insert(metric, *value);
            }
        }
        let plain = self.plain_context();
        resample::resample(self.recording, timed, |drawn| {
            let mut context = plain.clone();
            for (key, metrics) in &used {
                let mut metrics = metrics.clone();
                if let Some(timings) = drawn.get(key) {
                    metrics
                        .iter_mut()
                        .for_each(|(metric, value)| *value = *timings.get(metric).unwrap_or(value));
                }
                analysis::bind(&mut context, key, &metrics);
            }
            for (name, expression) in &named {
                let value = expression.evaluate(&context)?.number().unwrap_or(f64::NAN);
                let known = self.named.get(*name);
                let (ends, unit) = (known.and_then(NamedNumber::ends), known.and_then(|known| known.unit));
                context.set_interval(name, value, ends, unit);
            }
            expression.evaluate(&context).map(&read)
        })
    }

    /// Parameters, lets, sweeps and the numbers named so far.
    fn plain_context(&self) -> Context {
        let mut context = Context::new();
        for (name, value) in &self.analysis.values {
            context.set(name, value.clone());
        }
        self.analysis.bind_sweeps(&mut context);
        self.bind_named(&mut context);
        context
    }

    /// Everything that a claim can name.
    fn context(&self) -> Context {
        let mut context = self.analysis.context();
        self.bind_named(&mut context);
        context
    }

    fn bind_named(&self, context: &mut Context) {
        self.named.iter().for_each(|(name, number)| number.bind(name, context));
    }

    /// The ends of intervals that a claim names, `speedup.lo`, each with its number.
    fn ends_used<'c>(&'c self, claim: &'c Claim) -> impl Iterator<Item = (&'c str, &'c NamedNumber)> {
        words(&claim.expr.text).filter_map(|word| {
            let (name, end) = word.split_once('.')?;
            matches!(end, "lo" | "hi").then(|| self.named.get(name)).flatten().map(|number| (word, number))
        })
    }

    /// The numbers that the claim looks at, each with its name.
    fn seen(&self, claim: &Claim) -> String {
        let mut parts = Vec::new();
        for (key, metric) in self.metrics_used(claim) {
            let value = self.analysis.arm(&key).and_then(|arm| arm.metrics.get(&metric));
            let value = value.map_or_else(|| number::NOT_MEASURED.to_owned(), |v| number::metric(metric, *v));
            let part = format!("{}.{metric} = {value}", key.path());
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        for (name, _) in self.named_used(&claim.expr.text) {
            if let Some(number) = self.named.get(name) {
                parts.insert(0, format!("{name} = {}", number.shown()));
            }
        }
        for (end, number) in self.ends_used(claim) {
            let value = number.end(end).map(|value| number.as_shown(value));
            let value = value.unwrap_or_else(|| number::NOT_MEASURED.to_owned());
            parts.push(format!("{end} = {value}"));
        }
        let words = words(&claim.expr.text);
        let found: BTreeMap<String, Scalar> =
            self.analysis.sweeps.iter().flat_map(|sweep| sweep.findings()).collect();
        for word in words {
            parts.extend(found.get(word).map(|value| match value {
                Scalar::Float(value) => format!("{word} = {}", number::count(*value)),
                other => format!("{word} = {other}"),
            }));
        }
        for name in template::check_expression(&claim.expr.text, &self.context().names()).names {
            parts.extend(self.analysis.values.get(&name).map(|value| format!("{name} = {value}")));
        }
        // A claim over all points of a sweep looks at many numbers.
        const MOST_SEEN: usize = 8;
        if parts.len() > MOST_SEEN {
            parts.truncate(MOST_SEEN);
            parts.push("…".to_owned());
        }
        if parts.is_empty() { "nothing measured is named in it".to_owned() } else { parts.join(", ") }
    }
}

enum Found {
    Claim(Outcome, String),
    Number(NamedNumber),
}

/// The arm that a metric was read from.
fn key_of(used: &MetricUse) -> ArmKey {
    let key = ArmKey::new(&used.measure, used.arm.as_deref());
    ArmKey { point: used.point.as_deref().and_then(Point::parse), ..key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_number_is_shown_in_its_unit() {
        let of = |unit| NamedNumber {
            value: 1234.5,
            interval: Some(Interval { lo: 0.5, hi: 2048.0 }),
            unit,
            timed: true,
            arms: BTreeSet::new(),
        };
        let shown = |unit| (of(unit).shown(), of(unit).shown_interval().unwrap_or_default().join(" to "));
        assert_eq!(shown(Some(Unit::Milliseconds)), ("1.23 s".into(), "0.500 ms to 2.05 s".into()));
        assert_eq!(shown(Some(Unit::Bytes)), ("1.21 kB".into(), "0.500 bytes to 2.00 kB".into()));
        assert_eq!(shown(None), ("1,235".into(), "0.500 to 2,048".into()));
    }
}
