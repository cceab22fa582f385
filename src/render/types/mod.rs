//! Rust types for a CRD of another owner. Pure: from the schema of one version to the text of one module, formatted as
//! by rustfmt. The types decode every object that is valid under the schema, and encode it to the same JSON. The derive
//! requires a spec, so objects without one cannot be decoded, even if the schema allows them.

mod comment;
mod model;
mod names;
mod read;
mod sample;
mod write;

use anyhow::{Result, bail};
use model::{Field, Item, Struct, Type};
use read::Reader;
use serde_json::Value;

/// The subject of the module.
pub struct Subject<'a> {
    /// The CRD.
    pub crd: &'a Value,
    /// The version whose schema is used.
    pub version: &'a str,
    /// The Rust type of the kind.
    pub type_name: &'a str,
    /// The path of the CRD, for readers of the module.
    pub path: &'a str,
}

/// The root's properties that every kind has.
const STANDARD: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The text of the module.
pub fn module(subject: &Subject) -> Result<String> {
    let spec = &subject.crd["spec"];
    let mut versions = spec["versions"].as_array().into_iter().flatten();
    let Some(schema) = versions
        .find(|version| version["name"] == subject.version)
        .map(|version| &version["schema"]["openAPIV3Schema"])
    else {
        bail!("the CRD in `{}` has no version `{}`", subject.path, subject.version);
    };
    let kind = spec["names"]["kind"].as_str().unwrap_or_default();
    let mut reader = Reader::new(subject.type_name);
    let root = root(&mut reader, kind, schema);
    Ok(write::module(subject, &root, &reader.finish()))
}

/// How the kind itself is derived.
struct Root {
    /// The struct that derives it: its spec, or all of its fields.
    spec: String,
    /// Whether the fields of that struct are at the level of `metadata`.
    flat: bool,
    /// The type of the status.
    status: Option<String>,
}

fn root(reader: &mut Reader, kind: &str, schema: &Value) -> Root {
    let properties = || schema["properties"].as_object().into_iter().flatten();
    let own: Vec<_> = properties()
        .filter(|(key, _)| !STANDARD.contains(&key.as_str()) && *key != "status")
        .collect();
    let spec = &schema["properties"]["spec"];
    let plain = matches!(own.as_slice(), [(key, _)] if *key == "spec");
    let flat = !plain || !read::is_object(spec);
    let name = format!("{kind}{}", if flat { "Fields" } else { "Spec" });
    let spec = if flat {
        let own = own
            .into_iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut fields = schema.clone();
        fields["properties"] = Value::Object(own);
        // They would match `apiVersion` and `kind` too.
        fields["additionalProperties"].take();
        fields["x-kubernetes-preserve-unknown-fields"].take();
        reader.root(&name, &fields, kind)
    } else {
        reader.root(&name, spec, &name)
    };
    let status = &schema["properties"]["status"];
    let status = status
        .is_object()
        .then(|| reader.status(&format!("{kind}Status"), status));
    Root { spec, flat, status }
}

/// The smallest object of a version, without its metadata: only required fields. `None` if the schema requires values
/// that cannot be derived, such as a string with a pattern.
pub fn sample(crd: &Value, version: &str) -> Option<Value> {
    let mut versions = crd["spec"]["versions"].as_array()?.iter();
    let schema = &versions.find(|it| it["name"] == version)?["schema"]["openAPIV3Schema"];
    let mut fields = sample::smallest(schema)?;
    if !schema["properties"]["spec"].is_null() && fields["spec"].is_null() {
        fields["spec"] = sample::smallest(&schema["properties"]["spec"])?;
    }
    let fields = fields.as_object_mut()?;
    fields.retain(|key, _| !STANDARD.contains(&key.as_str()) && key != "status");
    Some(Value::Object(std::mem::take(fields)))
}
