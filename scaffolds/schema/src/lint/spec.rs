//! The rules of a CustomResourceDefinition's spec, without its schemas.

use super::{columns, conversion, fields, metadata, schema, structural};
use crate::value::defaults;
use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::names::{self, Unit};
use kubewright_machinery::{go, url::Url};
use serde_json::{Map, Value, json};

/// The fields that each version may have, and that the server moves to the top of the spec if they are the same in all versions; with
/// their names there. [`selectable`] has the fourth one, whose rules need the schema.
const SHARED: [(&str, &str); 3] = [
    ("schema", "validation"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
];

pub(super) fn check(crd: &Value) -> Vec<Cause> {
    let spec = &crd["spec"];
    let path = Path::new("spec");
    let mut causes = metadata::check(crd);
    causes.extend(group(spec, &path));
    causes.extend(approval(crd));
    match spec["scope"].as_str().unwrap_or_default() {
        "" => causes.push(path.child("scope").required("")),
        "Cluster" | "Namespaced" => {}
        scope => causes.push(path.child("scope").unsupported(scope, &["Cluster", "Namespaced"])),
    }
    causes.extend(all_names(&spec["names"], &path.child("names")));
    if spec["preserveUnknownFields"] == true {
        causes.extend(preserved(spec, &path));
    }
    causes.extend(conversion::check(&spec["conversion"], &path.child("conversion")));
    let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    causes.extend(versions_as_a_whole(spec, versions, &path));
    for (index, version) in versions.iter().enumerate() {
        causes.extend(one_version(version, &path.child("versions").index(index)));
    }
    for (key, top) in SHARED {
        if is_shared(versions, key) {
            let status = versions.iter().any(has_status);
            causes.extend(shared(key, &versions[0], (&path.child(top), status)));
        } else {
            for (index, version) in versions.iter().enumerate() {
                let at = path.child("versions").index(index).child(key);
                causes.extend(shared(key, version, (&at, has_status(version))));
            }
        }
    }
    causes.extend(selectable(versions, &path));
    causes
}

fn group(spec: &Value, path: &Path) -> Option<Cause> {
    let path = path.child("group");
    let group = spec["group"].as_str().unwrap_or_default();
    let errors = names::subdomain(group, Unit::Characters);
    if group.is_empty() {
        Some(path.required(""))
    } else if !errors.is_empty() {
        Some(path.invalid(group, &errors.join(",")))
    } else if !group.contains('.') {
        Some(path.invalid(group, "should be a domain with at least one dot"))
    } else {
        None
    }
}

/// Checks that a group of the Kubernetes community has the approval annotation.
fn approval(crd: &Value) -> Option<Cause> {
    const ANNOTATION: &str = "api-approved.kubernetes.io";
    let group = crd["spec"]["group"].as_str().unwrap_or_default();
    let protected = ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        group
            .strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    if !protected {
        return None;
    }
    let path = Path::new("metadata").child("annotations").key(ANNOTATION);
    let approval = crd["metadata"]["annotations"][ANNOTATION].as_str().unwrap_or_default();
    if approval.is_empty() {
        Some(path.required(&format!(
            "protected groups must have approval annotation \"{ANNOTATION}\", see https://github.com/kubernetes/enhancements/pull/1111"
        )))
    } else if approval.starts_with("unapproved") || Url::names_host(approval) {
        None
    } else {
        Some(path.invalid(
            approval,
            &format!(
                "protected groups must have approval annotation \"{ANNOTATION}\" with either a URL or a reason starting \
                 with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111"
            ),
        ))
    }
}

fn all_names(all: &Value, path: &Path) -> Vec<Cause> {
    let text = |key: &str| all[key].as_str().unwrap_or_default();
    let (kind, list_kind) = (text("kind"), text("listKind"));
    let mut causes = Vec::new();
    // The server sets `singular` and `listKind` from the kind before it validates.
    for key in ["plural", "kind"] {
        if text(key).is_empty() {
            causes.push(path.child(key).required(""));
        }
    }
    if kind.is_empty() {
        for key in ["singular", "listKind"] {
            if text(key).is_empty() {
                causes.push(path.child(key).required(""));
            }
        }
    }
    for (key, name) in [("plural", text("plural")), ("singular", text("singular"))] {
        let errors = names::label_1035(name, Unit::Characters);
        if !name.is_empty() && !errors.is_empty() {
            causes.push(path.child(key).invalid(name, &errors.join(",")));
        }
    }
    if text("singular").is_empty() && !kind.is_empty() {
        let errors = names::label_1035(&kind.to_lowercase(), Unit::Characters);
        if !errors.is_empty() {
            causes.push(path.child("singular").invalid(kind.to_lowercase(), &errors.join(",")));
        }
    }
    let default_list = format!("{kind}List");
    let list_kind = if list_kind.is_empty() && !kind.is_empty() {
        &default_list
    } else {
        list_kind
    };
    for (key, name) in [("kind", kind), ("listKind", list_kind)] {
        let errors = names::label_1035(&name.to_lowercase(), Unit::Characters);
        if !name.is_empty() && !errors.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", errors.join(","));
            causes.push(path.child(key).invalid(name, &detail));
        }
    }
    if !kind.is_empty() && kind == list_kind {
        causes.push(
            path.child("listKind")
                .invalid(list_kind, "kind and listKind may not be the same"),
        );
    }
    for key in ["shortNames", "categories"] {
        for (index, name) in all[key].as_array().into_iter().flatten().enumerate() {
            let name = name.as_str().unwrap_or_default();
            let errors = names::label_1035(name, Unit::Characters);
            if !errors.is_empty() {
                causes.push(path.child(key).index(index).invalid(name, &errors.join(",")));
            }
        }
    }
    causes
}

fn preserved(spec: &Value, path: &Path) -> Vec<Cause> {
    let at = path.child("preserveUnknownFields");
    let mut causes = vec![at.invalid(
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    )];
    if schema::any(spec, |node| node.contains_key("default")) {
        causes.push(at.invalid(true, "must be false in order to use defaults in the schema"));
    }
    let strategy = spec["conversion"]["strategy"].as_str().unwrap_or("None");
    if strategy != "None" {
        let at = path.child("conversion").child("strategy");
        causes.push(at.invalid(strategy, "must be None if spec.preserveUnknownFields is true"));
    }
    causes
}

fn versions_as_a_whole(spec: &Value, versions: &[Value], path: &Path) -> Vec<Cause> {
    let name = |version: &Value| version["name"].as_str().unwrap_or_default().to_owned();
    let path_versions = path.child("versions");
    let stored: Vec<String> = versions
        .iter()
        .filter(|version| version["storage"] == true)
        .map(name)
        .collect();
    let mut causes = Vec::new();
    // The server also has the first version's name in `spec.version`.
    if let Some(first) = versions.first().map(name).filter(|first| !first.is_empty()) {
        let errors = names::label_1035(&first, Unit::Characters);
        if !errors.is_empty() {
            causes.push(path.child("version").invalid(first, &errors.join(",")));
        }
    }
    let mut all: Vec<String> = versions.iter().map(name).collect();
    all.sort();
    if all.windows(2).any(|pair| pair[0] == pair[1]) {
        causes.push(path_versions.invalid(versions.to_vec(), "must contain unique version names"));
    }
    if stored.len() != 1 {
        let detail = "must have exactly one version marked as storage version";
        causes.push(path_versions.invalid(spec["versions"].clone(), detail));
    }
    let status = Path::new("status").child("storedVersions");
    match stored.split_first() {
        None => causes.push(status.invalid(json!([]), "must have at least one stored version")),
        Some((first, others)) => {
            for other in others {
                causes.push(status.invalid(json!([first]), &format!("must have the storage version {other}")));
            }
        }
    }
    causes
}

fn one_version(version: &Value, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = version["name"].as_str().unwrap_or_default();
    let errors = names::label_1035(name, Unit::Characters);
    if !errors.is_empty() {
        causes.push(path.child("name").invalid(name, &errors.join(",")));
    }
    if !version["schema"]["openAPIV3Schema"].is_object() {
        causes.push(path.child("schema").child("openAPIV3Schema").required(""));
    }
    if let Some(warning) = version["deprecationWarning"].as_str() {
        // A pointer in Go, which an error shows as JSON.
        let (at, shown) = (
            path.child("deprecationWarning"),
            go::json(&version["deprecationWarning"]),
        );
        let details = deprecation(warning, version["deprecated"] == true);
        causes.extend(details.iter().map(|detail| at.invalid_shown(&shown, detail)));
    }
    causes
}

fn deprecation(warning: &str, deprecated: bool) -> Vec<String> {
    if !deprecated {
        return vec!["can only be set for deprecated versions".to_owned()];
    }
    let mut errors = Vec::new();
    if warning.len() > 256 {
        errors.push("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        errors.push("must not be an empty string".to_owned());
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, c)| !go::printable(*c)) {
        errors.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
    errors
}

fn has_status(version: &Value) -> bool {
    version["subresources"]["status"].is_object()
}

/// Whether the server moves a field to the top of the spec: whether it is the same in all versions. No list is the same as an empty one.
fn is_shared(versions: &[Value], key: &str) -> bool {
    let meant = |version: &Value| match &version[key] {
        Value::Array(list) if list.is_empty() => Value::Null,
        value => value.clone(),
    };
    let first = versions.first().map(meant);
    versions.iter().all(|version| Some(meant(version)) == first) && first.is_some()
}

/// Checks the selectable fields of all versions. The server looks for the schema where it moved the fields: fields at the top need the
/// one schema of all versions, and those of a version need a schema of that version alone.
fn selectable(versions: &[Value], path: &Path) -> Vec<Cause> {
    const KEY: &str = "selectableFields";
    let (fields_moved, schema_moved) = (is_shared(versions, KEY), is_shared(versions, "schema"));
    let one = |version: &Value, at: Path| {
        let list = version[KEY].as_array().filter(|list| !list.is_empty())?;
        let schema = version["schema"]["openAPIV3Schema"].as_object();
        Some(match schema.filter(|_| fields_moved == schema_moved) {
            Some(schema) => fields::selectable(list, schema, &at),
            None if fields_moved => vec![at.invalid("", "may only be set when validations.schema is included")],
            // The server's text, although it means the opposite.
            None => vec![at.invalid(
                "",
                "may only be set when `version.schema.openAPIV3Schema` is not included",
            )],
        })
    };
    if fields_moved {
        return one(&versions[0], path.child(KEY)).unwrap_or_default();
    }
    let each = versions.iter().enumerate();
    each.filter_map(|(index, version)| one(version, path.child("versions").index(index).child(KEY)))
        .flatten()
        .collect()
}

/// Checks one of the [`SHARED`] fields of `version`. `at` is its path on the server, at the top of the spec or in a version, and whether
/// there is a status subresource.
fn shared(key: &str, version: &Value, at: (&Path, bool)) -> Vec<Cause> {
    let (path, status) = at;
    let value = &version[key];
    match (key, value) {
        (_, Value::Null) => Vec::new(),
        ("schema", _) => value["openAPIV3Schema"]
            .as_object()
            .map(|schema| one_schema(schema, path, status))
            .unwrap_or_default(),
        ("subresources", _) => columns::scale(&value["scale"], path),
        ("additionalPrinterColumns", Value::Array(list)) => list
            .iter()
            .enumerate()
            .flat_map(|(index, column)| columns::check(column, &path.index(index)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Checks a schema from its root. As on the server, the structural rules are skipped if the schema contains keywords that a
/// structural schema never supports.
fn one_schema(root: &Map<String, Value>, path: &Path, status: bool) -> Vec<Cause> {
    let at = path.child("openAPIV3Schema");
    let mut causes = Vec::new();
    if status {
        causes.extend(schema::root_with_status(root, path));
    }
    if root.get("nullable") == Some(&Value::Bool(true)) {
        causes.push(
            path.child("openAPIV3Schema.nullable")
                .forbidden("nullable cannot be true at the root"),
        );
    }
    let unsupported = structural::unsupported(root);
    let mut unsound = structural::check(root, &at);
    if unsound.is_empty() {
        // Defaults are defined only for a structural schema.
        unsound = defaults::check(root, &at);
    }
    let found = schema::check(root, &at);
    if unsupported.is_none() {
        #[cfg(feature = "cel")]
        if unsound.is_empty() {
            causes.extend(kubewright_cel::check(
                &Value::Object(root.clone()),
                &at.to_string(),
                &found,
            ));
        }
        causes.extend(unsound);
    }
    causes.extend(found);
    if let Some(unsupported) = unsupported.filter(|_| causes.is_empty()) {
        causes.push(at.invalid("", &unsupported));
    }
    causes
}
