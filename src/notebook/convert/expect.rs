//! Expectations and the conditions they depend on.

use crate::metric::{Metric, Nature};
use crate::nearest::nearest;
use crate::plan::{Comparison, Pattern};
use crate::template::Scalar;

use super::super::model::{Condition, Expectation, Expected};
use super::super::node::NodeId;
use super::super::wire::{Any, Entries, Expect, Name, OneOrMany, PATTERN_KEYS, Text};
use super::Convert;
use super::params::coerce;

impl Convert<'_> {
    /// The expectations of one `expect`, in the order of the file.
    pub(super) fn expectations(&self, expect: &Expect) -> Vec<Expectation> {
        let mut expectations = Vec::new();
        for (name, value) in &expect.0 {
            if self.reader.tree.text(name.0) != "when" {
                expectations.extend(self.expectation(*name, *value));
                continue;
            }
            let cases: Option<OneOrMany<Any>> = self.reader.decode(value.0);
            for case in cases.map(|cases| cases.items).unwrap_or_default() {
                if let Some(entries) = self.reader.decode::<Entries<Any>>(case.0) {
                    expectations.extend(self.case(case.0, &entries));
                }
            }
        }
        expectations
    }

    /// One key of `expect`: each pattern of `plan` and `never` becomes an expectation of its own.
    fn expectation(&self, name: Name, value: Any) -> Vec<Expectation> {
        let tree = self.reader.tree;
        let key = tree.text(name.0);
        let make = |what, written: String, at: NodeId| Expectation {
            what,
            when: Vec::new(),
            written: format!("{key}: {written}"),
            at: tree.place(at),
        };
        if !PATTERN_KEYS.contains(&key) {
            let metric = self.metric(name);
            let Some(text) = self.reader.decode::<Text>(value.0) else { return Vec::new() };
            let comparison = self.comparison(text);
            let both = metric.zip(comparison);
            return both
                .map(|(metric, comparison)| {
                    make(Expected::Metric(metric, comparison), comparison.to_string(), value.0)
                })
                .into_iter()
                .collect();
        }
        let Some(items) = self.reader.decode::<OneOrMany<Text>>(value.0) else { return Vec::new() };
        if items.items.is_empty() {
            self.reader.fault(
                tree.place(name.0),
                format!("`{key}` has no pattern"),
                "name at least one, or leave the key out",
            );
        }
        let patterns: Vec<(NodeId, Pattern)> =
            items.items.iter().filter_map(|item| Some((item.0, self.pattern(*item)?))).collect();
        if key == "any" {
            let written =
                patterns.iter().map(|(_, pattern)| pattern.to_string()).collect::<Vec<_>>().join(", ");
            let all = patterns.into_iter().map(|(_, pattern)| pattern).collect();
            return vec![make(Expected::Any(all), format!("[{written}]"), name.0)];
        }
        let expected = |(at, pattern): (NodeId, Pattern)| {
            let written = pattern.to_string();
            let what = if key == "plan" { Expected::Plan(pattern) } else { Expected::Never(pattern) };
            make(what, written, at)
        };
        patterns.into_iter().map(expected).collect()
    }

    fn pattern(&self, text: Text) -> Option<Pattern> {
        let rendered = self.text(text)?;
        match rendered.parse() {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let error: crate::plan::PatternError = error;
                let help = "write it as EXPLAIN prints the node: NODE [using INDEX] [on NAME [ALIAS]]";
                self.reader.fault(self.reader.tree.place(text.0), error.to_string(), help);
                None
            }
        }
    }

    fn comparison(&self, text: Text) -> Option<Comparison> {
        let rendered = self.rendered(text.0)?;
        match rendered.parse() {
            Ok(comparison) => Some(comparison),
            Err(error) => {
                let error: crate::plan::ComparisonError = error;
                let said = error.to_string();
                let (message, help) = said.split_once(": ").unwrap_or((&said, "write a number, or \"< 10\""));
                self.reader.fault(self.reader.tree.place(text.0), message, help);
                None
            }
        }
    }

    /// The metric of a key. Times are refused: an expectation holds or fails by what the plan did.
    fn metric(&self, name: Name) -> Option<Metric> {
        let text = self.reader.tree.text(name.0);
        let metric = Metric::from_name(text)?;
        if metric.nature() == Nature::Counter {
            return Some(metric);
        }
        if metric.nature() == Nature::Size {
            let message = format!("`{text}` is the size of a relation, and a plan has none");
            let help = "take it in a `storage` step, and compare it in `check`";
            self.reader.fault(self.reader.tree.place(name.0), message, help);
            return None;
        }
        let message = format!("`{text}` is a time, and a time belongs in `check`");
        let help = match metric.nature() {
            Nature::Timing => {
                format!("write a step `- check: [<measure>.{text} < 10]`, which reckons with noise")
            }
            _ => "it is a single sample: compare `median` in a `check` step".to_owned(),
        };
        self.reader.fault(self.reader.tree.place(name.0), message, help);
        None
    }

    /// One entry of `when`.
    fn case(&self, node: NodeId, entries: &Entries<Any>) -> Vec<Expectation> {
        let tree = self.reader.tree;
        let (mut conditions, mut expectations, mut faulty) = (Vec::new(), Vec::new(), false);
        for (name, value) in &entries.0 {
            let key = tree.text(name.0);
            if PATTERN_KEYS.contains(&key) || Metric::from_name(key).is_some() {
                let found = self.expectation(*name, *value);
                faulty |= found.is_empty();
                expectations.extend(found);
            } else {
                let condition = self.condition(*name, *value);
                faulty |= condition.is_none();
                conditions.extend(condition);
            }
        }
        let place = entries.0.first().map_or_else(|| tree.head(node), |(name, _)| tree.place(name.0));
        if conditions.is_empty() && !faulty {
            let bears = entries
                .0
                .iter()
                .map(|(name, _)| tree.text(name.0))
                .find(|key| self.params.scalar(key).is_some());
            let help = match bears {
                Some(name) => format!(
                    "`{name}` is an expectation here; a parameter used in `when` needs a name of its own"
                ),
                None => "add `version`, `profile` or a parameter, or move it out of `when`".to_owned(),
            };
            self.reader.fault(place, "this entry of `when` has no condition", help);
        }
        if expectations.is_empty() && !faulty {
            self.reader.fault(
                place,
                "this entry of `when` expects nothing",
                "add `plan`, `any`, `never` or a metric",
            );
        }
        for expectation in &mut expectations {
            expectation.when.clone_from(&conditions);
        }
        expectations
    }

    fn condition(&self, name: Name, value: Any) -> Option<Condition> {
        let tree = self.reader.tree;
        let key = tree.text(name.0);
        if key == "version" {
            return self.comparison(self.reader.decode(value.0)?).map(Condition::Version);
        }
        if key == "profile" {
            let text: Text = self.reader.decode(value.0)?;
            let profile = self.rendered(text.0)?;
            if profile == "default" || self.profiles.contains(&profile) {
                return Some(Condition::Profile(profile));
            }
            let known: Vec<&str> =
                ["default"].into_iter().chain(self.profiles.iter().map(String::as_str)).collect();
            let help = match nearest(&profile, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the profiles are {}", known.join(", ")),
            };
            self.reader.fault(tree.place(text.0), format!("there is no profile `{profile}`"), help);
            return None;
        }
        let Some(parameter) = self.params.scalar(key) else {
            self.unknown_condition(name);
            return None;
        };
        let text: Text = self.reader.decode(value.0)?;
        if let Scalar::Integer(_) | Scalar::Float(_) = parameter {
            return self.comparison(text).map(|comparison| Condition::Parameter(key.to_owned(), comparison));
        }
        let rendered = self.rendered(text.0)?;
        let value = coerce(parameter, &rendered);
        if value.is_none() {
            let message = format!("`{key}` is {}, not `{rendered}`", super::params::noun(parameter));
            self.reader.fault(tree.place(text.0), message, format!("write it like {parameter}"));
        }
        value.map(|value| Condition::Value(key.to_owned(), value))
    }

    fn unknown_condition(&self, name: Name) {
        let key = self.reader.tree.text(name.0);
        let params = self.world.all(super::names::Sort::Parameter);
        let metrics = Metric::ALL.iter().map(|metric| metric.name());
        let known: Vec<&str> =
            params.chain(["version", "profile"]).chain(PATTERN_KEYS).chain(metrics).collect();
        let help = match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "a condition is `version`, `profile` or a parameter".to_owned(),
        };
        self.reader.fault(self.reader.tree.place(name.0), format!("unknown key `{key}` in `when`"), help);
    }
}
