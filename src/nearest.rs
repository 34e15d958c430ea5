//! The nearest valid name to a misspelt one.

/// The name of `known` that `written` was most likely meant to be, if any is near enough.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_lowercase();
    known
        .into_iter()
        .filter(|name| *name != written)
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| {
            let length = written.chars().count().max(name.chars().count());
            *distance <= allowed(length) && *distance < length
        })
        .min_by_key(|(distance, name)| (*distance, name.len()))
        .map(|(_, name)| name)
}

/// One slip in three letters, at most three.
fn allowed(length: usize) -> usize {
    (length.div_ceil(3)).clamp(1, 3)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_and_refuses_strangers() {
        let known = ["query", "expect", "label", "reps"];
        assert_eq!(nearest("querry", known), Some("query"));
        assert_eq!(nearest("Query", known), Some("query"));
        assert_eq!(nearest("rep", known), Some("reps"));
        assert_eq!(nearest("sweep", known), None);
        assert_eq!(nearest("x", known), None);
        assert_eq!(nearest("b", ["a"]), None);
        assert_eq!(nearest("plane", ["plain"]), Some("plain"));
    }
}
