//! A plan, or two side by side with what changed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::notebook::{PlanStep, Planned};
use crate::recording::{ArmKey, Captured};

use super::super::arms::names_beside;
use super::super::tree::{TreeView, compared, plan_text};
use super::super::{Paint, Subject};

/// A plan, or two side by side.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "plan")]
pub(in crate::render) struct PlanView {
    /// What stands above it.
    pub title: Option<String>,
    /// One plan, or the old one and the new one.
    pub sides: Vec<SideView>,
    /// In one sentence, what differs between two plans.
    pub cause: Option<String>,
    /// A line for each node that came (`+`), went (`-`), moved (`>`) or was replaced (`~`), or whose numbers differ (a blank).
    pub changes: Vec<String>,
}

/// One of the plans.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "side")]
pub(in crate::render) struct SideView {
    /// What a reader calls the measure or the arm.
    pub name: String,
    /// Its plan; none where it was not measured.
    pub tree: Option<TreeView>,
    /// The same tree as text, 100 columns wide.
    pub annotated: Option<String>,
    /// EXPLAIN's text, untouched.
    pub plan: Option<String>,
    /// Whether the text is of another execution than the tree.
    pub apart: bool,
    /// The file of that text, relative to the report.
    pub file: Option<String>,
}

/// Columns of a code block that most pages show without scrolling.
const WIDTH: usize = 100;

pub(super) fn plan_view(subject: Subject<'_>, step: &PlanStep) -> PlanView {
    let key = |planned: &Planned| ArmKey {
        point: planned.point.clone(),
        ..ArmKey::new(&planned.subject.measure, planned.subject.arm.as_deref())
    };
    let keys: Vec<ArmKey> = step.of.iter().map(key).collect();
    let names = names_beside(subject, &keys.iter().collect::<Vec<_>>());
    let captured = keys.iter().map(|key| subject.recording.captures.get(key));
    let sides: Vec<(String, Option<&Captured>)> = names.into_iter().zip(captured).collect();
    let difference = match sides.as_slice() {
        [(_, Some(old)), (_, Some(new))] => Some(compared(&old.plan, &new.plan)),
        _ => None,
    };
    let trees: Vec<Option<TreeView>> = match (sides.as_slice(), &difference) {
        ([(_, Some(old)), (_, Some(new))], Some(compared)) => {
            TreeView::pair(&old.plan, &new.plan, compared).map(Some).into()
        }
        _ => sides.iter().map(|(_, captured)| captured.map(|one| TreeView::of(&one.plan))).collect(),
    };
    let sides = sides.into_iter().zip(trees);
    PlanView {
        title: step.title.clone(),
        sides: sides.map(|((name, captured), tree)| side(name, captured, tree)).collect(),
        cause: difference.as_ref().map(|compared| compared.cause.clone()),
        changes: difference.map(|compared| compared.lines).unwrap_or_default(),
    }
}

fn side(name: String, captured: Option<&Captured>, tree: Option<TreeView>) -> SideView {
    SideView {
        name,
        tree,
        annotated: captured.map(|captured| plan_text(&captured.plan, WIDTH, Paint { colour: false })),
        plan: captured.map(|captured| captured.text.trim_end().to_owned()),
        apart: captured.is_some_and(Captured::apart),
        file: captured.map(|captured| captured.file.clone()),
    }
}
