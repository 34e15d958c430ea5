//! A plan for an issue or a post: what matters, the tree, and the plan itself folded away.

use std::fmt::Write as _;

use crate::plan::Plan;

use super::super::Paint;
use super::text::{plan_text, printable};

/// Columns of a code block that most pages show without scrolling.
const WIDTH: usize = 100;

/// One plan in markdown.
#[must_use]
pub fn plan_markdown(plan: &Plan) -> String {
    let page = plan_text(plan, WIDTH, Paint { colour: false });
    let printed = printable(&plan.to_text(), Paint { colour: false });
    let fence = fence(&[&page, &printed]);
    let mut out = String::new();
    if let Some(query) = plan.query_text() {
        let _ = writeln!(out, "{fence}sql\n{}\n{fence}\n", query.trim_end());
    }
    let _ = writeln!(out, "{fence}text\n{}\n{fence}\n", page.trim_end());
    let _ = writeln!(out, "<details><summary>The plan as PostgreSQL prints it</summary>\n");
    let _ = writeln!(out, "{fence}text\n{}\n{fence}\n\n</details>", printed.trim_end());
    out
}

/// A fence longer than any that the texts contain.
fn fence(texts: &[&str]) -> String {
    let mut fence = "```".to_owned();
    while texts.iter().any(|text| text.contains(&fence)) {
        fence.push('`');
    }
    fence
}
