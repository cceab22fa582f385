//! The schema of a version as OpenAPI publishes it: with the fields that every object has, and with the Kubernetes
//! extensions spelled out for readers that do not know them.

use serde_json::{Map, Value, json};

const META: &str = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.";
const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. Servers should \
    convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. Servers may infer this \
    from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const OBJECT_METADATA: &str = "Standard object's metadata. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const LIST_METADATA: &str = "Standard list metadata. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const EMBEDDED_API_VERSION: &str = "apiVersion defines the versioned schema of this representation of an object. More \
    info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const EMBEDDED_KIND: &str = "kind is a string value representing the type of this object. In CamelCase. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// The OpenAPI schemas of the kind and of its list, for one version of an accepted definition. `object` is the name of
/// the first.
pub(super) fn schemas(crd: &Value, version: &Value, object: &str) -> [Value; 2] {
    let names = &crd["spec"]["names"];
    let about = |kind: &Value| json!([{"group": crd["spec"]["group"], "version": version["name"], "kind": kind}]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut one = version["schema"]["openAPIV3Schema"].clone();
    unfold(&mut one);
    one["properties"]["apiVersion"] = described("string", API_VERSION);
    one["properties"]["kind"] = described("string", KIND);
    one["properties"]["metadata"] = reference("ObjectMeta", OBJECT_METADATA);
    one["x-kubernetes-group-version-kind"] = about(&names["kind"]);
    let items = format!(
        "List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md",
        text(&names["plural"])
    );
    let mut list = json!({
        "description": format!("{} is a list of {}", text(&names["listKind"]), text(&names["kind"])),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": described("string", API_VERSION),
            "kind": described("string", KIND),
            "items": {"description": items, "type": "array",
                "items": {"$ref": format!("#/components/schemas/{object}")}},
            "metadata": reference("ListMeta", LIST_METADATA),
        },
        "x-kubernetes-group-version-kind": about(&names["listKind"]),
    });
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    let fields: Vec<Value> = fields.filter_map(selectable).collect();
    if !fields.is_empty() {
        one["x-kubernetes-selectable-fields"] = json!(fields);
        list["x-kubernetes-selectable-fields"] = json!(fields);
    }
    [one, list]
}

fn selectable(field: &Value) -> Option<Value> {
    let path = field["jsonPath"].as_str()?;
    Some(json!({"fieldPath": path.strip_prefix('.').unwrap_or(path)}))
}

fn described(kind: &str, description: &str) -> Value {
    json!({"type": kind, "description": description})
}

fn reference(name: &str, description: &str) -> Value {
    json!({"description": description, "allOf": [{"$ref": format!("{META}{name}")}]})
}

/// Spells out `x-kubernetes-int-or-string` and `x-kubernetes-embedded-resource`, recursively.
fn unfold(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(unfold);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(key) {
            unfold(inner);
        }
    }
    // False is the default, so it is omitted.
    fields.retain(|key, value| !key.starts_with("x-kubernetes-") || *value != json!(false));
    if fields.get("x-kubernetes-int-or-string") == Some(&json!(true)) {
        int_or_string(fields);
    }
    if fields.get("x-kubernetes-embedded-resource") == Some(&json!(true)) {
        embedded(fields);
    }
}

fn int_or_string(fields: &mut Map<String, Value>) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let said_in_all_of = fields
        .get("allOf")
        .and_then(|all| all.get(0))
        .is_some_and(|it| it["anyOf"] == either);
    match fields.get("anyOf") {
        _ if said_in_all_of => {}
        Some(any) if *any == either => {}
        None => _ = fields.insert("anyOf".to_owned(), either),
        Some(_) => {
            let all = fields.entry("allOf").or_insert_with(|| json!([]));
            if let Some(all) = all.as_array_mut() {
                all.insert(0, json!({"anyOf": either}));
            }
        }
    }
}

fn embedded(fields: &mut Map<String, Value>) {
    let properties = fields.entry("properties").or_insert_with(|| json!({}));
    properties["apiVersion"] = described("string", EMBEDDED_API_VERSION);
    properties["kind"] = described("string", EMBEDDED_KIND);
    properties["metadata"] = reference("ObjectMeta", OBJECT_METADATA);
    let required = fields.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        for name in ["kind", "apiVersion"] {
            if !required.iter().any(|it| it == name) {
                required.push(json!(name));
            }
        }
    }
}
