//! Tests which changes count as breaking an API, and which do not.

use kubewright_schema::testing::breaking;
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

/// The breaking changes between two schemas of `spec`, each as `field: change`.
fn changes(old: Value, new: Value) -> Vec<String> {
    let found = breaking(&[crd(old)], &[crd(new)]);
    found.iter().map(|it| format!("{}: {}", it.field, it.change)).collect()
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn changes_without_effect_on_old_objects_and_clients_are_not_breaking() {
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
            json!({"x-kubernetes-int-or-string": true}),
            json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ),
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
    assert_eq!(
        changes(object(json!({})), required),
        [""; 0],
        "a required field with a default"
    );
}

#[test]
fn each_narrower_constraint_is_reported_with_its_field() {
    let narrower = [
        (
            json!({"type": "number"}),
            json!({"type": "integer"}),
            "spec.a: the type was number and is integer",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "minLength": 1}),
            "spec.a: `minLength` is 1 and was not set",
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
            "spec.a: null is no longer allowed",
        ),
        (
            json!({"type": "string", "default": "x"}),
            json!({"type": "string"}),
            "spec.a: the default was \"x\" and is gone",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object"}),
            "spec.a: arbitrary keys are no longer allowed",
        ),
        (
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            json!({"type": "object"}),
            "spec.a: unknown fields are no longer preserved",
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
fn removed_versions_names_and_endpoints_are_breaking() {
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
        "objects are stored in it; keep the version with `served: false` until `make migrate-storage` has run on every cluster"
    );
    assert_eq!(breaking(&[old], &[])[0].change, "the kind is gone");
}

/// Every kind of breaking change that the documentation lists.
#[test]
fn each_documented_breaking_change_of_a_schema_is_reported() {
    let text = || json!({"type": "string"});
    let map = |value: Value| json!({"type": "object", "additionalProperties": value});
    let list = |more: Value| {
        let mut list = json!({"type": "array", "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}});
        list.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        list
    };
    for (old, new, expected) in [
        // Types.
        (
            json!({"type": "integer"}),
            text(),
            "spec.a: the type was integer and is string",
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            text(),
            "spec.a: the type was int-or-string and is string",
        ),
        (
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            text(),
            "spec.a: the type was any and is string",
        ),
        (text(), object(json!({})), "spec.a: the type was string and is object"),
        // Bounds.
        (
            text(),
            json!({"type": "string", "maxLength": 9}),
            "spec.a: `maxLength` is 9 and was not set",
        ),
        (
            list(json!({})),
            list(json!({"minItems": 1})),
            "spec.a: `minItems` is 1 and was not set",
        ),
        (
            list(json!({"maxItems": 9})),
            list(json!({"maxItems": 8})),
            "spec.a: `maxItems` was 9 and is 8",
        ),
        (
            map(text()),
            json!({"type": "object", "additionalProperties": text(), "maxProperties": 3}),
            "spec.a: `maxProperties` is 3 and was not set",
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
            "spec.a: `exclusiveMinimum` is new",
        ),
        (
            json!({"type": "integer"}),
            json!({"type": "integer", "multipleOf": 2}),
            "spec.a: `multipleOf` is new",
        ),
        (
            text(),
            json!({"type": "string", "format": "uuid"}),
            "spec.a: `format` is new",
        ),
        (
            json!({"type": "string", "pattern": "a"}),
            json!({"type": "string", "pattern": "b"}),
            "spec.a: `pattern` changed",
        ),
        (
            text(),
            json!({"type": "string", "enum": ["a"]}),
            "spec.a: `enum` is new",
        ),
        (
            object(json!({"x": text()})),
            json!({"type": "object", "properties": {"x": text()}, "oneOf": [{"required": ["x"]}]}),
            "spec.a: `oneOf` is new",
        ),
        // Inside lists and maps.
        (
            map(text()),
            map(json!({"type": "string", "minLength": 1})),
            "spec.a{}: `minLength` is 1 and was not set",
        ),
        (
            map(text()),
            map(json!({"type": "integer"})),
            "spec.a{}: the type was string and is integer",
        ),
        // Defaults.
        (
            json!({"type": "string", "default": "x"}),
            json!({"type": "string", "default": "y"}),
            "spec.a: the default was \"x\" and is \"y\"",
        ),
        // Merging.
        (
            list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})),
            list(json!({"x-kubernetes-list-type": "atomic"})),
            "spec.a: `x-kubernetes-list-type` was \"map\" and is \"atomic\"",
        ),
        (
            map(text()),
            json!({"type": "object", "additionalProperties": text(), "x-kubernetes-map-type": "atomic"}),
            "spec.a: `x-kubernetes-map-type` was \"granular\" and is \"atomic\"",
        ),
    ] {
        let found = changes(object(json!({"a": old})), object(json!({"a": new})));
        assert!(found.iter().any(|it| it == expected), "{expected}: {found:?}");
        let back = changes(object(json!({"a": new})), object(json!({"a": new})));
        assert_eq!(back, [""; 0], "nothing changed");
    }
}

#[test]
fn removing_a_version_is_breaking_unless_it_is_neither_served_nor_stored() {
    let spec = || object(json!({}));
    let named = |names: [&str; 2], served: [bool; 2], stored: usize| {
        let all = names.iter().enumerate().map(|(at, name)| {
            let mut version = version(name, spec());
            version["served"] = json!(served[at]);
            version["storage"] = json!(at == stored);
            version
        });
        versioned(all.collect())
    };
    let breaks = |old: &Value, new: &Value| -> Vec<String> {
        breaking(std::slice::from_ref(old), std::slice::from_ref(new))
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    let old = named(["v1", "v1beta1"], [true, true], 1);
    let without = versioned(json!([version("v1", spec())]));
    assert_eq!(
        breaks(&old, &without),
        [
            "`foobars.test.example.com`, `v1beta1`: the version is gone: objects are stored in it; keep the version with `served: false` until \
          `make migrate-storage` has run on every cluster"
        ]
    );
    let unserved = named(["v1", "v1beta1"], [true, false], 0);
    assert_eq!(
        breaks(&old, &unserved),
        ["`foobars.test.example.com`, `v1beta1`: the version is not served: clients of it get a 404"]
    );
    assert_eq!(breaks(&unserved, &without), [""; 0], "neither served nor stored");
    let mut of_a_cluster = unserved.clone();
    of_a_cluster["status"]["storedVersions"] = json!(["v1beta1", "v1"]);
    assert_eq!(breaks(&of_a_cluster, &without), breaks(&old, &without), "stored before");
    let mut more = named(["v1", "v2"], [true, true], 0);
    more["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
        object(json!({"new": {"type": "string"}}));
    assert_eq!(breaks(&without, &more), [""; 0], "a new version is not breaking");
}

#[test]
fn changes_of_scope_kind_and_selectable_fields_are_breaking() {
    let old = {
        let mut crd = versioned(json!([version("v1", object(json!({"a": {"type": "string"}})))]));
        crd["spec"]["versions"][0]["selectableFields"] = json!([{"jsonPath": ".spec.a"}]);
        crd["spec"]["versions"][0]["subresources"]["scale"] =
            json!({"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"});
        crd["spec"]["names"]["categories"] = json!(["all"]);
        crd
    };
    for (pointer, value, expected) in [
        (
            "/spec/scope",
            json!("Cluster"),
            "the scope was `Namespaced` and is `Cluster`",
        ),
        (
            "/spec/names/kind",
            json!("BarFoo"),
            "the kind was `FooBar` and is `BarFoo`",
        ),
        ("/spec/names/categories", json!([]), "the category `all` is gone"),
        (
            "/spec/versions/0/selectableFields",
            json!([]),
            "the selectable field `.spec.a` is gone",
        ),
        (
            "/spec/versions/0/subresources/scale/specReplicasPath",
            json!(".spec.m"),
            "the paths of the subresource `scale` changed",
        ),
    ] {
        let mut new = old.clone();
        *new.pointer_mut(pointer).unwrap() = value;
        let found: Vec<String> = breaking(std::slice::from_ref(&old), &[new])
            .iter()
            .map(|it| it.change.clone())
            .collect();
        assert_eq!(found, [expected]);
    }
    assert_eq!(breaking(std::slice::from_ref(&old), std::slice::from_ref(&old)), []);
    assert_eq!(breaking(&[], &[old]), [], "a new kind is not breaking");
}
