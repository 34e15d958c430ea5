//! One Docker engine, with methods that block. The `postgres` crate must not run inside an asynchronous runtime, so the
//! runtime lives here alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bollard::errors::Error;
use bollard::exec::{CreateExecOptions, StartExecResults};
use bollard::models::{
    ContainerCreateBody, ContainerInspectResponse, ContainerSummary, CreateImageInfo, ImageInspect,
};
use bollard::query_parameters::{
    CreateContainerOptions, CreateImageOptions, InspectContainerOptions, ListContainersOptions,
    ListVolumesOptions, LogsOptions, RemoveContainerOptions, RemoveVolumeOptions, StartContainerOptions,
    StopContainerOptions,
};
use bollard::{API_DEFAULT_VERSION, Docker};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use super::address;
use crate::server::ServerError;

/// How long the engine may take for one answer, in seconds.
const PATIENCE: u64 = 120;

/// How often a waiting call looks whether the user asked to stop.
const TICK: Duration = Duration::from_millis(50);

/// What an engine is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// `docker` or `podman`.
    pub name: String,
    /// The engine's version.
    pub version: String,
    /// The version of the interface that is spoken with it.
    pub api: String,
}

/// An engine that answers.
#[derive(Debug)]
pub(in crate::server) struct Engine {
    runtime: Runtime,
    docker: Docker,
    pub socket: PathBuf,
    pub facts: EngineFacts,
}

impl Engine {
    /// The engine of `DOCKER_HOST`, of the docker client's context, or of the first usual socket that answers.
    pub fn open() -> Result<Self, ServerError> {
        let found = address::candidates()?;
        let mut problems = Vec::new();
        for socket in &found.sockets {
            if found.origin.is_none() && !socket.exists() {
                continue;
            }
            match Self::at(socket) {
                Ok(engine) => return Ok(engine),
                Err(problem) => problems.push(format!("{}: {problem}", socket.display())),
            }
        }
        let by = found.origin.map(|origin| format!(" (named by {origin})")).unwrap_or_default();
        let problem = if problems.is_empty() {
            "none of the usual sockets is there".to_owned()
        } else {
            format!("{}{by}", problems.join("; "))
        };
        Err(ServerError::NoEngine { problem })
    }

    /// The engine behind one socket; the error in plain words.
    pub fn at(socket: &Path) -> Result<Self, String> {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let address = socket.display().to_string();
        let docker =
            Docker::connect_with_unix(&address, PATIENCE, API_DEFAULT_VERSION).map_err(|e| words(&e))?;
        let (docker, version) = runtime
            .block_on(async {
                let docker = docker.negotiate_version().await?;
                let version = docker.version().await?;
                Ok::<_, Error>((docker, version))
            })
            .map_err(|error| words(&error))?;
        let components = version.components.unwrap_or_default();
        let podman = components.iter().any(|part| part.name.to_lowercase().contains("podman"));
        let facts = EngineFacts {
            name: if podman { "podman" } else { "docker" }.to_owned(),
            version: version.version.unwrap_or_default(),
            api: docker.client_version().to_string(),
        };
        Ok(Self { runtime, docker, socket: socket.to_owned(), facts })
    }

    /// Runs a call to its end.
    fn call<T>(
        &self,
        action: &'static str,
        future: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, ServerError> {
        self.runtime.block_on(future).map_err(|error| ServerError::Engine { action, problem: words(&error) })
    }

    /// An image by name, digest or id; none where the engine has not got it.
    pub fn image(&self, name: &str) -> Result<Option<ImageInspect>, ServerError> {
        absent_as_none(self.runtime.block_on(self.docker.inspect_image(name)))
            .map_err(|error| ServerError::Engine { action: "look at an image", problem: words(&error) })
    }

    /// Pulls an image, telling `progress` what arrives. The error in the engine's or the registry's words.
    pub fn pull(
        &self,
        name: &str,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(&CreateImageInfo),
    ) -> Result<Result<(), String>, ServerError> {
        let options =
            CreateImageOptions { from_image: Some(name.to_owned()), ..CreateImageOptions::default() };
        let mut stream = pin!(self.docker.create_image(Some(options), None, None));
        self.runtime.block_on(async {
            loop {
                match select(stream.next(), pin!(sleep(TICK))).await {
                    Either::Left((None, _)) => return Ok(Ok(())),
                    Either::Left((Some(Ok(info)), _)) => progress(&info),
                    Either::Left((Some(Err(error)), _)) => return Ok(Err(words(&error))),
                    Either::Right(_) => {}
                }
                if stop.load(Ordering::Relaxed) {
                    return Err(ServerError::Interrupted);
                }
            }
        })
    }

    /// Makes a container; its id.
    pub fn create(&self, name: &str, body: ContainerCreateBody) -> Result<String, ServerError> {
        let options =
            CreateContainerOptions { name: Some(name.to_owned()), ..CreateContainerOptions::default() };
        let made = self.call("create a container", self.docker.create_container(Some(options), body))?;
        Ok(made.id)
    }

    /// Starts a container.
    pub fn start(&self, id: &str) -> Result<(), ServerError> {
        self.call("start a container", self.docker.start_container(id, None::<StartContainerOptions>))
    }

    /// A container; none where there is none of this name.
    pub fn container(&self, id: &str) -> Result<Option<ContainerInspectResponse>, ServerError> {
        absent_as_none(
            self.runtime.block_on(self.docker.inspect_container(id, None::<InspectContainerOptions>)),
        )
        .map_err(|error| ServerError::Engine { action: "look at a container", problem: words(&error) })
    }

    /// Stops a container as its image asks, by force when that takes longer than `patience` seconds.
    pub fn stop(&self, id: &str, patience: i32) -> Result<(), ServerError> {
        let options = StopContainerOptions { t: Some(patience), ..StopContainerOptions::default() };
        absent_as_none(self.runtime.block_on(self.docker.stop_container(id, Some(options))))
            .map(drop)
            .or_else(|error| match error {
                Error::DockerResponseServerError { status_code: 304, .. } => Ok(()),
                error => Err(ServerError::Engine { action: "stop a container", problem: words(&error) }),
            })
    }

    /// Removes a container with its anonymous volumes, running or not; one that is gone is no error.
    pub fn remove(&self, id: &str) -> Result<(), ServerError> {
        let options = RemoveContainerOptions { v: true, force: true, link: false };
        absent_as_none(self.runtime.block_on(self.docker.remove_container(id, Some(options))))
            .map(drop)
            .or_else(|error| match error {
                // Somebody else is removing it: it is gone when they are done.
                Error::DockerResponseServerError { status_code: 409, ref message }
                    if message.contains("already in progress") =>
                {
                    Ok(())
                }
                error => Err(ServerError::Engine { action: "remove a container", problem: words(&error) }),
            })
    }

    /// The names of the volumes that bear a label.
    pub fn volumes(&self, label: &str) -> Result<Vec<String>, ServerError> {
        let filters = HashMap::from([("label".to_owned(), vec![label.to_owned()])]);
        let options = ListVolumesOptions { filters: Some(filters) };
        let answer = self.call("list volumes", self.docker.list_volumes(Some(options)))?;
        Ok(answer.volumes.unwrap_or_default().into_iter().map(|volume| volume.name).collect())
    }

    /// Removes a volume; one that is gone is no error.
    pub fn remove_volume(&self, name: &str) -> Result<(), ServerError> {
        let answer = self.runtime.block_on(self.docker.remove_volume(name, None::<RemoveVolumeOptions>));
        absent_as_none(answer)
            .map(drop)
            .map_err(|error| ServerError::Engine { action: "remove a volume", problem: words(&error) })
    }

    /// The containers, running or not, that a filter such as `label` or `volume` lets through.
    pub fn containers(&self, filter: &str, value: &str) -> Result<Vec<ContainerSummary>, ServerError> {
        let filters = HashMap::from([(filter.to_owned(), vec![value.to_owned()])]);
        let options =
            ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
        self.call("list containers", self.docker.list_containers(Some(options)))
    }

    /// The last lines of a container's log.
    pub fn log(&self, id: &str, lines: usize) -> Result<String, ServerError> {
        let options =
            LogsOptions { stdout: true, stderr: true, tail: lines.to_string(), ..LogsOptions::default() };
        let mut stream = pin!(self.docker.logs(id, Some(options)));
        self.call("read a container's log", async {
            let mut text = String::new();
            while let Some(part) = stream.next().await {
                text.push_str(&part?.to_string());
            }
            Ok(text)
        })
    }

    /// Runs a command inside a container to its end: its exit code and what it printed.
    pub fn exec(
        &self,
        id: &str,
        command: &[&str],
        environment: &[String],
    ) -> Result<(i64, String), ServerError> {
        let options = CreateExecOptions {
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            cmd: Some(command.iter().map(|word| (*word).to_owned()).collect()),
            env: Some(environment.to_vec()),
            ..CreateExecOptions::default()
        };
        self.call("run a command in a container", async {
            let exec = self.docker.create_exec(id, options).await?;
            let mut text = String::new();
            if let StartExecResults::Attached { mut output, .. } =
                self.docker.start_exec(&exec.id, None).await?
            {
                while let Some(part) = output.next().await {
                    text.push_str(&part?.to_string());
                }
            }
            let code = self.docker.inspect_exec(&exec.id).await?.exit_code.unwrap_or(-1);
            Ok((code, text))
        })
    }
}

fn absent_as_none<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::DockerResponseServerError { status_code: 404, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The engine's own message where it sent one, else every cause in a row.
fn words(error: &Error) -> String {
    use std::error::Error as _;
    let (Error::DockerResponseServerError { message: text, .. } | Error::DockerStreamError { error: text }) =
        error
    else {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(deeper) = cause {
            let words = deeper.to_string();
            if !text.contains(&words) {
                text = format!("{text}: {words}");
            }
            cause = deeper.source();
        }
        return text;
    };
    text.trim().to_owned()
}
