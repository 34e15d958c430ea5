//! Logging in: the start-up message, the password exchange, what the server says until it is ready.

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::tls::Encryption;
use super::wire::Wire;
use super::{Endpoint, Host, SessionError, SqlError};

/// The process id of the server's side and the key that cancels its work.
type Backend = (i32, i32);

/// Opens a connection, encrypted as the endpoint asks, and logs in.
pub(super) fn open(endpoint: &Endpoint, database: &str) -> Result<(Wire, Backend), SessionError> {
    let attempts = match &endpoint.host {
        // Nobody can listen on a Unix socket, and PostgreSQL encrypts none.
        Host::Socket(_) => &[Encryption::None][..],
        Host::Tcp(_) => endpoint.tls.mode.attempts(),
    };
    let mut failure = None;
    for encryption in attempts {
        match attempt(endpoint, database, *encryption) {
            Ok(opened) => return Ok(opened),
            Err(error) if may_differ(&error) => failure = failure.or(Some(error)),
            Err(error) => return Err(failure.unwrap_or(error)),
        }
    }
    Err(failure.unwrap_or_else(|| refused("there is no way to connect to it")))
}

fn attempt(
    endpoint: &Endpoint,
    database: &str,
    encryption: Encryption,
) -> Result<(Wire, Backend), SessionError> {
    let mut wire = Wire::open(&endpoint.host, endpoint.port)?;
    if encryption != Encryption::None {
        wire.encrypt(endpoint, encryption == Encryption::Required)?;
    }
    let backend = log_in(&mut wire, endpoint, database)?;
    Ok((wire, backend))
}

/// Whether the other way to connect may fare better: pg_hba.conf may allow one of them alone, and a handshake may fail.
fn may_differ(error: &SessionError) -> bool {
    match error {
        SessionError::Refused(error) => error.sqlstate == "28000",
        SessionError::Tls(_) => true,
        _ => false,
    }
}

/// Logs in; gives the process id of the server's side and the key that cancels its work.
fn log_in(wire: &mut Wire, endpoint: &Endpoint, database: &str) -> Result<Backend, SessionError> {
    let parameters = [
        ("client_encoding", "UTF8"),
        ("user", &endpoint.user),
        ("database", database),
        ("application_name", &super::application_name()),
    ];
    wire.encode(|out| frontend::startup_message(parameters, out))?;
    wire.flush()?;
    let mut backend = (0, 0);
    loop {
        match wire.next()? {
            Message::AuthenticationCleartextPassword => send_password(wire, password(endpoint)?)?,
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(endpoint.user.as_bytes(), password(endpoint)?, body.salt());
                send_password(wire, hash.as_bytes())?;
            }
            Message::AuthenticationSasl(body) => scram(wire, &body, password(endpoint)?)?,
            Message::AuthenticationOk | Message::ParameterStatus(_) | Message::NoticeResponse(_) => {}
            Message::BackendKeyData(body) => backend = (body.process_id(), body.secret_key()),
            Message::ReadyForQuery(_) => return Ok(backend),
            Message::ErrorResponse(body) => {
                return Err(SessionError::Refused(Box::new(SqlError::read(&mut body.fields(), ""))));
            }
            _ => return Err(refused("it asks for a way to log in that planbook does not know")),
        }
    }
}

fn refused(why: &str) -> SessionError {
    SessionError::Refused(Box::new(SqlError { message: why.to_owned(), ..SqlError::default() }))
}

fn password(endpoint: &Endpoint) -> Result<&[u8], SessionError> {
    let password = endpoint.password.as_ref();
    password
        .map(|password| password.reveal().as_bytes())
        .ok_or_else(|| refused("it asks for a password and none was given"))
}

fn send_password(wire: &mut Wire, password: &[u8]) -> Result<(), SessionError> {
    wire.encode(|out| frontend::password_message(password, out))?;
    wire.flush()
}

/// SCRAM-SHA-256 (RFC 5802, 7677), without channel binding: sslmode says how far the server is
/// to be trusted. It proves that the server knows the password too.
fn scram(wire: &mut Wire, offer: &AuthenticationSaslBody, password: &[u8]) -> Result<(), SessionError> {
    let known = offer.mechanisms().any(|name| Ok(name == SCRAM_SHA_256)).map_err(SessionError::garbled)?;
    if !known {
        return Err(refused("it offers no SCRAM-SHA-256"));
    }
    let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
    wire.encode(|out| frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), out))?;
    wire.flush()?;
    match wire.next()? {
        Message::AuthenticationSaslContinue(body) => {
            scram.update(body.data()).map_err(|error| refused(&error.to_string()))?;
        }
        other => return Err(unexpected(other)),
    }
    wire.encode(|out| frontend::sasl_response(scram.message(), out))?;
    wire.flush()?;
    match wire.next()? {
        Message::AuthenticationSaslFinal(body) => {
            scram.finish(body.data()).map_err(|error| refused(&error.to_string()))
        }
        other => Err(unexpected(other)),
    }
}

fn unexpected(message: Message) -> SessionError {
    match message {
        Message::ErrorResponse(body) => {
            SessionError::Refused(Box::new(SqlError::read(&mut body.fields(), "")))
        }
        _ => refused("it broke off the password exchange"),
    }
}
