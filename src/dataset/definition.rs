//! What a dataset is, whichever server holds it: everything rendered and read, and a hash over it.

use std::fs;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::notebook::{CopyFrom, Dataset, Part, Place, Statistics, Values};
use crate::server::Identity;
use crate::sql;
use crate::template::{self, Context};

use super::DatasetError;
use super::pin::Pin;

/// Changes when a build does something else with the same definition: no older cache is used then.
const FORMAT: u32 = 1;

/// A dataset ready to be built.
#[derive(Debug)]
pub(super) struct Definition<'a> {
    pub steps: Vec<Step<'a>>,
    pub verify: Vec<(String, Place)>,
    /// The statistics to restore, where they are pinned.
    pub pin: Option<Pin>,
    /// SHA-256 of all that defines it, in hexadecimal.
    pub hash: String,
}

/// One thing to do, and where the file says so.
#[derive(Debug)]
pub(super) enum Step<'a> {
    Statement(String, Place),
    Copy(&'a CopyFrom),
}

impl<'a> Definition<'a> {
    /// Renders every template and reads every file of the dataset.
    pub fn of(dataset: &'a Dataset) -> Result<Self, DatasetError> {
        let mut steps = Vec::new();
        for part in &dataset.parts {
            match part {
                Part::Sql(template) => {
                    split(&render(&template.text, &dataset.params, template.at)?, template.at, &mut steps)?;
                }
                Part::File(file) => {
                    let text = fs::read_to_string(&file.path).map_err(|source| DatasetError::File {
                        path: file.path.clone(),
                        source,
                        at: file.at,
                    })?;
                    split(&text, file.at, &mut steps)?;
                }
                Part::Copy(copy) => steps.push(Step::Copy(copy)),
            }
        }
        let verify: Vec<(String, Place)> = dataset
            .verify
            .iter()
            .map(|template| Ok((render(&template.text, &dataset.params, template.at)?, template.at)))
            .collect::<Result<_, DatasetError>>()?;
        let pin = match dataset.statistics {
            Statistics::Sampled => None,
            Statistics::Pinned => Some(Pin::read(dataset)?),
        };
        let hash = hash(&steps, &verify, pin.as_ref());
        Ok(Self { steps, verify, pin, hash })
    }

    /// What a cached build depends on: the definition, and what the server is.
    pub fn cache_key(&self, server: &Identity) -> String {
        sha256(&json!({ "definition": self.hash, "server": identity(server) }))
    }
}

/// The server without its machine: the same files serve any machine that runs the same binaries.
fn identity(server: &Identity) -> Value {
    json!({
        "kind": server.kind,
        "version": server.version,
        "block_size": server.block_size,
        "checksums": server.data_checksums,
        "locale": [server.encoding, server.collate, server.ctype],
        "asked": server.settings_asked,
        "image": server.container.as_ref().map(|container| container.image.id.clone()),
    })
}

fn hash(steps: &[Step<'_>], verify: &[(String, Place)], pin: Option<&Pin>) -> String {
    let steps: Vec<Value> = steps
        .iter()
        .map(|step| match step {
            Step::Statement(sql, _) => Value::from(sql.as_str()),
            Step::Copy(copy) => json!([copy.into, copy.options, copy.from.hash]),
        })
        .collect();
    let verify: Vec<&str> = verify.iter().map(|(sql, _)| sql.as_str()).collect();
    sha256(&json!({ "format": FORMAT, "steps": steps, "verify": verify, "pin": pin }))
}

/// SHA-256 of a JSON text, in hexadecimal.
pub(super) fn sha256(value: &Value) -> String {
    Sha256::digest(value.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn render(text: &str, params: &Values, at: Place) -> Result<String, DatasetError> {
    let context = Context::new().with(params);
    template::render_sql(text, &context).map_err(|source| DatasetError::Template { source, at })
}

fn split(text: &str, at: Place, steps: &mut Vec<Step<'_>>) -> Result<(), DatasetError> {
    let statements = sql::split_statements(text).map_err(|source| DatasetError::Split { source, at })?;
    steps.extend(statements.into_iter().map(|statement| Step::Statement(statement.text, at)));
    Ok(())
}
