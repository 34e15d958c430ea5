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
    without_null(&mut schema);
    schema
}

/// Takes out the `null` that schemars allows for every optional key: a key is left out or has a value.
fn without_null(schema: &mut Value) {
    if let Some(array) = schema.as_array_mut() {
        array.iter_mut().for_each(without_null);
    }
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if choices.len() == 1
            && let Some(Value::Object(only)) = choices.pop()
        {
            object.shift_remove("anyOf");
            only.into_iter().for_each(|(key, value)| {
                object.entry(key).or_insert(value);
            });
        }
    }
    object.values_mut().for_each(without_null);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a deliberate change: `PLANBOOK_WRITE_SCHEMA=1 cargo test --lib schema`.
    #[test]
    fn the_committed_schemas_are_those_of_the_program() {
        let schemas = [
            (notebook_schema(), "docs/notebook.schema.json"),
            (dataset_schema(), "docs/dataset.schema.json"),
        ];
        for (schema, path) in schemas {
            let present = format!("{schema:#}\n");
            if std::env::var_os("PLANBOOK_WRITE_SCHEMA").is_some() {
                std::fs::write(path, &present).expect(path);
            }
            let committed = std::fs::read_to_string(path).expect(path);
            assert_eq!(committed, present, "{path} is stale: planbook schema prints the present one");
        }
    }

    #[test]
    fn the_schema_knows_the_keys_and_allows_no_others() {
        let schema = notebook_schema();
        assert_eq!(schema["required"], serde_json::json!(["planbook", "title", "steps"]));
        let measure = &schema["$defs"]["Measure"];
        assert_eq!(measure["additionalProperties"], false);
        assert_eq!(measure["properties"]["expect"]["$ref"], "#/$defs/Expect");
        let expect = &schema["$defs"]["Expect"]["properties"];
        assert!(expect["heap_fetches"].is_object());
        assert!(expect["median"].is_null(), "times belong in check");
        assert!(!schema.to_string().contains("null"), "no key may be empty");
    }
}
