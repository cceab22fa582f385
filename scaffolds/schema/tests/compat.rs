//! What counts as breaking an API, and what does not.

use kubewright_schema::compat::breaking;
use serde_json::{Value, json};

fn crd(spec: Value) -> Value {
    versioned(json!([version("v1", spec)]))
}

fn version(name: &str, spec: Value) -> Value {
    json!({"name": name, "served": true, "storage": name == "v1", "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
}

fn versioned(versions: Value) -> Value {
    json!({"metadata": {"name": "foobars.test.example.com"}, "spec": {"group": "test.example.com", "scope": "Namespaced",
        "names": {"kind": "FooBar", "plural": "foobars", "shortNames": ["fb"]}, "versions": versions}})
}

/// The changes between two schemas of `spec`, `field: change`.
fn changes(old: Value, new: Value) -> Vec<String> {
    let found = breaking(&[crd(old)], &[crd(new)]);
    found.iter().map(|it| format!("{}: {}", it.field, it.change)).collect()
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn what_old_objects_and_clients_do_not_notice_breaks_nothing() {
    let wider = [
        (
            json!({"type": "integer", "minimum": 2}),
            json!({"type": "number", "minimum": 1}),
        ),
        (
            json!({"type": "string", "maxLength": 3, "pattern": "^a"}),
            json!({"type": "string", "maxLength": 4}),
        ),
        (
            json!({"type": "string", "enum": ["a"]}),
            json!({"type": "string", "enum": ["a", "b"]}),
        ),
        (json!({"type": "string"}), json!({"x-kubernetes-int-or-string": true})),
        (
            json!({"type": "string"}),
            json!({"type": "string", "nullable": true, "description": "Text."}),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"}),
        ),
    ];
    for (old, new) in wider {
        assert_eq!(
            changes(
                object(json!({"a": old})),
                object(json!({"a": new, "b": {"type": "string"}}))
            ),
            [""; 0]
        );
    }
    let mut required = object(json!({"a": {"type": "string", "default": "x"}}));
    required["required"] = json!(["a"]);
    assert_eq!(changes(object(json!({})), required), [""; 0], "a default fills it in");
}

#[test]
fn each_narrowing_is_named_with_its_field() {
    let narrower = [
        (
            json!({"type": "number"}),
            json!({"type": "integer"}),
            "spec.a: the type was number and is integer",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "minLength": 1}),
            "spec.a: `minLength` is 1 and was not there",
        ),
        (
            json!({"type": "integer", "maximum": 5}),
            json!({"type": "integer", "maximum": 4}),
            "spec.a: `maximum` was 5 and is 4",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "pattern": "a"}),
            "spec.a: `pattern` is new",
        ),
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "string", "enum": ["b"]}),
            "spec.a: the enum value \"a\" is gone",
        ),
        (
            json!({"type": "string", "nullable": true}),
            json!({"type": "string"}),
            "spec.a: null is not allowed any more",
        ),
        (
            json!({"type": "string", "default": "x"}),
            json!({"type": "string"}),
            "spec.a: the default was \"x\" and is gone",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object"}),
            "spec.a: arbitrary keys are not kept any more",
        ),
        (
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            json!({"type": "object"}),
            "spec.a: unknown fields are not preserved any more",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
            "spec.a: `x-kubernetes-list-type` was \"atomic\" and is \"set\"",
        ),
        (
            json!({"type": "array", "items": object(json!({"b": {"type": "string"}}))}),
            json!({"type": "array", "items": object(json!({}))}),
            "spec.a[].b: the field is gone",
        ),
        (
            json!({"type": "integer"}),
            json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]}),
            "spec.a: the rule `self > 1` is new",
        ),
    ];
    for (old, new, expected) in narrower {
        assert_eq!(
            changes(object(json!({"a": old})), object(json!({"a": new}))),
            [expected]
        );
    }
    let mut required = object(json!({"a": {"type": "string"}}));
    required["required"] = json!(["a"]);
    assert_eq!(
        changes(object(json!({"a": {"type": "string"}})), required),
        ["spec.a: the field is required"]
    );
}

#[test]
fn versions_names_and_endpoints_are_promises_too() {
    let spec = || object(json!({}));
    let old = versioned(json!([version("v1", spec()), version("v1beta1", spec())]));
    let mut new = versioned(json!([version("v1", spec())]));
    new["spec"]["names"]["shortNames"] = json!([]);
    new["spec"]["versions"][0]["subresources"] = json!({});
    let found: Vec<String> = breaking(std::slice::from_ref(&old), &[new])
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        found,
        [
            "`foobars.test.example.com`: the short name `fb` is gone: commands that use it fail",
            "`foobars.test.example.com`, `v1`: the subresource `status` is gone: clients of its endpoint get a 404",
            "`foobars.test.example.com`, `v1beta1`: the version is gone: clients of it get a 404",
        ]
    );
    let without_storage = versioned(json!([version("v1beta1", spec())]));
    let found = breaking(std::slice::from_ref(&old), &[without_storage]);
    assert_eq!(
        found[0].consequence,
        "objects are stored in it; keep it unserved until they are migrated"
    );
    assert_eq!(breaking(&[old], &[])[0].change, "the kind is gone");
}
