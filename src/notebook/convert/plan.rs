//! The `plan` step: whose plans it shows.

use super::super::model::{PlanStep, Subject};
use super::super::wire::{self, Text};
use super::Convert;
use super::names::Sort;
use super::steps::Decoded;

impl Convert<'_> {
    pub(super) fn plan(&self, wire: &wire::PlanStep, decoded: &Decoded) -> Option<PlanStep> {
        let texts = &wire.of.items;
        let of: Vec<Subject> = texts.iter().filter_map(|text| self.planned(*text)).collect();
        if !(1..=2).contains(&texts.len()) {
            let message = format!("`plan` shows one plan, or two side by side, and not {}", texts.len());
            let help = "write `of: before`, or `of: [before, after]`";
            self.reader.fault(decoded.at, message, help);
            return None;
        }
        if let [old, new] = of.as_slice()
            && old == new
        {
            let place = self.reader.tree.place(texts[1].0);
            self.reader.fault(
                place,
                format!("`{new}` is named twice"),
                "name another plan, or this one alone",
            );
        }
        (of.len() == texts.len())
            .then(|| PlanStep { title: wire.title.and_then(|title| self.text(title)), of })
    }

    /// A measure without arms, or one of its arms: what has one plan.
    fn planned(&self, text: Text) -> Option<Subject> {
        let subject = self.subject(text)?;
        let place = self.reader.tree.place(text.0);
        if self.world.sort(&subject.measure) != Some(Sort::Measure) {
            let message = format!("`{}` is no measure, and no plan of it is captured", subject.measure);
            self.reader.fault(place, message, "name a measure or one of its arms");
            return None;
        }
        let arms = self.world.arms(&subject.measure);
        if subject.arm.is_none() && !arms.is_empty() {
            let message = format!("`{}` has {} arms, and each has its own plan", subject.measure, arms.len());
            let named = arms.iter().map(|arm| format!("`{}.{arm}`", subject.measure));
            let help = format!("name one of {}", named.collect::<Vec<_>>().join(", "));
            self.reader.fault(place, message, help);
            return None;
        }
        Some(subject)
    }
}
