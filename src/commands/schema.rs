//! `planbook schema`

use crate::cli::{SchemaArgs, SchemaKind};
use crate::notebook;

use super::{CommandError, talk};

/// Prints the JSON Schema of notebooks or dataset files.
pub(super) fn run(args: &SchemaArgs) -> Result<u8, CommandError> {
    let schema = match args.kind {
        SchemaKind::Notebook => notebook::notebook_schema(),
        SchemaKind::Dataset => notebook::dataset_schema(),
    };
    talk::print(format_args!("{schema:#}\n"));
    Ok(0)
}
