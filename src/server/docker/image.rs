//! Brings the image of a service, and makes sure that it is the one that is pinned.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bollard::models::{CreateImageInfo, ImageInspect};
use serde::{Deserialize, Serialize};

use super::engine::Engine;
use crate::server::compose::{ImageRef, Service};
use crate::server::{Needs, ServerError};

/// How often a pull reports.
const REPORT: Duration = Duration::from_secs(2);

/// How an image's identity is vouched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pin {
    /// The digest of the reference is among the image's own.
    Digest,
    /// The image came without a digest (`docker load`), and its id is listed beside the pin.
    Id,
    /// The reference has no digest: what was measured cannot be had again for sure.
    None,
}

/// The image that a container runs, as its engine tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The reference that was asked for.
    pub reference: String,
    /// What compose.yaml itself pins, where a variable named another image in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// The digest that the engine knows the image by; the pinned one where it is among them.
    pub digest: Option<String>,
    /// The id of the image for this platform.
    pub id: String,
    /// Such as linux/amd64.
    pub platform: String,
    /// How it is vouched for.
    pub pin: Pin,
}

/// An image that is on the engine: what to create a container from.
#[derive(Debug)]
pub(super) struct Present {
    /// The name or id by which the engine finds it.
    pub name: String,
    /// The first volume that the image declares.
    pub volume: Option<String>,
}

/// Finds the image on the engine or pulls it, and checks it against its pin.
pub(super) fn bring(
    engine: &Engine,
    service: &Service,
    needs: &Needs,
    talk: &mut dyn FnMut(&str),
) -> Result<Present, ServerError> {
    let wanted = &service.image;
    if wanted.digest().is_none() && !needs.allow_unpinned {
        return Err(ServerError::Unpinned { image: wanted.to_string() });
    }
    let name = wanted.request();
    if let Some(found) = engine.image(&name)? {
        return check(wanted, &found).map(|()| present(name, &found));
    }
    for id in &service.image_ids {
        if let Some(found) = engine.image(id)? {
            return Ok(present(id.clone(), &found));
        }
    }
    talk(&format!("pulling {}", wanted.short()));
    let mut progress = Progress::new(wanted.short());
    let pulled = engine.pull(&name, &needs.stop, &mut |info| {
        if let Some(line) = progress.line(info) {
            talk(&line);
        }
    })?;
    let missing = |problem: String| ServerError::NoImage { image: wanted.to_string(), problem };
    pulled.map_err(missing)?;
    let found =
        engine.image(&name)?.ok_or_else(|| missing("the engine pulled it and has not got it".to_owned()))?;
    check(wanted, &found)?;
    Ok(present(name, &found))
}

fn present(name: String, image: &ImageInspect) -> Present {
    let declared = image.config.as_ref().and_then(|config| config.volumes.clone()).unwrap_or_default();
    Present { name, volume: declared.into_iter().min() }
}

/// The pinned digest must be one of those that the engine knows the image by.
fn check(wanted: &ImageRef, found: &ImageInspect) -> Result<(), ServerError> {
    let Some(digest) = wanted.digest() else { return Ok(()) };
    let known = digests(found);
    if known.iter().any(|one| one == digest) {
        return Ok(());
    }
    Err(ServerError::WrongDigest { image: wanted.to_string(), found: known.join(", ") })
}

/// The digests of an image, without the repositories' names.
fn digests(image: &ImageInspect) -> Vec<String> {
    let known = image.repo_digests.iter().flatten();
    let mut digests: Vec<String> = known.filter_map(|one| Some(one.rsplit_once('@')?.1.to_owned())).collect();
    digests.sort();
    digests.dedup();
    digests
}

impl Image {
    /// Describes the image of a running container, which the engine names by its id.
    pub(super) fn of_container(engine: &Engine, id: &str, service: &Service) -> Result<Self, ServerError> {
        let missing = || ServerError::Engine { action: "look at an image", problem: format!("{id} is gone") };
        let found = engine.image(id)?.ok_or_else(missing)?;
        let known = digests(&found);
        let wanted = service.image.digest();
        let pinned = known.iter().find(|one| wanted == Some(one.as_str())).cloned();
        let pin = match (&pinned, wanted) {
            (Some(_), _) => Pin::Digest,
            (None, Some(_)) if service.image_ids.iter().any(|one| one == id) => Pin::Id,
            (None, Some(_)) => {
                return Err(ServerError::WrongDigest {
                    image: service.image.to_string(),
                    found: known.join(", "),
                });
            }
            (None, None) => Pin::None,
        };
        let platform = [found.os, found.architecture, found.variant.filter(|variant| !variant.is_empty())];
        Ok(Self {
            reference: service.image.to_string(),
            instead_of: None,
            digest: pinned.or_else(|| known.first().cloned()),
            id: id.to_owned(),
            platform: platform.into_iter().flatten().collect::<Vec<_>>().join("/"),
            pin,
        })
    }
}

/// Adds up the layers of a pull.
struct Progress {
    image: String,
    /// Bytes here and bytes in all, by layer.
    layers: BTreeMap<String, (i64, i64)>,
    told: Instant,
}

impl Progress {
    fn new(image: String) -> Self {
        Self { image, layers: BTreeMap::new(), told: Instant::now() }
    }

    /// What to say now, if anything.
    fn line(&mut self, info: &CreateImageInfo) -> Option<String> {
        let detail = info.progress_detail.as_ref()?;
        let layer = info.id.clone()?;
        // Extraction counts the same bytes again.
        if info.status.as_deref() != Some("Downloading") {
            return None;
        }
        self.layers.insert(layer, (detail.current?, detail.total?));
        if self.told.elapsed() < REPORT {
            return None;
        }
        self.told = Instant::now();
        let (here, all) = self.layers.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Some(format!("pulling {}: {} of {} MB", self.image, here / 1_000_000, all / 1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_that_is_not_the_pinned_one_is_refused() {
        let (right, wrong) = (format!("sha256:{}", "1".repeat(64)), format!("sha256:{}", "2".repeat(64)));
        let wanted: ImageRef = format!("postgres:1@{right}").parse().unwrap();
        let image = |digest: &str| ImageInspect {
            repo_digests: Some(vec![format!("postgres@{digest}")]),
            ..ImageInspect::default()
        };
        assert!(check(&wanted, &image(&right)).is_ok());
        let error = check(&wanted, &image(&wrong)).unwrap_err().to_string();
        assert!(error.contains(&wrong) && error.contains(&right), "{error}");
    }
}
