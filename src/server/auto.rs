//! `--server auto`: the first way to a server that is open, and one line that says which and why.

use super::compose::ImageRef;
use super::docker::Docker;
use super::docker::engine::Engine;
use super::local::Local;
use super::{Kind, Needs, Running, ServerError};

/// Docker where an engine answers and the image is there or can be pulled; else the binaries of this machine; else
/// binaries that the machine's pip or uv brings.
pub(super) fn start(needs: &Needs, talk: &mut dyn FnMut(&str)) -> Result<Running, ServerError> {
    let mut reasons = Vec::new();
    let engine = Engine::open();
    match engine.and_then(|engine| Docker::start(engine, None, needs, talk)) {
        Ok(docker) => return Ok(Running::Docker(Box::new(docker))),
        Err(error) if is_closed(&error) => reasons.push(reason(&error)),
        Err(error) => return Err(error),
    }
    match Local::start(Kind::Local, None, needs, talk) {
        Ok(local) => {
            talk(&format!("server: local, since {}", reasons.join("; ")));
            return Ok(Running::Local(Box::new(local)));
        }
        Err(error) if is_closed(&error) => reasons.push(reason(&error)),
        Err(error) => return Err(error),
    }
    match super::start_embedded(None, needs, talk) {
        Ok(embedded) => {
            talk(&format!("server: embedded, since {}", reasons.join("; ")));
            Ok(embedded)
        }
        Err(error) if is_closed(&error) => {
            reasons.push(reason(&error));
            Err(ServerError::NoWay { reasons })
        }
        Err(error) => Err(error),
    }
}

/// Why a way is closed, in few words.
fn reason(error: &ServerError) -> String {
    match error {
        ServerError::NoImage { image, .. } => {
            let short = image.parse::<ImageRef>().map_or_else(|_| image.clone(), |image| image.short());
            format!("docker answers, but {short} is not here and could not be pulled")
        }
        ServerError::NoBinaries { .. } => "no PostgreSQL server binaries are here".to_owned(),
        error => error.to_string(),
    }
}

/// Whether the way is not open here at all. Whatever else goes wrong is told, not worked around.
fn is_closed(error: &ServerError) -> bool {
    matches!(
        error,
        ServerError::NoEngine { .. }
            | ServerError::RemoteEngine { .. }
            | ServerError::NoImage { .. }
            | ServerError::NoBinaries { .. }
            | ServerError::NoWheel { .. }
            | ServerError::NoInstaller
            | ServerError::Install { .. }
    )
}
