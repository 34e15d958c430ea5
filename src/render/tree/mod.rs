//! A plan for people: its tree with own times, own blocks and estimates, what each node does, and what to notice.
//!
//! One set of lines and notes serves the terminal, markdown and HTML.

mod diff;
mod glossary;
mod markdown;
mod notes;
mod page;
mod rows;
mod text;
mod view;

pub(super) use diff::compared;
pub use markdown::plan_markdown;
#[cfg(test)]
pub(super) use page::ExplainView;
pub use page::plan_html;
pub use text::plan_text;
pub(super) use view::TreeView;
