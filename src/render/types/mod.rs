//! Rust types for a CRD. Pure: from the schema of one version to the text of one module, formatted as by rustfmt. The types decode every
//! object that is valid under the schema, and encode it to the same JSON. The derive requires a spec, so objects without one
//! cannot be decoded, even if the schema allows them.
//!
//! The types of a kind that the project takes over have the schema too: `make manifests` writes the CRD from them.

mod attributes;
mod comment;
mod conditions;
mod limits;
mod model;
mod names;
mod own;
mod read;
mod sample;
mod write;

pub use limits::first_optional_null;
pub use own::{Reports, own_annotations, reports};

use anyhow::{Result, bail};
use model::{Field, Item, Struct, Type};
use read::Reader;
use serde_json::Value;

/// The subject of the module.
pub struct ModuleSubject<'a> {
    /// The CRD.
    pub crd: &'a Value,
    /// The version whose schema is used.
    pub version: &'a str,
    /// The Rust type of the kind.
    pub type_name: &'a str,
    /// The path of the CRD, for readers of the module.
    pub path: &'a str,
    /// The owner of the kind.
    pub owner: Owner,
    /// Whether the types hold numbers of more than 32 bits where a number or a text is allowed. Those of kubewright 0.1 did not, and an upgrade
    /// compares with what that release wrote.
    pub wide: bool,
}

/// The owner of the kind of the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Another operator's: API servers have the schema from its owner.
    Other,
    /// The project's own; `converted` if the operator converts objects of this version.
    Project { converted: bool },
}

/// The root's properties that every kind has.
const STANDARD: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The text of the module.
pub fn module(subject: &ModuleSubject) -> Result<String> {
    let spec = &subject.crd["spec"];
    let Some(schema) = schema(subject.crd, subject.version) else {
        bail!("the CRD in `{}` has no version `{}`", subject.path, subject.version);
    };
    let kind = spec["names"]["kind"].as_str().unwrap_or_default();
    let own = subject.owner != Owner::Other;
    let mut reader = Reader::new(subject.type_name, own, subject.wide);
    let root = root(&mut reader, kind, schema, own);
    Ok(write::module(subject, &root, &reader.finish()))
}

/// Refuses a CRD that the types of a kind of the project could not express, with the path in its schema.
pub fn check(crd: &Value) -> Result<()> {
    limits::check_names(crd)?;
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let mut served = versions.filter(|version| version["served"] == true);
    served.try_for_each(limits::check)
}

/// The derive of the kind itself.
struct Root {
    /// The struct that derives it: its spec, or all of its fields.
    spec: String,
    /// Whether the fields of that struct are at the level of `metadata`.
    flat: bool,
    /// The type of the status.
    status: Option<String>,
}

fn root(reader: &mut Reader, kind: &str, schema: &Value, own: bool) -> Root {
    let properties = || schema["properties"].as_object().into_iter().flatten();
    let fields: Vec<_> = properties()
        .filter(|(key, _)| !STANDARD.contains(&key.as_str()) && *key != "status")
        .collect();
    let spec = &schema["properties"]["spec"];
    let plain = matches!(fields.as_slice(), [(key, _)] if *key == "spec");
    let untyped = own && spec["type"] != "object";
    let flat = !plain || untyped || !read::is_object(spec);
    let name = format!("{kind}{}", if flat { "Fields" } else { "Spec" });
    let spec = if flat {
        let fields = fields
            .into_iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut whole = schema.clone();
        whole["properties"] = Value::Object(fields);
        // They would match `apiVersion` and `kind` too.
        whole["additionalProperties"].take();
        whole["x-kubernetes-preserve-unknown-fields"].take();
        reader.root(&name, &whole, kind)
    } else {
        reader.root(&name, spec, &name)
    };
    let status = &schema["properties"]["status"];
    let status = status
        .is_object()
        .then(|| reader.status(&format!("{kind}Status"), status));
    Root { spec, flat, status }
}

/// A version of a CRD.
fn version<'a>(crd: &'a Value, name: &str) -> Option<&'a Value> {
    let mut versions = crd["spec"]["versions"].as_array()?.iter();
    versions.find(|it| it["name"] == name)
}

/// The schema of a version.
pub fn schema<'a>(crd: &'a Value, name: &str) -> Option<&'a Value> {
    Some(&version(crd, name)?["schema"]["openAPIV3Schema"])
}

/// The smallest object of a version, without its metadata: only required fields. `None` if the schema requires values
/// that cannot be derived, such as a string with a pattern.
pub fn sample(crd: &Value, version: &str) -> Option<Value> {
    let schema = schema(crd, version)?;
    let mut fields = sample::smallest(schema)?;
    if !schema["properties"]["spec"].is_null() && fields["spec"].is_null() {
        fields["spec"] = sample::smallest(&schema["properties"]["spec"])?;
    }
    let fields = fields.as_object_mut()?;
    fields.retain(|key, _| !STANDARD.contains(&key.as_str()) && key != "status");
    Some(Value::Object(std::mem::take(fields)))
}
