//! compose.yaml, the one source of the image, its pin, the server flags, the memory and the volumes.
//!
//! The file means to Planbook what it means to `docker compose`. A key that Planbook cannot honour is refused by name,
//! and only in the service that is used: an application's file may hold others.

mod image;
mod interpolate;
mod service;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

pub use image::ImageRef;
use interpolate::Lookup;
pub(super) use service::{Service, Source, parse_size};

use super::ServerError;

/// The file that ships with the program.
const SHIPPED: &str = include_str!("../../../compose.yaml");

/// The service that a run uses unless told otherwise.
pub(super) const DEFAULT_SERVICE: &str = "pg16";

/// A compose file, read and not yet interpreted.
#[derive(Debug)]
pub(super) struct Compose {
    /// How errors name it.
    name: String,
    /// Relative paths of volumes start here.
    dir: PathBuf,
    services: Map<String, Value>,
}

impl Compose {
    /// The file that ships with the program.
    pub fn shipped() -> Result<Self, ServerError> {
        Self::read(SHIPPED, "compose.yaml", Path::new("."))
    }

    /// A file of the user's own.
    pub fn open(path: &Path) -> Result<Self, ServerError> {
        let text = std::fs::read_to_string(path).map_err(|source| ServerError::Compose {
            file: path.display().to_string(),
            problem: source.to_string(),
        })?;
        Self::read(&text, &path.display().to_string(), path.parent().unwrap_or(Path::new(".")))
    }

    fn read(text: &str, name: &str, dir: &Path) -> Result<Self, ServerError> {
        let fail = |problem: String| ServerError::Compose { file: name.to_owned(), problem };
        // `off` and `on` stay words, as in YAML 1.2 and in docker compose.
        let options = serde_yaml::options! { strict_booleans: true };
        let file: Value =
            serde_yaml::from_str_with_options(text, options).map_err(|error| fail(error.to_string()))?;
        let services = file.get("services").and_then(Value::as_object);
        let services = services.ok_or_else(|| fail("there is no mapping `services`".to_owned()))?;
        Ok(Self { name: name.to_owned(), dir: dir.to_owned(), services: services.clone() })
    }

    /// The server flags of one service, all that a server without a container takes from it.
    pub fn flags(&self, name: &str) -> Result<BTreeMap<String, String>, ServerError> {
        // Its password and its image do not matter then.
        let lookup = |variable: &str| match variable {
            "PLANBOOK_PASSWORD" => Some(String::new()),
            _ => std::env::var(variable).ok(),
        };
        let map = self.find(name)?;
        Service::read_flags(map, &lookup).map_err(|problem| self.fail(format!("services.{name}.{problem}")))
    }

    /// One service, with its variables filled in.
    pub fn service(&self, name: &str, lookup: Lookup<'_>) -> Result<Service, ServerError> {
        let map = self.find(name)?;
        Service::read(map, &self.dir, lookup)
            .map_err(|problem| self.fail(format!("services.{name}.{problem}")))
    }

    fn find(&self, name: &str) -> Result<&Map<String, Value>, ServerError> {
        self.services.get(name).and_then(Value::as_object).ok_or_else(|| {
            let known: Vec<&str> = self.services.keys().map(String::as_str).collect();
            self.fail(format!("there is no service `{name}`; there is {}", known.join(", ")))
        })
    }

    fn fail(&self, problem: String) -> ServerError {
        ServerError::Compose { file: self.name.clone(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        (name == "PLANBOOK_PASSWORD").then(|| "secret".to_owned())
    }

    fn problem(text: &str) -> String {
        let file = Compose::read(text, "c.yaml", Path::new("/app"));
        file.and_then(|file| file.service("db", &lookup)).unwrap_err().to_string()
    }

    #[test]
    fn the_shipped_file_holds_the_three_pinned_services() {
        let file = Compose::shipped().unwrap();
        for (name, image) in [
            (
                "pg16",
                "postgres:16.14@sha256:17e67d7b9890c99b055ba1e0d5c5be4ec27c9d3a72bda32db24a5e5d8a85af0c",
            ),
            (
                "pg17",
                "postgres:17.11@sha256:f4c66b820c6f974249089d3d16d86a3698eae11e8746eb6644b2271031e91232",
            ),
            ("pg18", "postgres:18.6@sha256:86c951e05bf56c93d95d397747fb8820ac76cc3bedb78f43abd83eedbe3666ae"),
        ] {
            let service = file.service(name, &lookup).unwrap();
            assert_eq!(service.image.to_string(), image);
            assert!(service.image.digest().is_some());
            assert_eq!((service.shm_bytes, service.memory_bytes), (Some(1 << 30), Some(4 << 30)));
            assert_eq!(service.environment["POSTGRES_PASSWORD"], "secret");
            let flags: Vec<(&str, &str)> =
                service.flags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let expected = [
                ("autovacuum", "off"),
                ("listen_addresses", "*"),
                ("log_timezone", "UTC"),
                ("max_connections", "20"),
                ("max_wal_size", "4GB"),
                ("shared_buffers", "1GB"),
                ("synchronize_seqscans", "off"),
                ("timezone", "UTC"),
                ("track_io_timing", "on"),
            ];
            assert_eq!(flags, expected);
        }
    }

    #[test]
    fn a_variable_of_its_own_names_another_image() {
        let digest = "a".repeat(64);
        let other = format!("localhost:5000/postgres:15.18@sha256:{digest}");
        let lookup = |name: &str| match name {
            "PLANBOOK_PG17_IMAGE" => Some(other.clone()),
            name => lookup(name),
        };
        let file = Compose::shipped().unwrap();
        assert_eq!(file.service("pg17", &lookup).unwrap().image.to_string(), other);
        assert!(file.service("pg16", &lookup).unwrap().image.to_string().starts_with("postgres:16.14@"));
    }

    #[test]
    fn an_absent_password_is_said_in_the_files_own_words() {
        let error = Compose::shipped().unwrap().service("pg16", &|_: &str| None).unwrap_err().to_string();
        assert!(
            error.contains("services.pg16.environment") && error.contains("set PLANBOOK_PASSWORD"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_by_name() {
        for (service, expected) in [
            ("{image: 'a:1', networks: [x]}", "services.db.networks: Planbook cannot honour it"),
            ("{build: .}", "services.db.build: Planbook cannot honour it"),
            ("{command: postgres}", "services.db.image: it is missing"),
            ("{image: 'a:1', shm_size: lots}", "services.db.shm_size: `lots` is not a size"),
            ("{image: 'a:1', command: [sh, -c, postgres]}", "services.db.command"),
            ("{image: 'a:1', volumes: ['//x']}", "services.db.volumes"),
            ("{image: 'a@sha256:12'}", "services.db.image: `sha256:12` is not a digest"),
            ("{image: 'a:$'}", "services.db.image"),
        ] {
            let error = problem(&format!("services:\n  db: {service}\n"));
            assert!(error.starts_with("c.yaml: ") && error.contains(expected), "{service}: {error}");
        }
        assert!(problem("services: {web: {}}").contains("no service `db`; there is web"));
        assert!(problem("service: {}").contains("no mapping `services`"));
        assert!(problem("services: [").contains("line"), "{}", problem("services: ["));
    }

    #[test]
    fn other_services_and_replaced_keys_do_not_matter() {
        let text = "services:\n  web: {build: .}\n  db:\n    image: p:1\n    ports: ['5432:5432']\n    restart: always\n    \
                    container_name: x\n    healthcheck: {test: x}\n    x-note: y\n    command: -c work_mem=4MB -c 'a.b=c d'\n    \
                    environment: ['A=b', PLANBOOK_PASSWORD, UNSET]\n    mem_limit: 512m\n    volumes:\n      - data:/var/lib/postgresql/data\n      \
                    - ./sql:/docker-entrypoint-initdb.d:ro\n      - {type: volume, source: v, target: /t}\n      - /anonymous\n";
        let service =
            Compose::read(text, "c.yaml", Path::new("/app")).unwrap().service("db", &lookup).unwrap();
        assert_eq!(service.flags["work_mem"], "4MB");
        assert_eq!(service.flags["a.b"], "c d");
        assert_eq!(service.environment["PLANBOOK_PASSWORD"], "secret");
        assert!(!service.environment.contains_key("UNSET"));
        assert_eq!(service.memory_bytes, Some(512 << 20));
        let mounts: Vec<String> = service.mounts.iter().map(ToString::to_string).collect();
        assert_eq!(
            mounts,
            [
                "data:/var/lib/postgresql/data",
                "/app/sql:/docker-entrypoint-initdb.d:ro",
                "v:/t",
                "/anonymous"
            ]
        );
    }
}
