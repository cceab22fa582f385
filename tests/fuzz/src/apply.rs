//! Server-side apply: what several managers apply and write, one after the other, on one object.

use kubewright_apiserver::testing::{
    apply::{Error, Schema, Writer, apply as apply_to, keep_times, update},
    kinds,
};
use serde_json::{Value, json};
use std::sync::LazyLock;

use crate::parts;

const MANAGERS: [&str; 3] = ["one", "two", "three"];

static DEPLOYMENT: LazyLock<Schema> = LazyLock::new(|| {
    let schema = kinds::openapi_schema("io.k8s.api.apps.v1.Deployment").expect("Deployments are built in");
    Schema::compile(&schema, &kinds::openapi_schema)
});

static WIDGET: LazyLock<Schema> = LazyLock::new(|| {
    Schema::custom(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "a": {"type": "string"}, "n": {"type": "integer"}, "f": {"type": "number"}, "x": {"x-kubernetes-int-or-string": true},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "l"], "items": {
                "type": "object", "required": ["k"], "properties": {
                    "k": {"type": "string"}, "l": {"type": "integer", "default": 1}, "v": {"type": "string"}}}},
            "list": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            "open": {"type": "object", "additionalProperties": {"type": "object", "properties": {"v": {"type": "integer"}}}},
            "one": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"v": {"type": "string"}}},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}))
});

/// Each part is written by another manager: one that has `"apply": true` beside its fields is applied, others are put.
/// Whatever was there, force never conflicts, and what is applied twice in a row changes nothing.
pub fn apply(bytes: &[u8]) {
    let Some(bodies) = parts::values(bytes, 5) else { return };
    let mut live: Option<Value> = None;
    for (at, mut body) in bodies.into_iter().enumerate() {
        let Some(fields) = body.as_object_mut() else { return };
        let is_applied = fields.remove("apply").is_some();
        let is_forced = fields.remove("force").is_some();
        let is_custom = fields.get("kind").is_none_or(|kind| kind != "Deployment");
        let writer = writer(is_custom, MANAGERS[at % MANAGERS.len()]);
        fields.insert("apiVersion".to_owned(), json!(writer.api_version));
        fields.insert("kind".to_owned(), json!(writer.kind));
        // Both are the registry's to see to, before.
        let metadata = fields.entry("metadata").or_insert_with(|| json!({"name": "it"}));
        if !metadata.is_object() {
            return;
        }
        if is_applied {
            live = applied(live.as_ref(), &body, (is_forced, &writer)).or(live);
        } else {
            update(live.as_ref(), &mut body, &writer);
            live = Some(body);
        }
    }
}

fn writer(is_custom: bool, manager: &str) -> Writer<'_> {
    let (api_version, kind, schema) = if is_custom {
        ("example.com/v1", "Widget", &*WIDGET)
    } else {
        ("apps/v1", "Deployment", &*DEPLOYMENT)
    };
    Writer {
        manager,
        api_version,
        kind,
        subresource: "",
        now: "2026-01-02T03:04:05Z",
        reset: &["status"],
        schema,
        versions: &|_| None,
        convert: None,
    }
}

fn applied(live: Option<&Value>, body: &Value, (force, writer): (bool, &Writer<'_>)) -> Option<Value> {
    if !force && let Err(Error::Conflict(_)) = apply_to(live, body, false, writer) {
        return None;
    }
    let first = match apply_to(live, body, true, writer) {
        Ok(first) => first,
        Err(Error::Conflict(found)) => panic!("force conflicts: {found:?}"),
        Err(_) => return None,
    };
    let mut second = apply_to(Some(&first), body, false, writer).expect("what was applied can be applied");
    keep_times(&first, &mut second);
    assert_eq!(second, first, "an apply is applied once");
    Some(first)
}
