//! The notebook's prose, evaluated over what was measured.

use crate::notebook::Template;
use crate::template;

use super::Subject;

/// A text step as markdown.
pub(super) fn markdown(subject: Subject<'_>, text: &Template) -> String {
    let mut context = subject.analysis.context();
    for (name, number) in &subject.judgement.named {
        context.set_interval(
            name,
            number.value,
            number.interval.map(|i| i.lo),
            number.interval.map(|i| i.hi),
        );
    }
    template::render_text(&text.text, &context).trim().to_owned()
}
