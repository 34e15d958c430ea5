//! The shape of a run's container.

use std::collections::{BTreeMap, HashMap};

use bollard::models::{
    ContainerCreateBody, ContainerInspectResponse, HostConfig, Mount, MountType, MountVolumeOptions,
    PortBinding,
};

use super::engine::Engine;
use super::image::Present;
use super::labels;
use super::volume::full_name;
use crate::server::compose::{Service, Source, parse_size};
use crate::server::{Needs, ServerError};
use crate::session::{Endpoint, Secret};

/// The server's port inside the container.
const PORT: &str = "5432/tcp";

/// The name of a server's container.
pub(in crate::server) fn name(id: &str) -> String {
    format!("planbook-{id}")
}

/// Everything that decides what the container is.
pub(super) struct Plan<'a> {
    pub service: &'a Service,
    pub present: &'a Present,
    pub flags: &'a BTreeMap<String, String>,
    pub password: &'a Secret,
    pub needs: &'a Needs,
}

impl Plan<'_> {
    /// The named volumes that it uses, in order, by the engine's names.
    pub fn volumes(&self) -> Vec<String> {
        let of_service = self.service.mounts.iter().filter_map(|one| match &one.source {
            Source::Volume(name) => Some(full_name(name)),
            _ => None,
        });
        let mut volumes: Vec<String> =
            of_service.chain(self.needs.volume.as_deref().map(full_name)).collect();
        volumes.sort();
        volumes.dedup();
        volumes
    }

    /// What the engine is asked for.
    pub fn body(&self, labels: HashMap<String, String>) -> Result<ContainerCreateBody, ServerError> {
        let mut environment = self.service.environment.clone();
        // The password is Planbook's own, whatever the file says; the image refuses two.
        environment.remove("POSTGRES_PASSWORD_FILE");
        environment.insert("POSTGRES_PASSWORD".into(), self.password.reveal().to_owned());
        let mut command = vec!["postgres".to_owned()];
        for (name, value) in self.flags {
            command.extend(["-c".to_owned(), format!("{name}={value}")]);
        }
        let host = PortBinding { host_ip: Some("127.0.0.1".into()), host_port: Some("0".into()) };
        let memory = self.memory()?;
        Ok(ContainerCreateBody {
            image: Some(self.present.name.clone()),
            cmd: Some(command),
            env: Some(environment.iter().map(|(name, value)| format!("{name}={value}")).collect()),
            labels: Some(labels),
            exposed_ports: Some(vec![PORT.to_owned()]),
            host_config: Some(HostConfig {
                port_bindings: Some(HashMap::from([(PORT.to_owned(), Some(vec![host]))])),
                memory,
                // Without this the engine grants as much swap again, and a run that swaps measures the disk.
                memory_swap: memory,
                shm_size: self.service.shm_bytes,
                mounts: Some(self.mounts()),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        })
    }

    fn memory(&self) -> Result<Option<i64>, ServerError> {
        let Some(asked) = &self.needs.memory else { return Ok(self.service.memory_bytes) };
        parse_size(asked).map(Some).ok_or_else(|| ServerError::BadMemory { given: asked.clone() })
    }

    fn mounts(&self) -> Vec<Mount> {
        let mut mounts: Vec<Mount> = Vec::new();
        for one in &self.service.mounts {
            mounts.push(match &one.source {
                Source::Anonymous => mount(MountType::VOLUME, None, &one.target, one.read_only),
                Source::Volume(name) => named_volume(&full_name(name), &one.target, one.read_only),
                Source::Host(path) => {
                    // The engine wants it absolute.
                    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                    mount(MountType::BIND, Some(path.display().to_string()), &one.target, one.read_only)
                }
            });
        }
        let data = self.present.volume.as_deref().unwrap_or("/var/lib/postgresql/data");
        mounts.extend(self.needs.volume.as_deref().map(|name| named_volume(&full_name(name), data, false)));
        mounts
    }
}

fn mount(typ: MountType, source: Option<String>, target: &str, read_only: bool) -> Mount {
    let target = Some(target.to_owned());
    Mount { typ: Some(typ), source, target, read_only: Some(read_only), ..Mount::default() }
}

fn named_volume(name: &str, target: &str, read_only: bool) -> Mount {
    let labels = HashMap::from([(labels::VOLUME.to_owned(), name.to_owned())]);
    let options = MountVolumeOptions { labels: Some(labels), ..MountVolumeOptions::default() };
    let plain = mount(MountType::VOLUME, Some(name.to_owned()), target, read_only);
    Mount { volume_options: Some(options), ..plain }
}

/// Where the server's port is published on our loopback.
pub(super) fn host_port(container: &ContainerInspectResponse) -> Option<u16> {
    let ports = container.network_settings.as_ref()?.ports.as_ref()?;
    let bindings = ports.get(PORT)?.as_ref()?;
    bindings.iter().find_map(|one| one.host_port.as_ref()?.parse().ok().filter(|port| *port > 0))
}

/// Gives the role this run's password, through the socket inside the container, where the image trusts its own.
pub(super) fn set_password(engine: &Engine, container: &str, endpoint: &Endpoint) -> Result<(), ServerError> {
    let password = endpoint.password.as_ref().map_or("", Secret::reveal);
    let quoted_role = endpoint.user.replace('"', "\"\"");
    let statement = format!("ALTER ROLE \"{quoted_role}\" PASSWORD '{password}'");
    // Through the environment and a pipe: a process's arguments can be read by anybody on the machine.
    // Where the socket lies, the fifth line of postmaster.pid tells: server and psql need not agree on it.
    let script = "socket=$(sed -n 5p \"${PGDATA:-/var/lib/postgresql/data}/postmaster.pid\" 2>/dev/null)\n\
        printf '%s\\n' \"$PLANBOOK_STATEMENT\" | \
        psql -X -q -v ON_ERROR_STOP=1 ${socket:+-h \"$socket\"} -U \"$PLANBOOK_ROLE\" -d postgres";
    let environment = [format!("PLANBOOK_STATEMENT={statement}"), format!("PLANBOOK_ROLE={}", endpoint.user)];
    match engine.exec(container, &["sh", "-c", script], &environment)? {
        (0, _) => Ok(()),
        (code, said) => Err(ServerError::OldPassword {
            problem: format!("psql ended with code {code}: {}", said.trim().replace(password, "***")),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::compose::Compose;

    #[test]
    fn the_container_is_what_compose_and_the_notebook_ask_for() {
        let file = Compose::shipped().unwrap();
        let service = file.service("pg18", &|_: &str| Some("from compose".into())).err();
        assert!(service.is_some(), "a word is no image");
        let service =
            file.service("pg18", &|name: &str| (name == "PLANBOOK_PASSWORD").then(|| "x".into())).unwrap();
        let present = Present { name: "p@sha256:1".into(), volume: Some("/var/lib/postgresql".into()) };
        let needs = Needs { memory: Some("6gb".into()), volume: Some("cache".into()), ..Needs::default() };
        let flags = BTreeMap::from([("work_mem".to_owned(), "4MB".to_owned())]);
        let password = Secret::new("ours");
        let plan =
            Plan { service: &service, present: &present, flags: &flags, password: &password, needs: &needs };
        assert_eq!(plan.volumes(), ["planbook-cache"]);
        let body = plan.body(HashMap::new()).unwrap();
        assert_eq!(body.cmd.unwrap(), ["postgres", "-c", "work_mem=4MB"]);
        assert!(body.env.unwrap().contains(&"POSTGRES_PASSWORD=ours".to_owned()));
        let host = body.host_config.unwrap();
        assert_eq!(
            (host.memory, host.memory_swap, host.shm_size),
            (Some(6 << 30), Some(6 << 30), Some(1 << 30))
        );
        let binding = &host.port_bindings.unwrap()[PORT].clone().unwrap()[0];
        assert_eq!(binding.host_ip.as_deref(), Some("127.0.0.1"));
        let mounts = host.mounts.unwrap();
        assert_eq!(mounts[0].target.as_deref(), Some("/var/lib/postgresql"));
        assert_eq!(mounts[0].source.as_deref(), Some("planbook-cache"));
        let wrong = Needs { memory: Some("lots".into()), ..Needs::default() };
        assert!(Plan { needs: &wrong, ..plan }.body(HashMap::new()).is_err());
    }
}
