//! OpenAPI definitions that are not part of a built-in kind, without descriptions.

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Map, Value, ser::PrettyFormatter};

use super::{Real, shapes};

const PACKAGE: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The definitions of an object's metadata.
pub const OBJECT_META: [&str; 5] = ["FieldsV1", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "Time"];

/// The definitions of bodies that are not objects.
pub const ANSWERS: [&str; 4] = ["Patch", "Status", "StatusCause", "StatusDetails"];

/// The definitions with these names in the package of metadata, as JSON.
pub(super) async fn text(real: &Real, names: &[&str]) -> Result<String> {
    let all = shapes::schemas(real, "api/v1").await?;
    let mut found = Map::new();
    for name in names {
        let name = format!("{PACKAGE}.{name}");
        let mut definition = all
            .get(&name)
            .cloned()
            .with_context(|| format!("no definition {name}"))?;
        remove_texts(&mut definition);
        found.insert(name, definition);
    }
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(b" ");
    Value::from(found).serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter))?;
    Ok(String::from_utf8(bytes)?)
}

/// Removes all descriptions. A property may also be named `description`.
fn remove_texts(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "description" || !value.is_string());
            fields.values_mut().for_each(remove_texts);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_texts),
        _ => {}
    }
}
