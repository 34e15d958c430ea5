//! References to images: `name:tag@sha256:…`.

use std::fmt;
use std::str::FromStr;

/// An image's name, with its tag and the digest that pins it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRef {
    name: String,
    tag: Option<String>,
    digest: Option<String>,
}

impl ImageRef {
    /// The digest that pins it, with its `sha256:`.
    #[must_use]
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// What to ask the engine for: by digest where there is one, since a tag beside it says nothing more.
    #[must_use]
    pub fn request(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => format!("{}@{digest}", self.name),
            (None, Some(tag)) => format!("{}:{tag}", self.name),
            (None, None) => format!("{}:latest", self.name),
        }
    }

    /// The reference with the digest shortened to twelve digits, for talk.
    #[must_use]
    pub fn short(&self) -> String {
        let whole = self.to_string();
        match whole.split_once("@sha256:") {
            Some((before, digits)) => format!("{before}@sha256:{}…", &digits[..12]),
            None => whole,
        }
    }
}

impl FromStr for ImageRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (text, None),
        };
        if let Some(digest) = digest
            && !is_digest(digest)
        {
            return Err(format!("`{digest}` is not a digest (sha256: and 64 hexadecimal digits)"));
        }
        // A colon before the last slash belongs to a registry's port.
        let start = rest.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match rest[start..].find(':') {
            Some(colon) => (&rest[..start + colon], Some(&rest[start + colon + 1..])),
            None => (rest, None),
        };
        let word = |text: &str| {
            !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-/:[]".contains(&c))
        };
        if !word(name) || tag.is_some_and(|tag| !word(tag)) {
            return Err(format!("`{text}` is not an image's name"));
        }
        Ok(Self { name: name.to_owned(), tag: tag.map(str::to_owned), digest: digest.map(str::to_owned) })
    }
}

/// `sha256:` and 64 hexadecimal digits.
pub(super) fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:")
        .is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|c| c.is_ascii_hexdigit()))
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tags_and_digests_come_apart() {
        let digest = format!("sha256:{}", "0".repeat(64));
        for (text, request) in [
            (format!("postgres:16.14@{digest}"), format!("postgres@{digest}")),
            (format!("localhost:5000/a/postgres@{digest}"), format!("localhost:5000/a/postgres@{digest}")),
            ("localhost:5000/postgres".to_owned(), "localhost:5000/postgres:latest".to_owned()),
            ("postgres:16".to_owned(), "postgres:16".to_owned()),
        ] {
            let image: ImageRef = text.parse().unwrap();
            assert_eq!(image.to_string(), text);
            assert_eq!(image.request(), request);
        }
    }

    #[test]
    fn what_is_no_reference_is_refused() {
        for text in ["", ":1", "a b", "a:1@sha256:123", "a@md5:00", "a:"] {
            assert!(text.parse::<ImageRef>().is_err(), "{text}");
        }
    }
}
