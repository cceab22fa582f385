//! Reads the object that a client sent: checks its kind, types, namespace and name, and sets defaults.

use kubewright_machinery::{go, names, object_meta};
use serde_json::{Value, json};

use super::{options::Validation, strict, work::Work};
use crate::{
    json, kinds, meta, request,
    resource::Resource,
    status::Status,
    strategy::{Decoding, Empties, Strategy},
};

/// A decoded object.
#[derive(Clone, Default)]
pub(super) struct Decoded {
    pub object: Value,
    /// Whether the object has empty lists or maps. Go distinguishes them from absent ones until the object is stored.
    pub has_empties: bool,
    /// Whether an apply contains fields that the schema prunes. Upstream compares before it prunes, so the generation changes.
    pub has_pruned: bool,
}

/// Reads the object of a create or update.
///
/// # Errors
/// 400, 415 or 422 for a body that is not an object of this kind; 400 for unknown or duplicate fields under
/// [`Validation::Strict`].
pub(super) fn read(work: &Work, validation: Validation) -> Result<Decoded, Status> {
    let (resource, call) = (work.resource(), work.call);
    if !resource.is_typed() && call.content_type.starts_with(kinds::protobuf::MEDIA_TYPE) {
        return Err(Status::unsupported_media_type(&[
            "application/json",
            "application/yaml",
        ]));
    }
    let (object, mut strict_errors) = request::body::object(&call.content_type, &call.body, &resource.names.kind)?;
    let mut object = Value::Object(object);
    if let Err(why) = check_type(work, &mut object) {
        return Err(why.about_body(resource, &object, &call.body));
    }
    let is_json = request::body::is_json(&call.content_type);
    if !is_json && !strict_errors.is_empty() && validation == Validation::Strict {
        // One error with a line for each duplicate. Each is a warning of its own.
        strict_errors = vec![format!("yaml: unmarshal errors:\n  {}", strict_errors.join("\n  "))];
    }
    let (unknown, has_empties) = typed(work, &mut object)?;
    strict_errors.extend(unknown);
    if is_json && !strict_errors.is_empty() && resource.is_typed() {
        strict_errors = json::strict_errors(&call.body, &strict_errors);
    }
    strict::judge(work, validation, strict_errors, |sentence| {
        Status::bad_request(format!("{}: {sentence}", cannot(&object, resource)))
    })?;
    work.default(&mut object);
    Ok(Decoded {
        object,
        has_empties,
        has_pruned: false,
    })
}

/// Decodes an object whose `apiVersion` and `kind` are right. Returns its unknown fields, and whether it has empty lists or maps.
///
/// # Errors
/// The Status for an object with a field of the wrong type.
pub(super) fn typed(work: &Work, object: &mut Value) -> Result<(Vec<String>, bool), Status> {
    read_as(work, Decoding::decode, object)
}

/// Like [`typed`], for an object that an apply or a strategic merge patch produced.
///
/// # Errors
/// The Status for an object with a field of the wrong type.
pub(super) fn converted(work: &Work, object: &mut Value) -> Result<(Vec<String>, bool), Status> {
    read_as(work, Decoding::convert, object)
}

type Decode = fn(&dyn Strategy, &mut Value) -> Result<Vec<String>, Status>;

fn read_as(work: &Work, decode: Decode, object: &mut Value) -> Result<(Vec<String>, bool), Status> {
    let resource = work.resource();
    let forgets = meta::of(object)
        .get("managedFields")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty);
    let mut strict_errors = decode(resource.strategy.as_ref(), object)?;
    let has_empties = resource.strategy.empties(object, Empties::Meaningful);
    if let Some(metadata) = object.get_mut("metadata").filter(|_| !resource.rules().is_built_in()) {
        match object_meta::decode(metadata, "") {
            Ok(decoded) => {
                *metadata = decoded.metadata;
                let unknown = decoded.unknown.iter().map(|path| format!("metadata.{path}"));
                let mut unknown: Vec<_> = unknown
                    .map(|path| format!("unknown field {}", go::quote(&path)))
                    .collect();
                unknown.sort_unstable();
                strict_errors.sort_unstable();
                strict_errors.splice(0..0, unknown);
            }
            Err(why) => return Err(Status::bad_request(format!("{}: {why}", cannot(object, resource)))),
        }
    }
    if forgets {
        // Decoding drops empty lists, but here an empty list asks to clear managedFields.
        meta::set(object, "managedFields", Some(json!([])));
    }
    meta::of_mut(object);
    Ok((strict_errors, has_empties))
}

/// The reason that an object's `apiVersion` or `kind` is wrong.
#[derive(Debug)]
pub(super) enum WrongType {
    /// A custom object lacks `kind` or `apiVersion`.
    Missing(&'static str),
    /// The object is in another version of a custom kind's group, in another group, or in none.
    Version(String),
    /// The `apiVersion` of a custom object is not a group and a version.
    Malformed(String),
    /// The object is in another version of the built-in kind; with the sentence of the real server's scheme.
    Sibling(String, String),
    /// The sentence of the real server's scheme about a built-in kind.
    Scheme(String),
}

/// Checks `apiVersion` and `kind`. Built-in kinds may leave them out.
pub(super) fn check_type(work: &Work, object: &mut Value) -> Result<(), WrongType> {
    let resource = work.resource();
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (mut version, mut kind) = (text("apiVersion"), text("kind"));
    if !work.is_built_in() {
        return match (kind.as_str(), version.as_str()) {
            _ if names::is_malformed_group_version(&version) => Err(WrongType::Malformed(version)),
            ("", _) => Err(WrongType::Missing("Kind")),
            (_, "") => Err(WrongType::Missing("apiVersion")),
            _ if version != resource.api_version() => Err(WrongType::Version(version)),
            _ => Ok(()),
        };
    }
    if version.is_empty() {
        version = resource.api_version();
    }
    if kind.is_empty() {
        kind.clone_from(&resource.names.kind);
    }
    if Some(version.as_str()) == resource.rules().also_read_as {
        version = resource.api_version();
    }
    if (version == resource.api_version()) && kind == resource.names.kind {
        object["apiVersion"] = json!(version);
        object["kind"] = json!(kind);
        return Ok(());
    }
    let snapshot = work.core.catalogue.snapshot();
    let (group, other) = names::group_version(&version);
    let is_version = group == resource.group && kind == resource.names.kind;
    let why = snapshot.another_type(resource, &version, &kind);
    let is_sibling = is_version && snapshot.kind(group, other, &kind).is_some();
    Err(if is_sibling {
        WrongType::Sibling(version, why)
    } else {
        WrongType::Scheme(why)
    })
}

impl WrongType {
    fn about_body(self, resource: &Resource, object: &Value, body: &[u8]) -> Status {
        match self {
            Self::Missing("apiVersion") => another_version("", resource),
            Self::Missing(what) => {
                let why = format!("Object '{what}' is missing in '{}'", String::from_utf8_lossy(body));
                request::body::unrecognized(&resource.names.kind, &why, body)
            }
            Self::Malformed(version) => {
                let why = format!("unexpected GroupVersion string: {version}");
                request::body::unrecognized(&resource.names.kind, &why, body)
            }
            Self::Version(version) | Self::Sibling(version, _) => another_version(&version, resource),
            Self::Scheme(why) => Status::bad_request(format!("{}: {why}", cannot(object, resource))),
        }
    }
}

fn another_version(version: &str, resource: &Resource) -> Status {
    // Without a group, the slash is no part of the version.
    let version = version.strip_prefix('/').unwrap_or(version);
    Status::bad_request(format!(
        "the API version in the data ({version}) does not match the expected API version ({})",
        resource.api_version()
    ))
}

/// The beginning of sentences about a body.
pub(super) fn cannot(object: &Value, resource: &Resource) -> String {
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let wanted = &resource.names.kind;
    let kind = text("kind").unwrap_or(wanted);
    let version = text("apiVersion").map_or(resource.version.as_str(), |it| {
        kubewright_machinery::names::group_version(it).1
    });
    format!(
        "{kind} in version {} cannot be handled as a {wanted}",
        go::quote(version)
    )
}

/// Checks that the object's namespace is that of the path; sets it if it is empty.
pub(super) fn check_namespace(work: &Work, object: &mut Value) -> Result<(), Status> {
    let expected = work.call.namespace();
    let said = meta::text(object, "namespace");
    if !said.is_empty() && !expected.is_empty() && said != expected {
        const WHY: &str = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Status::bad_request(WHY));
    }
    meta::set_text(object, "namespace", expected);
    Ok(())
}

/// Checks that the object's name is that of the path.
pub(super) fn check_name(work: &Work, object: &Value) -> Result<(), Status> {
    let (said, expected) = (meta::text(object, "name"), &work.call.name);
    if said == expected {
        return Ok(());
    }
    if said.is_empty() {
        return Err(undeterminable(expected));
    }
    Err(Status::bad_request(format!(
        "the name of the object ({said}) does not match the name on the URL ({expected})"
    )))
}

/// 400 for an object without a name.
pub(super) fn undeterminable(expected: &str) -> Status {
    Status::bad_request(format!(
        "the name of the object ({expected} based on URL) was undeterminable: name must be provided"
    ))
}
