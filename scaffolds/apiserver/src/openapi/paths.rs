//! The paths of a resource and the operations on them.

use super::{
    operation::{OperationParameters, Subject},
    parameters::Parameter,
    schemas,
};
use crate::resource::{Resource, Subresource};
use serde_json::{Map, Value};

/// Adds the paths of `subject` to `paths`.
pub(super) fn add(subject: &Subject, paths: &mut Map<String, Value>) {
    let Resource {
        group,
        version,
        names,
        namespaced,
        ..
    } = subject.resource;
    let root = if group.is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{group}/{version}")
    };
    let everywhere = format!("{root}/{}", names.plural);
    let collection = if *namespaced {
        format!("{root}/namespaces/{{namespace}}/{}", names.plural)
    } else {
        everywhere.clone()
    };
    let has = |verb: &str| subject.resource.verbs.contains(&verb);
    let there = |all: &[(&str, &'static str)]| -> Vec<&'static str> {
        all.iter()
            .filter(|(verb, _)| has(verb))
            .map(|(_, action)| *action)
            .collect()
    };
    if *namespaced && has("list") {
        place(subject, &everywhere, &["list"], paths);
    }
    let on_all = there(&[
        ("list", "list"),
        ("create", "post"),
        ("deletecollection", "deletecollection"),
    ]);
    place(subject, &collection, &on_all, paths);
    let object = format!("{collection}/{{name}}");
    let on_one = there(&[
        ("get", "get"),
        ("update", "put"),
        ("delete", "delete"),
        ("patch", "patch"),
    ]);
    place(subject, &object, &on_one, paths);
    for subresource in &subject.resource.subresources {
        nested(subject, &object, subresource, paths);
    }
}

fn place(subject: &Subject, path: &str, actions: &[&'static str], paths: &mut Map<String, Value>) {
    let Resource {
        group, version, names, ..
    } = subject.resource;
    let operations: Vec<OperationParameters> = actions
        .iter()
        .map(|action| OperationParameters {
            subject,
            path,
            action,
            subresource: "",
            schema: &subject.object,
            about: (group, version, &names.kind),
        })
        .collect();
    insert(path, &operations, paths);
}

/// Subresources that speak a kind without a schema (`exec`, `proxy`) are not described.
fn nested(subject: &Subject, object: &str, it: &Subresource, paths: &mut Map<String, Value>) {
    let Resource {
        group, version, names, ..
    } = subject.resource;
    let own = (&it.group, &it.version, &it.kind) == (group, version, &names.kind);
    let schema = if own {
        Some(subject.object.clone())
    } else {
        schemas::built_in(&it.group, &it.version, &it.kind)
    };
    let Some(schema) = schema else { return };
    let path = format!("{object}/{}", it.name);
    let actions = [
        ("get", "get"),
        ("update", "put"),
        ("patch", "patch"),
        ("create", "post"),
    ];
    let actions = actions.into_iter().filter(|(verb, _)| it.verbs.contains(verb));
    let about = if subject.built_in {
        (&it.group, &it.version, &it.kind)
    } else {
        (group, version, &names.kind)
    };
    let operations: Vec<OperationParameters> = actions
        .map(|(_, action)| OperationParameters {
            subject,
            path: &path,
            action,
            subresource: &it.name,
            schema: &schema,
            about: (about.0, about.1, about.2),
        })
        .collect();
    insert(&path, &operations, paths);
}

/// Adds a path. Parameters that all its operations have are listed once, for the path.
fn insert(path: &str, operations: &[OperationParameters], paths: &mut Map<String, Value>) {
    let Some(first) = operations.first() else { return };
    let has = |operation: &OperationParameters, it: &Parameter| operation.parameters().contains(it);
    let common: Vec<Parameter> = first
        .parameters()
        .into_iter()
        .filter(|it| operations.iter().all(|operation| has(operation, it)))
        .collect();
    let documents = |all: &[Parameter]| all.iter().map(Parameter::document).collect::<Vec<_>>();
    let mut item = Map::new();
    for operation in operations {
        let own: Vec<Parameter> = operation
            .parameters()
            .into_iter()
            .filter(|it| !common.contains(it))
            .collect();
        let mut document = operation.document();
        if !own.is_empty() {
            document["parameters"] = Value::Array(documents(&own));
        }
        item.insert(operation.method().to_owned(), document);
    }
    item.insert("parameters".to_owned(), Value::Array(documents(&common)));
    paths.insert(path.to_owned(), Value::Object(item));
}
