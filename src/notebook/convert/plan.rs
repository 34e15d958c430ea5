//! The `plan` step: whose plans it shows.

use crate::template::{Kind, check_expression};

use super::super::model::{PlanStep, Planned, Subject};
use super::super::point::Point;
use super::super::wire::{self, Text};
use super::Convert;
use super::decoded::Decoded;
use super::names::{Scope, Sort};

impl Convert<'_> {
    pub(super) fn plan(&self, wire: &wire::PlanStep, decoded: &Decoded) -> Option<PlanStep> {
        let texts = &wire.of.items;
        let of: Vec<Planned> = texts.iter().filter_map(|text| self.planned(*text)).collect();
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
            let message = format!("`{}` is named twice", self.reader.tree.text(texts[1].0));
            self.reader.fault(place, message, "name another plan, or this one alone");
        }
        (of.len() == texts.len())
            .then(|| PlanStep { title: wire.title.and_then(|title| self.text(title)), of })
    }

    /// A measure without arms, one of its arms, or a point of a sweep: what has one plan.
    fn planned(&self, text: Text) -> Option<Planned> {
        if self.rendered(text.0)?.contains(".at(") {
            return self.planned_point(text);
        }
        let subject = self.subject(text)?;
        let place = self.reader.tree.place(text.0);
        match self.world.sort(&subject.measure) {
            Some(Sort::Measure) => {}
            Some(Sort::Sweep) => {
                let message = format!("`{subject}` is of a sweep, and has a plan at every point");
                let arm = self.world.arms(&subject.measure).first().map(|arm| format!(".{arm}"));
                let arm = subject.arm.as_ref().map(|arm| format!(".{arm}")).or(arm).unwrap_or_default();
                let help = format!("name a point: `{}{arm}.at(…)`", subject.measure);
                self.reader.fault(place, message, help);
                return None;
            }
            _ => {
                let message = format!("`{}` is no measure, and no plan of it is captured", subject.measure);
                self.reader.fault(place, message, "name a measure or one of its arms");
                return None;
            }
        }
        let arms = self.world.arms(&subject.measure);
        if subject.arm.is_none() && !arms.is_empty() {
            let message = format!("`{}` has {} arms, and each has its own plan", subject.measure, arms.len());
            let named = arms.iter().map(|arm| format!("`{}.{arm}`", subject.measure));
            let help = format!("name one of {}", named.collect::<Vec<_>>().join(", "));
            self.reader.fault(place, message, help);
            return None;
        }
        Some(Planned { subject, point: None })
    }

    /// `sweep.arm.at(n=10)`, as claims and texts name a point.
    fn planned_point(&self, text: Text) -> Option<Planned> {
        let written = self.rendered(text.0)?;
        let place = self.reader.tree.place(text.0);
        let checked = check_expression(&written, &self.world.names(Scope::Text));
        self.template_faults(&written, place, &checked.errors, Scope::Text);
        if !checked.errors.is_empty() {
            return None;
        }
        let picked = match &checked.kind {
            Kind::Group(group) => group.swept.as_deref().and_then(|swept| {
                let point = Point::parse(swept.picked.as_deref()?)?;
                let subject = Subject { measure: swept.measure.clone(), arm: swept.arm.clone() };
                Some(Planned { subject, point: Some(point) })
            }),
            _ => None,
        };
        if picked.is_none() {
            let message = format!("`{written}` is no point of a sweep");
            self.reader.fault(place, message, "write `sweep.arm.at(n=10)`, with nothing behind it");
        }
        picked
    }
}
