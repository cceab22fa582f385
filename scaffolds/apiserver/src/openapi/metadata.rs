//! Descriptions of the metadata of objects, in kubewright's own words: authors of custom kinds read them with `kubectl explain`.

use serde_json::{Value, json};

/// The name of the schema of metadata.
pub(super) const NAME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The fields and what they contain.
const FIELDS: [(&str, &str); 14] = [
    (
        "annotations",
        "Annotations are texts by name for tools and people. Objects cannot be selected by them.",
    ),
    (
        "creationTimestamp",
        "CreationTimestamp is a timestamp that the server sets when it creates the object. It never changes.",
    ),
    (
        "deletionGracePeriodSeconds",
        "DeletionGracePeriodSeconds is the time that the object has to stop after its deletion was requested. The server sets it.",
    ),
    (
        "deletionTimestamp",
        "DeletionTimestamp is the time by which the object is to stop, once its deletion was requested. The object is removed when its \
         finalizers are gone. The server sets it.",
    ),
    (
        "finalizers",
        "Finalizers are the names of tasks to complete before the object is removed. Whoever completes a task removes its name.",
    ),
    (
        "generateName",
        "GenerateName is the beginning of the name of a new object without a name. The server adds random letters.",
    ),
    (
        "generation",
        "Generation is the number of the desired state. The server increments it when the spec changes.",
    ),
    ("labels", "Labels are texts by name, by which objects are selected."),
    (
        "managedFields",
        "ManagedFields lists the fields that each manager has set, for server-side apply. The server maintains it.",
    ),
    (
        "name",
        "Name identifies the object among those of its kind in the namespace. It cannot be changed.",
    ),
    (
        "namespace",
        "Namespace is the namespace of the object; empty for a kind of the whole cluster. It cannot be changed.",
    ),
    (
        "ownerReferences",
        "OwnerReferences are the objects on which this one depends. When all of them are gone, it is deleted.",
    ),
    (
        "resourceVersion",
        "ResourceVersion identifies a state of the object. An update that contains another one than the present is refused.",
    ),
    (
        "uid",
        "UID identifies the object for all time: an object of the same name that is created later has another one.",
    ),
];

/// Adds the descriptions to the schema of metadata.
pub(super) fn describe(schema: &mut Value) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (field, text) in FIELDS {
        let Some(property) = properties.get_mut(field).and_then(Value::as_object_mut) else {
            continue;
        };
        // A reference has no key beside it.
        if let Some(reference) = property.remove("$ref") {
            property.insert("allOf".to_owned(), json!([{"$ref": reference}]));
        }
        property.insert("description".to_owned(), json!(text));
    }
}
