//! Environment variables of containers.

use crate::kinds::{
    amounts,
    faults::{Faults, quoted},
    format::{config_key, label, qualified, subdomain, variable},
    located::Located,
    pod::container::all,
    volume_source::no_backsteps,
};

pub(in crate::kinds) fn environment(container: &Located<'_>, faults: &mut Faults) {
    for entry in container.get("env").items() {
        faults.required_format(&entry.get("name"), variable);
        if entry.get("valueFrom").is_set() {
            value_from(&entry, faults);
        }
    }
    let from = container.get("envFrom");
    for entry in from.items() {
        if !entry.get("prefix").str().is_empty() {
            faults.format(&entry.get("prefix"), variable);
        }
        let mut sources = 0;
        for name in ["configMapRef", "secretRef"] {
            let source = entry.get(name);
            if source.is_set() {
                sources += 1;
                if source.get("name").str().is_empty() {
                    faults.required(&source.get("name"), "");
                }
            }
        }
        match sources {
            0 => faults.invalid_as(&from, "\"\"", "must specify one of: `configMapRef` or `secretRef`"),
            1 => {}
            _ => faults.invalid_as(&from, "\"\"", "may not have more than one field specified at a time"),
        }
    }
}

/// The Pod's fields from which variables may take their values.
const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Fields that have names but are allowed neither for variables nor for files.
const NAMED: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
];

fn value_from(entry: &Located<'_>, faults: &mut Faults) {
    let from = entry.get("valueFrom");
    let mut sources = 0;
    for name in [
        "fieldRef",
        "resourceFieldRef",
        "configMapKeyRef",
        "secretKeyRef",
        "fileKeyRef",
    ] {
        let source = from.get(name);
        if !source.is_set() {
            continue;
        }
        sources += 1;
        match name {
            "fieldRef" => field_ref(&source, faults),
            "resourceFieldRef" => amounts::field_ref(&source, false, faults),
            "configMapKeyRef" => {
                faults.format(&source.get("name"), subdomain);
                faults.required_format(&source.get("key"), config_key);
            }
            "secretKeyRef" => key_ref(&source, faults),
            _ => file_ref(&source, faults),
        }
    }
    let one_of =
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    if sources == 0 {
        faults.invalid_as(&from, "\"\"", one_of);
    } else if !entry.get("value").str().is_empty() {
        faults.invalid_as(&from, "\"\"", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        faults.invalid_as(&from, "\"\"", "may not have more than one field specified at a time");
    }
}

fn key_ref(source: &Located<'_>, faults: &mut Faults) {
    if source.get("name").str().is_empty() {
        faults.required(&source.get("name"), "");
    }
    faults.required_format(&source.get("key"), config_key);
}

fn file_ref(source: &Located<'_>, faults: &mut Faults) {
    faults.required_format(&source.get("key"), variable);
    faults.required_format(&source.get("volumeName"), label);
    let path = source.get("path");
    if path.str().is_empty() {
        faults.required(&path, "");
    }
    no_backsteps(&path, faults);
}

/// Checks that the files to which variables refer are in volumes of the type `emptyDir`.
pub(super) fn file_volumes(spec: &Located<'_>, faults: &mut Faults) {
    let variables = all(spec).into_iter().flat_map(|container| container.get("env").items());
    // Paths are formatted for the few variables with such a reference.
    let files = variables.filter(|variable| !variable.value["valueFrom"]["fileKeyRef"].is_null());
    for name in files.map(|variable| variable.at("valueFrom.fileKeyRef.volumeName")) {
        let volumes = spec.get("volumes").items();
        match volumes.filter(|volume| volume.get("name").str() == name.str()).last() {
            None => faults.not_found_as(&name, name.str(), ""),
            Some(volume) if volume.get("emptyDir").is_set() => {}
            Some(_) => faults.invalid(&name, "referenced volume must be of type emptyDir"),
        }
    }
}

fn field_ref(source: &Located<'_>, faults: &mut Faults) {
    pod_field(source, &FIELDS, faults);
}

/// Validates a reference to one of the Pod's fields, which must be one of `known`.
pub(in crate::kinds) fn pod_field(source: &Located<'_>, known: &[&str], faults: &mut Faults) {
    let path = source.get("fieldPath");
    if path.str().is_empty() {
        return faults.required(&path, "");
    }
    let version = source.get("apiVersion").str();
    let why = match subscript(path.str()) {
        _ if version != "v1" => format!("unsupported pod version: {version}"),
        Some(("metadata.annotations", key)) => return sentences(source, &key.to_lowercase(), faults),
        Some(("metadata.labels", key)) => return sentences(source, key, faults),
        Some(_) => format!("field label does not support subscript: {}", path.str()),
        None => {
            // A former name.
            let field = if path.str() == "spec.host" {
                "spec.nodeName"
            } else {
                path.str()
            };
            match field {
                _ if known.contains(&field) => return,
                _ if FIELDS.contains(&field) || NAMED.contains(&field) => {
                    return faults.not_supported_as(&path, &quoted(field), known);
                }
                _ => format!("field label not supported: {field}"),
            }
        }
    };
    faults.invalid(&path, &format!("error converting fieldPath: {why}"));
}

/// The field and the key of a path such as `metadata.labels['key']`.
fn subscript(path: &str) -> Option<(&str, &str)> {
    let parts = path.strip_suffix("']")?.split_once("['");
    parts.filter(|(field, _)| !field.is_empty())
}

fn sentences(at: &Located<'_>, key: &str, faults: &mut Faults) {
    for sentence in qualified(key) {
        faults.invalid_as(at, &quoted(key), &sentence);
    }
}
