//! Which engine to talk to: `DOCKER_HOST`, the docker client's context, or the usual sockets, Podman's too.
//!
//! Only engines behind a socket of this machine are taken: a port that a remote engine opens on its loopback is not on
//! ours, and its paths are not our paths.

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::server::ServerError;

/// The sockets to try, in order; the first one is none other than the user's choice where there is a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidates {
    pub sockets: Vec<PathBuf>,
    /// Who named the socket; none for the usual places.
    pub origin: Option<String>,
}

/// Reads the environment and the docker client's own files.
pub(super) fn candidates() -> Result<Candidates, ServerError> {
    let get = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    resolve(&get, &|path: &Path| std::fs::read_to_string(path).ok())
}

/// Tells a variable of the environment.
type Get<'a> = &'a dyn Fn(&str) -> Option<String>;
/// Reads a file.
type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

fn resolve(get: Get<'_>, read: Read<'_>) -> Result<Candidates, ServerError> {
    if let Some(host) = get("DOCKER_HOST") {
        return named(&host, "DOCKER_HOST".to_owned());
    }
    let home = get("HOME").map(PathBuf::from);
    let config = get("DOCKER_CONFIG").map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".docker")));
    if let Some((config, context)) =
        config.and_then(|config| Some((config.clone(), context(&config, get, read)?)))
    {
        let origin = format!("the docker context `{context}`");
        let host = context_host(&config, &context, read).ok_or_else(|| ServerError::NoEngine {
            problem: format!("{origin} is not among the docker client's files"),
        })?;
        return named(&host, origin);
    }
    let runtime = get("XDG_RUNTIME_DIR").map(PathBuf::from);
    let sockets = [
        Some(PathBuf::from("/var/run/docker.sock")),
        runtime.as_ref().map(|dir| dir.join("docker.sock")),
        home.map(|dir| dir.join(".docker/run/docker.sock")),
        runtime.map(|dir| dir.join("podman/podman.sock")),
        Some(PathBuf::from("/run/podman/podman.sock")),
    ];
    Ok(Candidates { sockets: sockets.into_iter().flatten().collect(), origin: None })
}

fn named(host: &str, origin: String) -> Result<Candidates, ServerError> {
    match host.strip_prefix("unix://") {
        Some(path) if path.starts_with('/') => {
            Ok(Candidates { sockets: vec![path.into()], origin: Some(origin) })
        }
        _ => Err(ServerError::RemoteEngine { address: without_userinfo(host), origin }),
    }
}

/// An address may hold a name and a password before its `@`.
fn without_userinfo(host: &str) -> String {
    match (host.split_once("://"), host.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://***@{rest}"),
        _ => host.to_owned(),
    }
}

/// The context in use, unless it is the default one.
fn context(config: &Path, get: Get<'_>, read: Read<'_>) -> Option<String> {
    let chosen = get("DOCKER_CONTEXT").or_else(|| {
        let file: Value = serde_json::from_str(&read(&config.join("config.json"))?).ok()?;
        Some(file.get("currentContext")?.as_str()?.to_owned())
    })?;
    (chosen != "default" && !chosen.is_empty()).then_some(chosen)
}

/// The docker client keeps a context in a folder named by the hash of its name.
fn context_host(config: &Path, context: &str, read: Read<'_>) -> Option<String> {
    let hash: String = Sha256::digest(context).iter().map(|byte| format!("{byte:02x}")).collect();
    let text = read(&config.join("contexts/meta").join(hash).join("meta.json"))?;
    let meta: Value = serde_json::from_str(&text).ok()?;
    Some(meta.pointer("/Endpoints/docker/Host")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(environment: &[(&str, &str)], files: &[(&str, &str)]) -> Result<Candidates, ServerError> {
        let find = |pairs: &[(&str, &str)], key: &str| {
            pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned())
        };
        resolve(&|name| find(environment, name), &|path| find(files, path.to_str().unwrap()))
    }

    const META: &str = "/h/.docker/contexts/meta/\
        b71199ebd070b36beab7317920c2c2f1d777df8d05e5527d8458fda57cb17a7a/meta.json";

    #[test]
    fn a_socket_is_taken_wherever_it_is_named() {
        let named = with(&[("DOCKER_HOST", "unix:///x.sock")], &[]).unwrap();
        assert_eq!(named.sockets, [PathBuf::from("/x.sock")]);
        let files = [
            ("/h/.docker/config.json", r#"{"currentContext": "remote"}"#),
            (META, r#"{"Endpoints": {"docker": {"Host": "unix:///c.sock"}}}"#),
        ];
        let context = with(&[("HOME", "/h")], &files).unwrap();
        assert_eq!(context.sockets, [PathBuf::from("/c.sock")]);
        assert_eq!(context.origin.as_deref(), Some("the docker context `remote`"));
        let usual = with(&[("HOME", "/h"), ("DOCKER_CONTEXT", "default")], &files).unwrap();
        assert_eq!(usual.sockets[0], PathBuf::from("/var/run/docker.sock"));
    }

    #[test]
    fn a_remote_engine_is_refused_by_name_without_its_password() {
        for (host, shown) in [
            ("tcp://10.0.0.1:2376", "tcp://10.0.0.1:2376"),
            ("ssh://me:secret@far", "ssh://***@far"),
            ("npipe:////./pipe/docker", "npipe:////./pipe/docker"),
        ] {
            let error = with(&[("DOCKER_HOST", host)], &[]).unwrap_err().to_string();
            assert!(error.contains(shown) && !error.contains("secret"), "{error}");
        }
        let files = [(META, r#"{"Endpoints": {"docker": {"Host": "ssh://far"}}}"#)];
        let error = with(&[("HOME", "/h"), ("DOCKER_CONTEXT", "remote")], &files).unwrap_err().to_string();
        assert!(error.contains("ssh://far") && error.contains("context `remote`"), "{error}");
    }

    #[test]
    fn a_context_that_is_not_there_is_said() {
        let error = with(&[("HOME", "/h"), ("DOCKER_CONTEXT", "gone")], &[]).unwrap_err();
        assert!(matches!(error, ServerError::NoEngine { .. }), "{error}");
    }
}
