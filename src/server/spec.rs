//! Which server a run shall use, as `--server` takes it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::ServerError;
use crate::session::Secret;

/// The value of `--server`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Spec {
    /// The first way that works, said in one line.
    #[default]
    Auto,
    /// A container on this machine's Docker engine.
    Docker {
        /// The service of compose.yaml; the notebook's own or the default one when absent.
        service: Option<String>,
    },
    /// A throwaway cluster from PostgreSQL binaries on this machine.
    Local {
        /// The directory that holds `postgres` and `initdb`; searched for when absent.
        bindir: Option<PathBuf>,
    },
    /// The same, from binaries that Planbook brings.
    Embedded {
        /// The major version; Planbook's choice when absent.
        major: Option<u32>,
    },
    /// A server that someone else runs.
    Url {
        /// Its connection URI; of the environment when absent.
        url: Option<Secret>,
    },
}

impl FromStr for Spec {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        let (word, rest) = match text.split_once(':') {
            Some((word, rest)) => (word, Some(rest)),
            None => (text, None),
        };
        match (word, rest) {
            ("auto", None) => Ok(Self::Auto),
            ("docker", None) => Ok(Self::Docker { service: None }),
            ("docker", Some(name)) if !name.is_empty() => Ok(Self::Docker { service: Some(name.to_owned()) }),
            ("local", None) => Ok(Self::Local { bindir: None }),
            ("local", Some(dir)) if !dir.is_empty() => Ok(Self::Local { bindir: Some(dir.into()) }),
            ("embedded", None) => Ok(Self::Embedded { major: None }),
            ("embedded", Some(major)) if major.parse::<u32>().is_ok() => {
                Ok(Self::Embedded { major: major.parse().ok() })
            }
            ("url", None) => Ok(Self::Url { url: None }),
            ("url", Some(url)) if !url.is_empty() => Ok(Self::Url { url: Some(Secret::new(url)) }),
            // Somebody who left the word out may have written a password.
            _ if text.contains("://") => Err(ServerError::UnknownSpec { given: format!("{word}://…") }),
            _ => Err(ServerError::UnknownSpec { given: text.to_owned() }),
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Docker { service: None } => f.write_str("docker"),
            Self::Docker { service: Some(name) } => write!(f, "docker:{name}"),
            Self::Local { bindir: None } => f.write_str("local"),
            Self::Local { bindir: Some(dir) } => write!(f, "local:{}", dir.display()),
            Self::Embedded { major: None } => f.write_str("embedded"),
            Self::Embedded { major: Some(major) } => write!(f, "embedded:{major}"),
            Self::Url { .. } => f.write_str("url"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for text in
            ["auto", "docker", "docker:pg18", "local", "local:/opt/pg/bin", "embedded", "embedded:17", "url"]
        {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn refuses_the_rest_and_names_what_it_takes() {
        for text in ["", "locale", "local:", "auto:x", "docker:", "embedded:x"] {
            let error = text.parse::<Spec>().unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.next().contains("local:BINDIR"), "{}", error.next());
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let spec: Spec = "url:postgres://me:hunter2@far/db".parse().unwrap();
        assert!(matches!(&spec, Spec::Url { url: Some(_) }));
        assert!(!format!("{spec} {spec:?}").contains("hunter2"));
        let error = "postgres://me:hunter2@far/db".parse::<Spec>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}
