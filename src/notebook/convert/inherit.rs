//! `like`: a measure or a sweep takes over what another one says.

use std::collections::BTreeMap;

use crate::nearest::nearest;

use super::super::de::Reader;
use super::super::wire::{
    Arm, Entries, Expect, Explain, Measure, Name, OneOrMany, SetupStep, Sql, Step, Sweep, Text, Value, Whole,
};
use super::decoded::Decoded;

/// What measures and sweeps have in common.
#[derive(Clone, Copy)]
pub(super) struct Base<'w> {
    pub(super) id: Name,
    pub(super) label: Option<Text>,
    pub(super) query: Option<Sql>,
    pub(super) like: Option<Name>,
    pub(super) arms: Option<&'w Entries<Arm>>,
    pub(super) settings: Option<&'w Entries<Value>>,
    pub(super) setup: Option<&'w OneOrMany<SetupStep>>,
    pub(super) fresh: Option<Text>,
    pub(super) reps: Option<Whole>,
    pub(super) turns: Option<Whole>,
    pub(super) min_reps: Option<Whole>,
    pub(super) budget: Option<Text>,
    pub(super) explain: Option<&'w Explain>,
    pub(super) expect: Option<&'w Expect>,
}

macro_rules! base {
    ($wire:expr) => {
        Base {
            id: $wire.id,
            label: $wire.label,
            query: $wire.query,
            like: $wire.like,
            arms: $wire.arms.as_ref(),
            settings: $wire.settings.as_ref(),
            setup: $wire.setup.as_ref(),
            fresh: $wire.fresh,
            reps: $wire.reps,
            turns: $wire.turns,
            min_reps: $wire.min_reps,
            budget: $wire.budget,
            explain: $wire.explain.as_ref(),
            expect: $wire.expect.as_ref(),
        }
    };
}

impl<'w> Base<'w> {
    pub(super) fn of_measure(measure: &'w Measure) -> Self {
        base!(measure)
    }

    pub(super) fn of_sweep(sweep: &'w Sweep) -> Self {
        base!(sweep)
    }
}

/// The measures and sweeps by their ids; of two with one id, the first.
pub(super) struct Family<'w> {
    measures: BTreeMap<&'w str, Base<'w>>,
}

impl<'w> Family<'w> {
    pub(super) fn new(reader: &'w Reader<'_>, steps: &'w [Decoded]) -> Self {
        let mut measures = BTreeMap::new();
        for decoded in steps {
            let base = match &decoded.step {
                Some(Step::Measure(measure)) => Base::of_measure(measure),
                Some(Step::Sweep(sweep)) => Base::of_sweep(sweep),
                _ => continue,
            };
            measures.entry(reader.tree.text(base.id.0)).or_insert(base);
        }
        Self { measures }
    }

    /// The measures that one is made of, the oldest first, itself last. Where `like` is wrong the line ends.
    pub(super) fn line(&self, reader: &Reader<'_>, measure: Base<'w>) -> Vec<Base<'w>> {
        let mut line = vec![measure];
        let mut next = measure.like;
        while let Some(like) = next {
            let Some(base) = self.measures.get(reader.tree.text(like.0)).copied() else { break };
            if line.iter().any(|known| known.id == base.id) {
                break;
            }
            line.push(base);
            next = base.like;
        }
        line.reverse();
        line
    }

    /// The arms of a measure, its own or those it took over.
    pub(super) fn arms(&self, reader: &Reader<'_>, measure: Base<'w>) -> Option<&'w Entries<Arm>> {
        self.line(reader, measure).into_iter().rev().find_map(|measure| measure.arms)
    }

    /// Notes a `like` that names no measure, or that leads back to where it began.
    pub(super) fn check(&self, reader: &Reader<'_>, measure: Base<'_>, known: &[&str]) {
        let Some(like) = measure.like else { return };
        let (text, place) = (reader.tree.text(like.0), reader.tree.place(like.0));
        if !self.measures.contains_key(text) {
            if known.contains(&text) {
                return;
            }
            let own = reader.tree.text(measure.id.0);
            let names: Vec<&str> = self.measures.keys().copied().filter(|name| *name != own).collect();
            let help = nearest(text, names.iter().copied()).map_or_else(
                || format!("the other measures are {}", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let help =
                if names.is_empty() { "it is the only measure: give it a `query`".to_owned() } else { help };
            reader.fault(place, format!("there is no measure `{text}`"), help);
            return;
        }
        let mut path = vec![reader.tree.text(measure.id.0)];
        let mut next = Some(like);
        while let Some(like) = next {
            let name = reader.tree.text(like.0);
            if let Some(start) = path.iter().position(|known| *known == name) {
                if start == 0 {
                    path.push(name);
                    let message = format!("`like` goes in a circle: {}", path.join(" → "));
                    reader.fault(
                        place,
                        message,
                        "give one of them a query of its own, and leave out its `like`",
                    );
                }
                return;
            }
            path.push(name);
            next = self.measures.get(name).and_then(|base| base.like);
        }
    }
}
