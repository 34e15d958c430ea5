//! `$VAR`, `${VAR:-default}` and `${VAR:?message}` in the values of a compose file.

/// Tells a variable's value.
pub(in crate::server) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Fills in the variables of one value. `$$` is a dollar.
///
/// # Errors
/// The message of `${VAR:?message}` where the variable is absent, or what is wrong with the text.
pub(super) fn interpolate(text: &str, lookup: Lookup<'_>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(after) = after.strip_prefix('{') {
            let end = closing(after).ok_or_else(|| format!("`{text}`: `${{` without its `}}`"))?;
            out.push_str(&braced(&after[..end], lookup)?);
            rest = &after[end + 1..];
        } else {
            let end = name_length(after);
            if end == 0 {
                return Err(format!("`{text}`: a lone `$` (write `$$` for a dollar)"));
            }
            out.push_str(&lookup(&after[..end]).unwrap_or_default());
            rest = &after[end..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Where the brace closes that was opened before `text`; defaults may hold variables of their own.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn name_length(text: &str) -> usize {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        0
    } else {
        text.find(|c| !word(c)).unwrap_or(text.len())
    }
}

fn braced(inside: &str, lookup: Lookup<'_>) -> Result<String, String> {
    let (name, rest) = inside.split_at(name_length(inside));
    if name.is_empty() {
        return Err(format!("`${{{inside}}}` names no variable"));
    }
    let value = lookup(name);
    // With the colon, an empty value counts as absent.
    let (value, operator) = match rest.strip_prefix(':') {
        Some(operator) => (value.filter(|value| !value.is_empty()), operator),
        None => (value, rest),
    };
    match (value, operator.chars().next()) {
        (value, None) if operator == rest => Ok(value.unwrap_or_default()),
        (Some(value), Some('-' | '?')) => Ok(value),
        (None, Some('-')) => interpolate(&operator[1..], lookup),
        (None, Some('?')) => Err(interpolate(&operator[1..], lookup)?),
        _ => Err(format!(
            "`${{{inside}}}` is not understood; there is ${{A}}, ${{A:-default}} and ${{A:?message}}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        interpolate(text, &|name| match name {
            "A" => Some("a".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn variables_are_filled_in_as_compose_does() {
        for (text, expected) in [
            ("plain", "plain"),
            ("$A-${A}-$$A", "a-a-$A"),
            ("${A:-b}${NONE:-b}${EMPTY:-b}${EMPTY-b}.", "abb."),
            ("${NONE:-x${A}y}", "xay"),
            ("${NONE}$NONE.", "."),
            ("${A:?no}${A?no}", "aa"),
        ] {
            assert_eq!(fill(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(fill("${NONE:?set it}"), Err("set it".to_owned()));
        assert_eq!(fill("${EMPTY:?set it}"), Err("set it".to_owned()));
        for text in ["${A", "cost: $", "$1", "${}", "${A:+b}", "${A:}"] {
            assert!(fill(text).is_err(), "{text}");
        }
    }
}
