//! The template database of a dataset: found as an earlier run left it, or built.

use sha2::{Digest, Sha256};

use crate::notebook::Dataset;
use crate::server::Server;
use crate::session::Session;

use super::build::{self, tell};
use super::{DatasetError, Watch, Watched};

/// A dataset that is there.
#[derive(Debug, Clone)]
pub struct Built {
    /// The database that holds it. Nobody connects to it: clone it.
    pub template: String,
}

/// Builds the dataset into its template database.
///
/// # Errors
/// The first statement that fails, with its place in the dataset's file.
pub fn prepare(server: &Server, dataset: &Dataset, watch: &mut Watch<'_>) -> Result<Built, DatasetError> {
    let template = template_name(dataset);
    server.drop_database(&template)?;
    server.create_database(&template, None)?;
    let mut session = Session::connect(server.endpoint(), &template)?;
    tell(watch, Watched::Session(session.canceller()))?;
    build::build(&mut session, dataset, watch)?;
    Ok(Built { template })
}

fn template_name(dataset: &Dataset) -> String {
    let hash: String = Sha256::digest(dataset.source.text.as_bytes())
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("planbook_{}_{hash}", std::process::id())
}
