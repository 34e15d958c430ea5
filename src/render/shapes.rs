//! The plans of a sweep: many points, few shapes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::{SweepResult, chosen_node};
use crate::notebook::Sweep;
use crate::plan::Shape;

use super::Subject;
use super::arms::arm_name;
use super::tree::TreeView;

/// One shape of an arm's plans over a sweep.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "shape")]
pub(super) struct ShapeView {
    /// The arm.
    pub arm: String,
    /// The node that was chosen.
    pub node: String,
    /// The points that had it.
    pub points: Vec<String>,
    /// The plan of the first of them, as a tree.
    pub tree: TreeView,
    /// EXPLAIN's text of it, untouched.
    pub plan: String,
    /// Whether the text is of another execution than the tree.
    pub apart: bool,
    /// The file of that text, relative to the report.
    pub file: String,
}

/// The plans of each arm in the order of the points, those of one shape together.
pub(super) fn shapes(subject: Subject<'_>, sweep: &Sweep, result: &SweepResult) -> Vec<ShapeView> {
    let mut shapes: Vec<(usize, Shape, ShapeView)> = Vec::new();
    for (index, arm) in sweep.measure.arms.iter().enumerate() {
        for point in &result.points {
            let Some(key) = point.arms.get(index) else { continue };
            let Some(captured) = subject.recording.captures.get(key) else { continue };
            let shape = captured.plan.shape();
            let known = shapes.iter_mut().find(|(at, known, _)| *at == index && *known == shape);
            if let Some((_, _, view)) = known {
                view.points.push(point.point.to_string());
                continue;
            }
            let view = ShapeView {
                arm: arm_name(&sweep.measure, arm),
                node: chosen_node(&captured.plan).title(),
                points: vec![point.point.to_string()],
                tree: TreeView::of(&captured.plan),
                plan: captured.text.trim_end().to_owned(),
                apart: captured.apart(),
                file: captured.file.clone(),
            };
            shapes.push((index, shape, view));
        }
    }
    shapes.into_iter().map(|(_, _, view)| view).collect()
}
