//! Names that expressions can use.

use crate::template::is_reserved;

use super::super::de::Reader;
use super::super::wire::Name;

/// Checks that a name can be used in expressions, and says why not.
pub(super) fn identifier(reader: &Reader<'_>, name: Name, what: &str) -> Option<String> {
    let text = reader.tree.text(name.0);
    let place = reader.tree.place(name.0);
    let well_formed = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !well_formed {
        let message = format!("`{text}` cannot name {what}");
        reader.fault(
            place,
            message,
            "a name begins with a letter, and has lower-case letters, digits and _ only",
        );
        return None;
    }
    if text.len() > 63 {
        reader.fault(place, format!("the name of {what} is longer than 63 letters"), "shorten it");
        return None;
    }
    if is_reserved(text) {
        let message = format!("`{text}` means something in expressions and cannot name {what}");
        reader.fault(place, message, "choose another name");
        return None;
    }
    Some(text.to_owned())
}
