//! Measures and their arms, with `like` resolved.

use std::time::Duration;

use super::super::model::{Arm, Expectation, ExplainKeys, Measure, Settings, SetupStep, Template};
use super::super::node::NodeId;
use super::super::wire::{Sql, Whole};
use super::Convert;
use super::decoded::Decoded;
use super::identifier::identifier;
use super::inherit::{Base, Family};
use super::names::{Scope, Sort};

/// Timed executions per arm.
const REPS: usize = 20;
/// Turns that they are spread over.
const TURNS: usize = 10;
/// The budget never cuts below this.
const MIN_REPS: usize = 5;
/// Time for the timed executions of an arm.
const BUDGET: Duration = Duration::from_secs(10);

impl Convert<'_> {
    pub(super) fn measure(&self, wire: &Base<'_>, decoded: &Decoded, family: &Family<'_>) -> Option<Measure> {
        let reader = self.reader;
        let broken: Vec<&str> = self.world.all(Sort::Broken).collect();
        family.check(reader, *wire, &broken);
        let line = family.line(reader, *wire);
        let scope = Scope::Run(decoded.at.offset);
        let mut settings = self.settings.clone();
        for settings_of in line.iter().filter_map(|measure| measure.settings) {
            settings.extend(self.settings(settings_of, scope));
        }
        let shared = Shared {
            query: line.iter().rev().find_map(|measure| measure.query),
            settings,
            expect: wire.expect.map(|expect| self.expectations(expect)).unwrap_or_default(),
            setup: self.setup(wire.setup, wire.id.0, scope),
            fresh: self.fresh(wire.fresh) || wire.setup.is_some(),
            scope,
        };
        let arms = self.arms(wire, family, &shared);
        let last = |pick: fn(&Base<'_>) -> Option<Whole>| line.iter().rev().find_map(|measure| pick(measure));
        let whole = |number: Option<Whole>, what, default| {
            number.map_or(Some(default), |number| self.whole(number, what, 1))
        };
        let reps = whole(last(|measure| measure.reps), "`reps`", REPS);
        let turns_given = last(|measure| measure.turns);
        let turns = whole(turns_given, "`turns`", TURNS.min(reps.unwrap_or(TURNS)));
        let min_reps = whole(last(|measure| measure.min_reps), "`min_reps`", MIN_REPS);
        let budget = line.iter().rev().find_map(|measure| measure.budget);
        let budget = budget.map_or(Some(BUDGET), |budget| self.duration(budget));
        let explain = line.iter().rev().find_map(|measure| measure.explain);
        let explain = ExplainKeys {
            timing: self.switch(explain.and_then(|explain| explain.timing), true),
            verbose: self.switch(explain.and_then(|explain| explain.verbose), false),
            wal: self.switch(explain.and_then(|explain| explain.wal), true),
        };
        let (reps, turns) = (reps?, turns?);
        if let Some(given) = turns_given.filter(|_| turns > reps) {
            let message = format!("{turns} turns cannot share {reps} repetitions");
            reader.fault(reader.tree.place(given.0), message, "write at most as many turns as reps");
        }
        Some(Measure {
            id: reader.tree.text(wire.id.0).to_owned(),
            label: wire.label.and_then(|label| self.text(label)),
            at: decoded.at,
            arms,
            reps,
            turns,
            min_reps: min_reps?.min(reps),
            budget: budget?,
            explain,
        })
    }

    fn arms(&self, wire: &Base<'_>, family: &Family<'_>, shared: &Shared) -> Vec<Arm> {
        let reader = self.reader;
        let Some(arms) = family.arms(reader, *wire) else {
            let query = self.arm_query(shared.query, shared, wire.id.0, wire.like.is_some());
            let arm = query.map(|query| Arm {
                id: None,
                label: None,
                query,
                settings: shared.settings.clone(),
                within: None,
                setup: shared.setup.clone(),
                fresh: shared.fresh,
                expect: shared.expect.clone(),
            });
            return arm.into_iter().collect();
        };
        if arms.0.is_empty() {
            reader.fault(
                reader.tree.place(wire.id.0),
                "`arms` is empty",
                "name at least one arm, or leave `arms` out",
            );
        }
        let mut converted = Vec::new();
        for (name, arm) in &arms.0 {
            let Some(id) = identifier(reader, *name, "an arm") else { continue };
            let mut settings = shared.settings.clone();
            if let Some(own) = &arm.settings {
                settings.extend(self.settings(own, shared.scope));
            }
            let mut expect = shared.expect.clone();
            // Expectations are never taken over by `like`.
            if let Some(own) = arm.expect.as_ref().filter(|_| wire.arms.is_some()) {
                expect.extend(self.expectations(own));
            }
            let Some(query) = self.arm_query(arm.query.or(shared.query), shared, name.0, wire.like.is_some())
            else {
                continue;
            };
            let mut setup = shared.setup.clone();
            setup.extend(self.setup(arm.setup.as_ref(), name.0, shared.scope));
            converted.push(Arm {
                id: Some(id),
                label: arm.label.and_then(|label| self.text(label)),
                query,
                settings,
                within: arm.within.and_then(|within| self.within(within, shared.scope)),
                fresh: shared.fresh || arm.setup.is_some(),
                setup,
                expect,
            });
        }
        converted
    }

    fn arm_query(&self, query: Option<Sql>, shared: &Shared, named: NodeId, like: bool) -> Option<Template> {
        let Some(query) = query else {
            // A `like` that leads nowhere was noted already, and so was a query that could not be read.
            if !like && !self.has_query_key(named) {
                let message = format!("`{}` has no query", self.reader.tree.text(named));
                self.reader.fault(
                    self.reader.tree.place(named),
                    message,
                    "add `query: SELECT …`, or `like: …`",
                );
            }
            return None;
        };
        self.query(query, shared.scope)
    }

    /// Whether the measure of that id has a query that was set aside as faulty.
    fn has_query_key(&self, id: NodeId) -> bool {
        use super::super::node::Content;
        let tree = self.reader.tree;
        (0..=tree.root).any(|node| {
            let Content::Map(entries) = &tree.node(node).content else { return false };
            let own = entries.iter().any(|(key, value)| *key == id || *value == id);
            own && entries.iter().any(|(key, value)| {
                let name = tree.text(*key);
                (name == "query" && self.reader.is_set_aside(*value))
                    || (name != "query" && crate::nearest::nearest(name, ["query"]).is_some())
            })
        })
    }
}

/// What the arms of a measure have in common.
struct Shared {
    query: Option<Sql>,
    settings: Settings,
    expect: Vec<Expectation>,
    setup: Vec<SetupStep>,
    fresh: bool,
    scope: Scope,
}
