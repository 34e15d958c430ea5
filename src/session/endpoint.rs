//! Where a server listens, and as whom to log in.

use std::fmt;
use std::path::PathBuf;

use super::Tls;

/// The two ways to reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// The directory that holds the server's Unix socket.
    Socket(PathBuf),
    /// A host name or address, over TCP.
    Tcp(String),
}

/// A password. Its `Debug` and `Display` never show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a password.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The password itself, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Everything that a connection needs save the database's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// How to reach the server.
    pub host: Host,
    /// The port, which also names the socket file.
    pub port: u16,
    /// The role to log in as.
    pub user: String,
    /// Its password, where the server asks for one.
    pub password: Option<Secret>,
    /// Whether and how the connection is encrypted.
    pub tls: Tls,
}
