//! The JSON Schemas of notebooks and datasets, from the types that read them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::wire;

/// The JSON Schema (2020-12) of a notebook.
#[must_use]
pub fn notebook_schema() -> Value {
    schema::<wire::Notebook>("Planbook notebook")
}

/// The JSON Schema (2020-12) of a dataset file.
#[must_use]
pub fn dataset_schema() -> Value {
    schema::<wire::Dataset>("Planbook dataset")
}

fn schema<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), Value::from(title));
    }
    schema
}
