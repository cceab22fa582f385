//! Repairs a CustomResourceDefinition that a derive made: whatever the API server would refuse, warn about or silently
//! drop, if the Rust type shows what was meant. Everything else is left for [`lint`](crate::lint) to report.
//!
//! | The derive writes | It becomes |
//! |---|---|
//! | `format: uint8` … `uint64`, `int8`, `int16`, `int`, 128-bit ones | `int32` or `int64` with `minimum` and `maximum` |
//! | `minimum: 1.0` and other integral floats | integers |
//! | `nullable: true` on a property that is not required | nothing ([`Options::keep_nullable`] keeps it) |
//! | `default: null`, nulls inside defaults | nothing |
//! | `additionalProperties: true` | values of any type, without pruning |
//! | a map with integer keys (`patternProperties`) | `additionalProperties` |
//! | defaults of `f32` with the digits of a double | the shortest digits |
//! | `additionalProperties: false` | nothing: the API server prunes anyway |
//! | no type and no constraint at all (`serde_json::Value`) | any value, without pruning |
//! | `type: object` without fields (`RawExtension`) | any object, without pruning; with `#[serde(deny_unknown_fields)]` an empty object |
//! | `format: ip` | `ipv4` or `ipv6` |
//! | formats that only schemars has (`partial-date-time`, `partial-time`) | a pattern |
//! | titles inside `oneOf`, `anyOf` and `allOf`; the type's name as title of the root | nothing |
//! | a root without `apiVersion`, `kind`, `metadata` | a root with them |
//! | no `listKind`, no `singular` | both |
//! | kube-derive's `x-kubernetes-struct-type` | `x-kubernetes-map-type` |
//! | kube-derive's generated description of the root | the description of the spec |
//!
//! Keywords that the derive has already dropped cannot be repaired here: keywords for which k8s-openapi's schema type has no field
//! ([`dropped`](crate::dropped)), `length()` on a map, `scale` without a status (`source` of `kubewright-manifests`).

mod description;
mod node;
mod number;
mod root;

use crate::{options::Options, version};
use serde_json::{Map, Value, json};

/// The annotation with the release of this crate that finished a CRD.
pub const VERSION_ANNOTATION: &str = "kubewright/schema-version";

/// Repairs one CustomResourceDefinition in place. Idempotent.
pub fn crd(crd: &mut Value, options: &Options) {
    let Some(top) = crd.as_object_mut() else { return };
    top.remove("status");
    if let Some(metadata) = top.entry("metadata").or_insert_with(|| json!({})).as_object_mut() {
        metadata.remove("creationTimestamp");
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(VERSION_ANNOTATION.to_owned(), env!("CARGO_PKG_VERSION").into());
        }
    }
    let Some(spec) = top.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let kind = names(spec);
    let Some(versions) = spec.get_mut("versions").and_then(Value::as_array_mut) else {
        return;
    };
    versions.sort_by(|a, b| {
        version::priority(
            a["name"].as_str().unwrap_or_default(),
            b["name"].as_str().unwrap_or_default(),
        )
    });
    for version in versions {
        if let Some(Value::Object(schema)) = version.pointer_mut("/schema/openAPIV3Schema") {
            root::normalise(schema, &kind, options);
        }
    }
}

/// Sets the names that the API server would default, so that the manifest equals the stored object. Returns the kind.
fn names(spec: &mut Map<String, Value>) -> String {
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else {
        return String::new();
    };
    let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !kind.is_empty() {
        names.entry("listKind").or_insert_with(|| format!("{kind}List").into());
        names.entry("singular").or_insert_with(|| kind.to_lowercase().into());
    }
    for list in ["shortNames", "categories"] {
        if let Some(Value::Array(items)) = names.get(list)
            && items.is_empty()
        {
            names.remove(list);
        }
    }
    kind
}
