//! A server that someone else runs, reached by a libpq connection URI.
//!
//! Planbook makes databases of its own there, marks them (see [`super::own`]) and changes nothing else.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use url::Url;

use super::registry::{Claim, Note, Registry};
use super::{Kind, Needs, ServerError, own, probe};
use crate::session::{Endpoint, Host, Scalar, Secret, Session, SslMode, Tls, TrustedRoots};

/// The variables that may hold the URI, in order.
const VARIABLES: [&str; 2] = ["PLANBOOK_URL", "DATABASE_URL"];

/// Where the server's socket usually lies, for a URI without a host.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// A connection that works.
#[derive(Debug)]
pub(super) struct Remote {
    pub endpoint: Endpoint,
    /// The database of the URI, to connect to before there is one of ours.
    pub database: String,
    /// The server flags that a server of Planbook's would have.
    pub asked: BTreeMap<String, String>,
    /// When the postmaster started, as far as we have seen.
    started: String,
    /// Tells later runs whether the databases of this one are left over.
    claim: Claim,
    left: bool,
}

impl Drop for Remote {
    fn drop(&mut self) {
        // What cannot be dropped now is dropped by the next run on this server: its note is gone.
        let _ = self.leave();
    }
}

impl Remote {
    /// Connects, and checks what Planbook needs to work there.
    pub fn start(
        url: Option<&Secret>,
        needs: &Needs,
        asked: BTreeMap<String, String>,
        talk: &mut dyn FnMut(&str),
    ) -> Result<Self, ServerError> {
        let get = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let given =
            url.map(|url| url.reveal().to_owned()).or_else(|| VARIABLES.iter().find_map(|name| get(name)));
        let given = given.or_else(|| get("PGHOST").map(|_| "postgresql://".to_owned()));
        let given = given.ok_or(ServerError::NoUrl)?;
        let (endpoint, database) = parse(&given, &get).map_err(|problem| ServerError::BadUrl { problem })?;
        if needs.interrupted() {
            return Err(ServerError::Interrupted);
        }
        let reached = |problem: String| ServerError::Unreachable { problem };
        let mut session =
            Session::connect(&endpoint, &database).map_err(|error| reached(error.to_string()))?;
        may_create(&mut session, &endpoint.user)?;
        let started = started(&mut session)?;
        let leftovers = own::drop_leftovers(&mut session)?;
        if !leftovers.is_empty() {
            talk(&format!("dropped what killed runs left on this server: {}", leftovers.join(", ")));
        }
        let version = session.server_version_num() / 10_000;
        let claim = Registry::open()?.claim(Note::new(Kind::Url, &version.to_string()))?;
        Ok(Self { endpoint, database, asked, started, claim, left: false })
    }

    /// The note that marks this run's databases.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Leaves the server.
    pub fn stop(mut self) -> Result<(), ServerError> {
        self.leave()
    }

    /// Drops what is ours there, the templates of datasets too, and then the note that says that we live.
    fn leave(&mut self) -> Result<(), ServerError> {
        if std::mem::replace(&mut self.left, true) {
            return Ok(());
        }
        let dropped = Session::connect(&self.endpoint, &self.database)
            .map_err(ServerError::from)
            .and_then(|mut session| own::drop_of(&mut session, &self.claim.note.id));
        self.claim.settle()?;
        dropped.map(drop)
    }

    /// Whether the server still answers, and has not started again meanwhile.
    pub fn check_alive(&self) -> Result<(), ServerError> {
        let mut session = Session::connect(&self.endpoint, &self.database)
            .map_err(|error| ServerError::Died { status: error.to_string(), log: String::new() })?;
        if started(&mut session)? == self.started {
            return Ok(());
        }
        Err(ServerError::Died { status: "it was started again meanwhile".to_owned(), log: String::new() })
    }
}

fn started(session: &mut Session) -> Result<String, ServerError> {
    match session.scalar(probe::STARTED)? {
        Some(Scalar::Text(text)) => Ok(text),
        other => Ok(format!("{other:?}")),
    }
}

/// Every run works in databases of its own.
fn may_create(session: &mut Session, role: &str) -> Result<(), ServerError> {
    let allowed = session
        .query_rows("SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolcreatedb OR rolsuper)")?;
    if allowed.is_empty() { Err(ServerError::NoCreateDb { role: role.to_owned() }) } else { Ok(()) }
}

/// Tells a variable of the environment.
type Get<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads `postgres://user:password@host:port/database?sslmode=…`; what is absent comes from libpq's variables. Errors
/// never repeat the URI, which may hold a password.
fn parse(text: &str, get: Get<'_>) -> Result<(Endpoint, String), String> {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    if !matches!(scheme, Some("postgres" | "postgresql")) {
        return Err("it must start with postgres://".to_owned());
    }
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let decoded = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8()
            .map(|text| Some(text.into_owned()).filter(|text| !text.is_empty()))
            .map_err(|_| "it is not UTF-8 behind its percent signs".to_owned())
    };
    let mut parameters = BTreeMap::new();
    for (name, value) in url.query_pairs() {
        if !PARAMETERS.contains(&&*name) {
            return Err(format!(
                "its parameter `{name}` is not one that Planbook knows ({})",
                PARAMETERS.join(", ")
            ));
        }
        parameters.insert(name.into_owned(), value.into_owned());
    }
    let given = |name: &str, own: Option<String>, variable: &str| {
        own.or_else(|| parameters.get(name).cloned()).or_else(|| get(variable))
    };
    let host = decoded(url.host_str().unwrap_or_default().trim_matches(['[', ']']))?;
    let host = host_of(given("host", host, "PGHOST"))?;
    let port = match given("port", url.port().map(|port| port.to_string()), "PGPORT") {
        Some(port) => port.parse().map_err(|_| format!("`{port}` is not a port"))?,
        None => 5432,
    };
    let system = || get("USER").unwrap_or_else(|| "postgres".to_owned());
    let user = given("user", decoded(url.username())?, "PGUSER").unwrap_or_else(system);
    let password = given("password", decoded(url.password().unwrap_or_default())?, "PGPASSWORD");
    let database = given("dbname", decoded(url.path().trim_start_matches('/'))?, "PGDATABASE");
    let mode = given("sslmode", None, "PGSSLMODE");
    let mode = mode.map_or(Ok(SslMode::Prefer), |mode| mode.parse())?;
    let roots = given("sslrootcert", None, "PGSSLROOTCERT");
    let tls = tls(mode, roots, get("HOME"));
    let database = database.unwrap_or_else(|| user.clone());
    Ok((Endpoint { host, port, user, password: password.map(Secret::new), tls }, database))
}

/// The parameters of a URI that mean something here. An unknown one might be what keeps the connection safe.
const PARAMETERS: [&str; 7] = ["host", "port", "user", "password", "dbname", "sslmode", "sslrootcert"];

fn host_of(host: Option<String>) -> Result<Host, String> {
    let Some(host) = host else {
        let found = SOCKETS.into_iter().find(|dir| PathBuf::from(dir).is_dir()).unwrap_or(SOCKETS[0]);
        return Ok(Host::Socket(found.into()));
    };
    if host.contains(',') {
        return Err("it names several hosts; name one".to_owned());
    }
    Ok(if host.starts_with('/') { Host::Socket(host.into()) } else { Host::Tcp(host) })
}

/// As libpq does it: the user's own root file is the default, and where it exists `require` verifies too.
fn tls(mode: SslMode, roots: Option<String>, home: Option<String>) -> Tls {
    if roots.as_deref() == Some("system") {
        // libpq allows no weaker mode with them.
        return Tls { mode: mode.max(SslMode::VerifyFull), roots: TrustedRoots::System };
    }
    let own = home.map(|home| PathBuf::from(home).join(".postgresql/root.crt"));
    let file = roots.map(PathBuf::from).or_else(|| own.filter(|path| path.exists()));
    let mode = if mode == SslMode::Require && file.is_some() { SslMode::VerifyCa } else { mode };
    Tls { mode, roots: file.map_or(TrustedRoots::System, TrustedRoots::File) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, environment: &[(&str, &str)]) -> Result<(Endpoint, String), String> {
        parse(text, &|name| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn every_part_is_read_and_decoded() {
        let (endpoint, database) = read(
            "postgres://me%40work:p%3Aw@db.example:6000/my%20db?sslmode=verify-full&sslrootcert=/ca.pem",
            &[],
        )
        .unwrap();
        assert_eq!(endpoint.host, Host::Tcp("db.example".into()));
        assert_eq!((endpoint.port, endpoint.user.as_str(), database.as_str()), (6000, "me@work", "my db"));
        assert_eq!(endpoint.password.unwrap().reveal(), "p:w");
        assert_eq!(
            endpoint.tls,
            Tls { mode: SslMode::VerifyFull, roots: TrustedRoots::File("/ca.pem".into()) }
        );
    }

    #[test]
    fn what_is_absent_comes_from_libpqs_variables() {
        let environment = [
            ("PGHOST", "/run/pg"),
            ("PGPORT", "6001"),
            ("PGUSER", "me"),
            ("PGPASSWORD", "x"),
            ("PGSSLMODE", "disable"),
        ];
        let (endpoint, database) = read("postgresql://", &environment).unwrap();
        assert_eq!(endpoint.host, Host::Socket("/run/pg".into()));
        assert_eq!((endpoint.port, database.as_str(), endpoint.tls.mode), (6001, "me", SslMode::Disable));
        let (endpoint, _) = read("postgres://%2Frun%2Fother/db", &environment).unwrap();
        assert_eq!(endpoint.host, Host::Socket("/run/other".into()));
        let (endpoint, _) = read("postgres://[::1]/db", &[]).unwrap();
        assert_eq!((endpoint.host, endpoint.tls.mode), (Host::Tcp("::1".into()), SslMode::Prefer));
    }

    #[test]
    fn what_is_not_understood_is_refused_without_repeating_the_password() {
        for (text, expected) in [
            ("mysql://u:hunter2@h/db", "must start with postgres://"),
            ("postgres://u:hunter2@h:x/db", "port"),
            ("postgres://u:hunter2@a,b/db", "several hosts"),
            ("postgres://u:hunter2@h/db?sslmode=maybe", "sslmode `maybe`"),
            ("postgres://u:hunter2@h/db?sslcert=x", "`sslcert`"),
        ] {
            let error = read(text, &[]).unwrap_err();
            assert!(error.contains(expected) && !error.contains("hunter2"), "{text}: {error}");
        }
    }
}
