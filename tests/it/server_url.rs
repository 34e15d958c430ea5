//! A server that someone else runs: here one in a container that a scene starts first.

use std::path::Path;
use std::process::Command;

use planbook::server::{self, Kind, Server, ServerError, Spec};
use planbook::session::{Host, Secret, Session};

use crate::engine::{self, docker};
use crate::scene::{Scene, small};

fn quiet(_: &str) {}

fn scene() -> Scene {
    Scene::new("server_url").with("PLANBOOK_PG16_IMAGE", &engine::image().reference)
}

/// Called by a scene: the container that stands for someone else's server.
fn theirs() -> Server {
    server::start(&Spec::Docker { service: None }, &small(), &mut quiet).unwrap()
}

fn session(server: &Server) -> Session {
    Session::connect(server.endpoint(), "postgres").unwrap()
}

/// The URI of a server, for another role.
fn uri(server: &Server, user: &str, password: &str, rest: &str) -> Spec {
    let endpoint = server.endpoint();
    let Host::Tcp(host) = &endpoint.host else { panic!("a container has a port") };
    let text = format!("url:postgres://{user}:{password}@{host}:{}/postgres{rest}", endpoint.port);
    text.parse().unwrap()
}

fn own_uri(server: &Server, rest: &str) -> Spec {
    let endpoint = server.endpoint();
    uri(server, &endpoint.user, endpoint.password.as_ref().map_or("", Secret::reveal), rest)
}

#[test]
fn somebody_elses_server_is_used_and_left_as_it_was() {
    if engine::answers() {
        scene().play("borrowed");
    }
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_borrowed() {
    let theirs = theirs();
    let mut said = Vec::new();
    let mut server =
        server::start(&own_uri(&theirs, ""), &Default::default(), &mut |line| said.push(line.to_owned()))
            .unwrap();
    assert_eq!((server.kind(), server.major(), server.database()), (Kind::Url, 15, "postgres"));
    assert!(said[0].contains("shared_buffers is 16MB and not 1GB"), "{said:?}");
    assert!(server.identity().container.is_none());
    server.check_alive().unwrap();

    let mut admin = session(&theirs);
    admin.execute("CREATE DATABASE precious").unwrap();
    server.create_database("planbook_test", None).unwrap();
    server.create_database("planbook_copy", Some("planbook_test")).unwrap();
    let error = server.drop_database("precious").unwrap_err();
    assert!(matches!(error, ServerError::NotOurs { .. }), "{error}");
    for name in ["planbook_copy", "planbook_test", "never_there"] {
        server.drop_database(name).unwrap();
    }
    let left =
        admin.query_rows("SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1").unwrap();
    assert_eq!(left.concat(), [Some("postgres".to_owned()), Some("precious".to_owned())]);

    admin.execute("CREATE ROLE poor LOGIN PASSWORD 'hunter2'").unwrap();
    let error = server::start(&uri(&theirs, "poor", "hunter2", ""), &small(), &mut quiet).unwrap_err();
    assert!(matches!(&error, ServerError::NoCreateDb { role } if role == "poor"), "{error}");
    assert!(error.next().contains("ALTER ROLE poor CREATEDB"));
    let error = server::start(&uri(&theirs, "poor", "hunter3", ""), &small(), &mut quiet).unwrap_err();
    assert!(matches!(error, ServerError::Unreachable { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("hunter3"));
    server.stop().unwrap();
    admin.execute("SELECT 1").unwrap();
}

#[test]
fn tls_is_what_sslmode_says() {
    if engine::answers() {
        scene().play("tls");
    }
}

/// Called by a scene: gives the server a certificate for these names, signed by itself; the certificate's path.
fn certify(server: &Server, container: &str, names: &str, dir: &Path) -> String {
    let at = |name: &str| dir.join(name).display().to_string();
    let (cert, key) = (at("server.crt"), at("server.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=db.example"])
        .args(["-addext", &format!("subjectAltName={names}"), "-keyout", &key, "-out", &cert])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    for file in [&cert, &key] {
        docker(&["cp", file, &format!("{container}:/tmp/")]);
    }
    docker(&["exec", container, "chown", "999:999", "/tmp/server.crt", "/tmp/server.key"]);
    docker(&["exec", container, "chmod", "600", "/tmp/server.key"]);
    let mut admin = session(server);
    for statement in [
        "ALTER SYSTEM SET ssl_cert_file = '/tmp/server.crt'",
        "ALTER SYSTEM SET ssl_key_file = '/tmp/server.key'",
        "ALTER SYSTEM SET ssl = on",
        "SELECT pg_reload_conf()",
    ] {
        admin.execute(statement).unwrap();
    }
    // The postmaster reads its files when it gets to it.
    for _ in 0..100 {
        let shown = session(server).query_rows("SHOW ssl").unwrap().concat();
        if shown == [Some("on".to_owned())] {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    cert
}

/// Whether a connection with this mode is encrypted; the error where there is none.
fn encrypted(server: &Server, rest: &str) -> Result<bool, String> {
    let started =
        server::start(&own_uri(server, rest), &small(), &mut quiet).map_err(|error| error.to_string())?;
    let mut session = Session::connect(started.endpoint(), "postgres").unwrap();
    let rows = session.query_rows("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").unwrap();
    Ok(rows.concat() == [Some("t".to_owned())])
}

#[test]
#[ignore = "a scene of the test above"]
fn scene_tls() {
    let server = theirs();
    let container = format!("planbook-{}", server::list().unwrap()[0].id);
    assert_eq!(encrypted(&server, "?sslmode=prefer"), Ok(false));
    assert!(encrypted(&server, "?sslmode=require").unwrap_err().contains("the server offers none"));

    let dir = tempfile::tempdir().unwrap();
    let cert = certify(&server, &container, "DNS:db.example", dir.path());
    let with = |mode: &str| format!("?sslmode={mode}&sslrootcert={cert}");
    assert_eq!(encrypted(&server, "?sslmode=disable"), Ok(false));
    assert_eq!(encrypted(&server, "?sslmode=allow"), Ok(false));
    assert_eq!(encrypted(&server, "?sslmode=prefer"), Ok(true));
    assert_eq!(encrypted(&server, "?sslmode=require"), Ok(true));
    assert_eq!(encrypted(&server, &with("verify-ca")), Ok(true));
    assert!(encrypted(&server, &with("verify-full")).unwrap_err().contains("no encrypted connection"));
    let stranger = tempfile::tempdir().unwrap();
    std::fs::copy(&cert, stranger.path().join("other.crt")).unwrap();

    let cert = certify(&server, &container, "DNS:db.example,IP:127.0.0.1", dir.path());
    assert_eq!(encrypted(&server, &format!("?sslmode=verify-full&sslrootcert={cert}")), Ok(true));
    let other = stranger.path().join("other.crt").display().to_string();
    for mode in ["require", "verify-ca", "verify-full"] {
        // As libpq has it: with a root certificate at hand, `require` verifies too.
        let error = encrypted(&server, &format!("?sslmode={mode}&sslrootcert={other}")).unwrap_err();
        assert!(error.contains("no encrypted connection"), "{error}");
    }
}
