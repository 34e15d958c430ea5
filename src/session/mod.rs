//! One connection to a PostgreSQL server: execute, time, explain.
//!
//! A [`Session`] speaks the simple query protocol, so that every statement is planned with its literals (a
//! prepared one would turn to a generic plan after five executions) and what arrives is kept in the order in
//! which it arrived. It blocks; a [`Canceller`] ends from another thread what it waits for.

mod auto_explain;
mod canceller;
mod capture;
mod copy;
mod endpoint;
mod error;
mod heartbeat;
mod login;
mod options;
mod query;
mod scalar;
mod settings;
mod timing;
mod tls;
mod wire;

pub use canceller::Canceller;
pub use capture::{Capture, CaptureWay, MAX_CAPTURES, Settled};
pub use endpoint::{Endpoint, Host, Secret};
pub use error::{SessionError, SqlError};
pub use options::ExplainOptions;
pub use query::{Answer, Execution, Notice};
pub use scalar::Scalar;
pub use timing::{ArmRun, Cut, Pace, Sample, Timed, time_arms};
pub use tls::{SslMode, Tls, TrustedRoots};

use auto_explain::AutoExplain;
use wire::Wire;

/// What every session of this process calls itself, so that it can tell its own from others'.
#[must_use]
pub fn application_name() -> String {
    format!("planbook {}", std::process::id())
}

/// One connection.
#[derive(Debug)]
pub struct Session {
    wire: Wire,
    canceller: Canceller,
    version: u32,
    auto_explain: AutoExplain,
    /// Whether it is known that no timed execution is instrumented.
    quiet: bool,
    /// The transaction status that the server last told: `I`dle, in a `T`ransaction, or in a failed one (`E`).
    status: u8,
}

impl Session {
    /// Connects and logs in. Retries are the caller's business.
    ///
    /// # Errors
    /// [`SessionError::Connection`] where nobody answers, [`SessionError::Refused`] where the server says no.
    pub fn connect(endpoint: &Endpoint, database: &str) -> Result<Self, SessionError> {
        let (wire, (pid, key)) = login::open(endpoint, database)?;
        wire.wait_without_limit()?;
        let mut session = Self {
            wire,
            canceller: Canceller::new(endpoint, pid, key),
            version: 0,
            auto_explain: AutoExplain::Unknown,
            quiet: false,
            status: b'I',
        };
        if let Some(Scalar::Integer(version)) =
            session.scalar("SELECT current_setting('server_version_num')::int")?
        {
            session.version = u32::try_from(version).unwrap_or_default();
        }
        Ok(session)
    }

    /// Cancels, from any thread, what this session runs.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// The process id of the server's side of this session.
    #[must_use]
    pub fn backend_pid(&self) -> i32 {
        self.canceller.pid()
    }

    /// The server's version as a number: 150018 is 15.18.
    #[must_use]
    pub fn server_version_num(&self) -> u32 {
        self.version
    }

    /// Whether a transaction is open, a failed one included.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        self.status != b'I'
    }
}
