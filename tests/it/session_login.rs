//! Logging in: every kind of password, over a socket and over TCP.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;

use planbook::server::Server;
use planbook::session::{Endpoint, Host, Scalar, Secret, Session, SessionError};

use crate::support::{connect, start};

#[test]
fn passwords_are_given_as_the_server_asks() {
    let server = start(None);
    let mut owner = connect(&server);
    for (name, encryption) in [("scrammer", "scram-sha-256"), ("hashed", "md5")] {
        owner.set(&[("password_encryption".to_owned(), encryption.to_owned())]).unwrap();
        owner.execute(&format!("CREATE ROLE {name} LOGIN PASSWORD 'söcret'")).unwrap();
    }
    for (method, user) in [("scram-sha-256", "scrammer"), ("md5", "hashed"), ("password", "scrammer")] {
        ask_for(&mut owner, method);
        let endpoint = |password: Option<&str>| Endpoint {
            user: user.to_owned(),
            password: password.map(Secret::new),
            ..server.endpoint().clone()
        };
        let mut session = Session::connect(&endpoint(Some("söcret")), "postgres").unwrap();
        assert_eq!(session.scalar("SELECT current_user::text").unwrap(), Some(Scalar::Text(user.to_owned())));
        let wrong = Session::connect(&endpoint(Some("wrong")), "postgres").unwrap_err();
        assert_eq!(wrong.sql().unwrap().sqlstate, "28P01", "{method}");
        assert!(matches!(wrong, SessionError::Refused(_)) && !wrong.to_string().contains("wrong"));
        let none = Session::connect(&endpoint(None), "postgres").unwrap_err();
        assert!(none.to_string().contains("asks for a password"), "{none}");
        assert!(none.is_environment());
    }
    over_tcp(&server);
}

/// Has the server ask every other role for a password in that way.
fn ask_for(owner: &mut Session, method: &str) {
    let Some(Scalar::Text(file)) = owner.scalar("SHOW hba_file").unwrap() else { panic!("no file") };
    let name = match owner.scalar("SELECT current_user::text").unwrap() {
        Some(Scalar::Text(name)) => name,
        other => panic!("{other:?}"),
    };
    let rules = format!("VALUES ('local all {name} trust'), ('local all all {method}')");
    owner.execute(&format!("COPY ({rules}) TO '{file}'")).unwrap();
    owner.execute("SELECT pg_reload_conf()").unwrap();
    // The postmaster reads the file when the signal reaches it.
    thread::sleep(std::time::Duration::from_millis(300));
}

/// The server has no TCP of its own, so a forwarder stands before its socket.
fn over_tcp(server: &Server) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let Host::Socket(directory) = &server.endpoint().host else { panic!("no socket") };
    let socket = directory.join(format!(".s.PGSQL.{}", server.endpoint().port));
    let forwarder = thread::spawn(move || forward(&listener, &socket));
    let endpoint = Endpoint { host: Host::Tcp("localhost".to_owned()), port, ..server.endpoint().clone() };
    let mut session = Session::connect(&endpoint, "postgres").unwrap();
    let rows = session.query_rows("SELECT repeat('x', 1000) FROM generate_series(1, 2000)").unwrap();
    assert_eq!(rows.len(), 2_000);
    assert!(session.time("SELECT repeat('x', 1000000) FROM generate_series(1, 20)").unwrap() > 0.0);
    drop(session);
    // The forwarder takes one more connection and closes it at once, as a port proxy does.
    let closed = Session::connect(&endpoint, "postgres").unwrap_err();
    assert!(matches!(closed, SessionError::Connection { .. }), "{closed}");
    forwarder.join().unwrap();
    let refused = Session::connect(&endpoint, "postgres").unwrap_err();
    assert!(refused.is_environment(), "{refused}");
}

fn forward(listener: &TcpListener, socket: &PathBuf) {
    let (mut client, _) = listener.accept().unwrap();
    let mut server = UnixStream::connect(socket).unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let there = thread::spawn(move || io::copy(&mut from, &mut to));
    // Ends when the server closes the connection; an error only means that the client was quicker.
    let _ = io::copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = there.join().unwrap();
    let (next, _): (TcpStream, _) = listener.accept().unwrap();
    drop(next);
}
