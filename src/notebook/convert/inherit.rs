//! `like`: a measure takes over what another one says.

use std::collections::BTreeMap;

use crate::nearest::nearest;

use super::super::de::Reader;
use super::super::wire::{Arm, Entries, Measure, Step};
use super::steps::Decoded;

/// The measures by their ids; of two with one id, the first.
pub(super) struct Family<'w> {
    measures: BTreeMap<&'w str, &'w Measure>,
}

impl<'w> Family<'w> {
    pub(super) fn new(reader: &'w Reader<'_>, steps: &'w [Decoded]) -> Self {
        let mut measures = BTreeMap::new();
        for decoded in steps {
            if let Some(Step::Measure(measure)) = &decoded.step {
                measures.entry(reader.tree.text(measure.id.0)).or_insert(&**measure);
            }
        }
        Self { measures }
    }

    /// The measures that one is made of, the oldest first, itself last. Where `like` is wrong the line ends.
    pub(super) fn line(&self, reader: &Reader<'_>, measure: &'w Measure) -> Vec<&'w Measure> {
        let mut line = vec![measure];
        let mut next = measure.like;
        while let Some(like) = next {
            let Some(base) = self.measures.get(reader.tree.text(like.0)).copied() else { break };
            if line.iter().any(|known| std::ptr::eq(*known, base)) {
                break;
            }
            line.push(base);
            next = base.like;
        }
        line.reverse();
        line
    }

    /// The arms of a measure, its own or those it took over.
    pub(super) fn arms(&self, reader: &Reader<'_>, measure: &'w Measure) -> Option<&'w Entries<Arm>> {
        self.line(reader, measure).into_iter().rev().find_map(|measure| measure.arms.as_ref())
    }

    /// Notes a `like` that names no measure, or that leads back to where it began.
    pub(super) fn check(&self, reader: &Reader<'_>, measure: &Measure, known: &[&str]) {
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
