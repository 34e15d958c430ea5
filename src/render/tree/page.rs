//! Pasted plans as a page by themselves.

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;

use super::super::{RenderError, Templates};
use super::TreeView;

/// What the page of pasted plans sees.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "explain")]
pub struct ExplainView {
    /// The title.
    pub title: String,
    /// The plans.
    pub plans: Vec<PastedView>,
}

/// A pasted plan.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "pasted plan")]
pub struct PastedView {
    /// The statement, where the paste told it.
    pub query: Option<String>,
    /// The plan as a tree.
    pub tree: TreeView,
    /// The plan as PostgreSQL prints it.
    pub text: String,
}

/// Plans as one HTML page that needs nothing beside it.
///
/// # Errors
/// Where a template fails.
pub fn plan_html(plans: &[Plan], templates: &Templates) -> Result<String, RenderError> {
    let pasted = plans.iter().map(|plan| PastedView {
        query: plan.query_text().map(|query| query.trim().to_owned()),
        tree: TreeView::of(plan),
        text: plan.to_text().trim_end().to_owned(),
    });
    let title = match plans {
        [plan] => plan.root.title(),
        _ => format!("{} plans", plans.len()),
    };
    templates.render("explain.html", &ExplainView { title, plans: pasted.collect() })
}
