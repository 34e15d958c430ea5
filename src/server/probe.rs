//! The first questions to a server: does it answer, and is it still the same?

use crate::session::{Endpoint, Session, SessionError};

/// When the postmaster started.
pub(super) const STARTED: &str = "SELECT pg_postmaster_start_time()::text";

/// The SQLSTATE of a wrong password.
const INVALID_PASSWORD: &str = "28P01";

/// Logs in and asks when the postmaster started, which tells one postmaster from the next.
pub(super) fn postmaster(endpoint: &Endpoint) -> Result<String, SessionError> {
    let mut session = Session::connect(endpoint, "postgres")?;
    let rows = session.query_rows(STARTED)?;
    Ok(rows.into_iter().flatten().flatten().next().unwrap_or_default())
}

/// Whether it is the password that the server did not like.
pub(super) fn is_wrong_password(error: &SessionError) -> bool {
    error.sql().is_some_and(|error| error.sqlstate == INVALID_PASSWORD)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;
    use crate::session::{Host, Tls};

    #[test]
    fn a_proxy_that_accepts_and_hangs_up_is_not_a_server() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = std::thread::spawn(move || {
            drop(listener.accept().unwrap());
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 8]).unwrap();
        });
        let endpoint = Endpoint {
            host: Host::Tcp("127.0.0.1".into()),
            port,
            user: "postgres".into(),
            password: None,
            tls: Tls::default(),
        };
        for _ in 0..2 {
            let error = postmaster(&endpoint).unwrap_err();
            assert!(matches!(error, SessionError::Connection { .. }), "{error}");
        }
        proxy.join().unwrap();
    }
}
