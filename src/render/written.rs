//! The notebook's prose, evaluated over what was measured.

use crate::notebook::Template;
use crate::template;

use super::outline::Outline;
use super::{Subject, harmless, prose};

/// The author's words with their numbers, as markdown and as HTML. Nothing in either can act.
pub(super) struct Written {
    pub markdown: String,
    pub html: String,
}

/// A text of the notebook, its headings entered in the outline.
pub(super) fn written(subject: Subject<'_>, text: &Template, outline: &mut Outline) -> Written {
    let markdown = evaluated(subject, text);
    Written { html: prose::page(&markdown, outline), markdown: harmless::harmless(&markdown) }
}

fn evaluated(subject: Subject<'_>, text: &Template) -> String {
    let mut context = subject.analysis.context();
    for (name, number) in &subject.judgement.named {
        number.bind(name, &mut context);
    }
    template::render_text(&text.text, &context).trim().to_owned()
}
