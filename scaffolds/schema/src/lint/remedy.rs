//! Translates the API server's causes for the author of the Rust type: the field, and what to change there.

use kubewright_machinery::cause::Cause;
use serde_json::{Map, Value};

/// The version and field of a cause.
pub(super) struct CauseLocation {
    /// The index of the version; `None` if the cause does not concern a single version.
    pub version: Option<usize>,
    /// `spec.items[].name`, or the path in the CRD if the cause is not about a field of the resource.
    pub field: String,
}

/// Parses the path of a cause.
pub(super) fn place(path: &str) -> CauseLocation {
    let (version, rest) = match path
        .strip_prefix("spec.versions[")
        .and_then(|rest| rest.split_once(']'))
    {
        Some((index, rest)) => (index.parse().ok(), rest.trim_start_matches('.')),
        None => (None, path.strip_prefix("spec.").unwrap_or(path)),
    };
    let schema = rest
        .split_once("openAPIV3Schema")
        .filter(|(before, _)| matches!(*before, "validation." | "schema."));
    let field = match schema {
        Some((_, inside)) if !inside.is_empty() => field(inside),
        _ => path.to_owned(),
    };
    CauseLocation { version, field }
}

/// `.properties[spec].properties[a.b].items.type` → `spec.a.b[]`: the path of the field, up to the first other keyword.
fn field(mut path: &str) -> String {
    let mut field = String::new();
    loop {
        if let Some(rest) = path.strip_prefix(".properties[") {
            // A name may contain brackets, but the bracket that ends it is followed by a dot or the end of the path.
            let end = rest
                .match_indices(']')
                .map(|(at, _)| at)
                .find(|at| matches!(rest.as_bytes().get(at + 1), None | Some(b'.')));
            let Some(end) = end else { return field };
            if !field.is_empty() {
                field.push('.');
            }
            field.push_str(&rest[..end]);
            path = &rest[end + 1..];
        } else if let Some(rest) = path.strip_prefix(".items").filter(|rest| rest.starts_with('.')) {
            field.push_str("[]");
            path = rest;
        } else if let Some(rest) = path
            .strip_prefix(".additionalProperties")
            .filter(|rest| rest.starts_with('.'))
        {
            field.push_str("{}");
            path = rest;
        } else if let Some(rest) = junctor(path) {
            path = rest;
        } else {
            return field;
        }
    }
}

/// The rest of the path after a branch of `allOf`, `anyOf` or `oneOf`.
fn junctor(path: &str) -> Option<&str> {
    for key in [".allOf[", ".anyOf[", ".oneOf["] {
        if let Some((_, rest)) = path.strip_prefix(key).and_then(|rest| rest.split_once(']')) {
            return Some(rest);
        }
    }
    path.strip_prefix(".not")
        .filter(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The message, without its value if that is long: the server prints whole schemas and lists of versions.
pub(super) fn short(message: String) -> String {
    const LONGEST: usize = 200;
    let value = message
        .strip_prefix("Invalid value: ")
        .filter(|value| value.starts_with(['{', '[']));
    match value.and_then(|value| value.rsplit_once(": ")) {
        Some((value, detail)) if value.len() > LONGEST => detail.to_owned(),
        _ => message,
    }
}

/// The remedy for a type that contains itself.
pub const OF_RECURSION: &str = "the type contains itself, which a structural schema cannot express; let the field that refers back to it hold \
                                `serde_json::Value` and decode it in the reconciler, or write a type for each level";

/// The change in the Rust code that removes the cause, if it is known.
pub(super) fn of(cause: &Cause) -> Option<String> {
    let keyword = cause.field.rsplit('.').next().unwrap_or_default();
    let message_has = |words: &str| cause.message.contains(words);
    let is_untyped = message_has("failed to construct type information");
    if message_has("structural") && !is_untyped && cause.field.contains("x-kubernetes-validations") {
        return Some(
            "a validation rule cannot be inside `oneOf`, `anyOf` or `allOf`; put it on the field or the struct"
                .to_owned(),
        );
    }
    let remedy = if keyword == "openAPIV3Schema" && cause.reason == "FieldValueRequired" {
        "derive `JsonSchema` for the spec and leave out `#[kube(schema = \"disabled\")]`"
    } else if keyword == "$ref" {
        OF_RECURSION
    } else if keyword == "items" && message_has("not an array") {
        "tuples have a type per position, which a structural schema cannot express; make it a struct, or a list of one type"
    } else if keyword == "patternProperties" {
        "a CRD has no pattern for the keys of a map: let them be of the type `String`, or put `#[schemars(with = \"BTreeMap<String, …>\")]` \
         on the field; and check them by a rule, `#[x_kube(validation = \"self.all(key, key.matches('…'))\")]`"
    } else if message_has("must not be empty for specified") {
        "the field's Rust type has no single JSON type: in place of `()` or `struct Name;` use `struct Name {}`; for a number or a string \
         `IntOrString`, for any value `serde_json::Value`; otherwise write the schema by hand with `#[schemars(schema_with = \"…\")]`"
    } else if keyword == "additionalProperties" && message_has("mutual exclusive") {
        "a structural schema cannot have named fields and a flattened map with values of one type; make the map a field of its own, \
         or a `BTreeMap<String, serde_json::Value>`"
    } else if message_has("to be structural") {
        "only constraints are allowed inside `oneOf`, `anyOf`, `allOf` and `not`; look for `#[schemars(extend(…))]` or \
         `schema_with` on the variants"
    } else if keyword == "fieldPath" {
        "the path of `field_path(…)` in `#[x_kube(validation = Rule::new(…))]` leads from the value with the rule to one of its fields, \
         such as `.size`"
    } else if keyword == "pattern" {
        "patterns use Go's regular expressions: no look-around, no backreferences, no possessive repetition"
    } else if keyword == "group" {
        "write a group with at least one dot in `#[kube(group = \"…\")]`, such as `apps.example.com`"
    } else if cause.field.starts_with("spec.names.") {
        "names come from `#[kube(kind = …, plural = …, singular = …, shortname = …, category = …)]`"
    } else if cause.field.contains("rinterColumns") {
        "columns come from `#[kube(printcolumn = …)]`"
    } else if message_has("validations.schema is included") {
        "an API server refuses lists of selectable fields that are the same in all versions if the schemas differ: \
         in one version, write its `#[kube(selectable = …)]` in another order, add one, or leave one out"
    } else if message_has("`version.schema.openAPIV3Schema` is not included") {
        "versions with the same schema need the same `#[kube(selectable = …)]`, in the same order"
    } else if cause.field.contains("selectableFields") {
        "selectable fields come from `#[kube(selectable = \".spec.…\")]`"
    } else if cause.field.contains(".scale.") {
        "the scale subresource comes from `#[kube(scale = …)]`"
    } else if keyword == "version" || (keyword == "name" && cause.field.starts_with("spec.versions[")) {
        "versions are named `v1`, `v1beta1`, `v2alpha3`… in `#[kube(version = \"…\")]`"
    } else if message_has("x-kubernetes-list-type=set") {
        "items of a set are compared as a whole: make them scalars, or put \
         `#[schemars(extend(\"x-kubernetes-map-type\" = \"atomic\"))]` on their type"
    } else if message_has("exceeds budget") || message_has("exceeding cost limit") {
        "the API server estimates the cost of a validation rule; limit the size of the lists, maps and strings that it reads: \
         `#[schemars(length(max = …))]`, `inner(length(max = …))` for items, `extend(\"maxProperties\" = …)` for maps"
    } else if keyword == "deprecationWarning" {
        "the warning comes from `#[kube(deprecated = \"…\")]`"
    } else if message_has("must be object if x-kubernetes-map-type") || is_untyped {
        "any value, such as `serde_json::Value`, has no rules and is merged as a whole: remove the attribute, or use `RawExtension`, which is \
         any object"
    } else if keyword == "uniqueItems" {
        "use `#[schemars(extend(\"x-kubernetes-list-type\" = \"set\"))]`, which the API server enforces in the same way"
    } else if keyword == "nullable" && message_has("list-type") {
        "items of a list of type set or map cannot be optional; remove the `Option`"
    } else if message_has("x-kubernetes-list-map-keys, so it must have a default") {
        "make the key field required (no `Option`, no `#[serde(default)]`), or give it a default"
    } else if cause.field.starts_with("metadata.annotations") {
        "annotations come from `#[kube(annotation(\"key\", \"value\"))]`"
    } else if cause.field == "metadata.labels" {
        "labels come from `#[kube(label(\"key\", \"value\"))]`"
    } else if cause.field.starts_with("metadata.name") {
        "the name consists of `#[kube(plural = …, group = …)]`"
    } else if cause.field.contains("openAPIV3Schema") {
        let keyword = cause
            .field
            .split('.')
            .rfind(|step| step.starts_with("x-kubernetes-"))
            .unwrap_or(keyword);
        let keyword = keyword.split('[').next().unwrap_or_default();
        return Some(format!(
            "look for `{keyword}` in `#[schemars(…)]`, `#[x_kube(…)]` and `#[kube(…)]` on the field and its type"
        ));
    } else {
        return None;
    };
    Some(remedy.to_owned())
}

/// Schemas that the API server accepts although they do not match the Rust type: kube-derive empties the variants of
/// an untagged enum that are not objects. Each as field, message and remedy.
pub(super) fn lost(schema: &Value) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    walk(schema, String::new(), &mut |schema, field| {
        let branches = schema.get("anyOf").and_then(Value::as_array);
        let emptied = |branch: &Value| branch.as_object().is_some_and(Map::is_empty);
        if schema.contains_key("type") && branches.is_some_and(|branches| branches.iter().any(emptied)) {
            found.push((
                field.to_owned(),
                "an untagged enum has variants that are objects and variants that are not; the schema describes only the objects"
                    .to_owned(),
                "make every variant a struct, or allow any value with `serde_json::Value`".to_owned(),
            ));
        }
    });
    found
}

/// Calls `visit` for every node of the structural schema, with the path of its field.
pub(super) fn walk(value: &Value, field: String, visit: &mut impl FnMut(&Map<String, Value>, &str)) {
    let Value::Object(schema) = value else { return };
    visit(schema, &field);
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let dot = if field.is_empty() { "" } else { "." };
        walk(property, format!("{field}{dot}{name}"), visit);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(child) = schema.get(key) {
            walk(child, format!("{field}{suffix}"), visit);
        }
    }
}
