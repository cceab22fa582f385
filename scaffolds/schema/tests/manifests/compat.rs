//! Tests which changes count as breaking an API, and which do not.

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
    let set = |default: [&str; 2]| {
        let list = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"});
        json!({"type": "object", "properties": {"levels": list}, "default": {"levels": default}})
    };
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
        (set(["low", "high"]), set(["high", "low"])),
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

/// The breaking changes of one field, each as `change: consequence`.
fn of_field(old: &Value, new: &Value) -> Vec<String> {
    let spec = |field: &Value| object(json!({"a": field}));
    let found = breaking(&[crd(spec(old))], &[crd(spec(new))]);
    found
        .iter()
        .map(|it| format!("{}: {}: {}", it.field, it.change, it.consequence))
        .collect()
}

const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

#[test]
fn a_change_that_admits_the_same_values_or_more_is_not_breaking() {
    let integer = |format: &str| json!({"type": "integer", "format": format});
    let number = |format: &str| json!({"type": "number", "format": format});
    let text = |more: Value| with(json!({"type": "string"}), more);
    let any = || json!({"x-kubernetes-preserve-unknown-fields": true});
    for (old, new) in [
        (integer("int32"), integer("int64")),
        (integer("int32"), json!({"type": "integer"})),
        (integer("int32"), number("double")),
        (integer("int64"), number("float")),
        (number("float"), number("double")),
        (json!({"type": "number"}), number("double")),
        (
            json!({"type": "integer", "minimum": 0, "maximum": 255}),
            integer("int32"),
        ),
        (
            integer("int32"),
            with(integer("int64"), json!({"minimum": i32::MIN, "maximum": i32::MAX})),
        ),
        (text(json!({})), text(json!({"minLength": 0}))),
        (text(json!({})), text(json!({"format": "semver"}))),
        (text(json!({})), text(json!({"format": "password"}))),
        (
            json!({"type": "array", "items": text(json!({}))}),
            json!({"type": "array", "items": text(json!({})), "minItems": 0}),
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}),
        ),
        (
            json!({"type": "number", "maximum": 1, "exclusiveMaximum": true}),
            json!({"type": "number", "maximum": 1}),
        ),
        (
            json!({"type": "integer", "multipleOf": 4}),
            json!({"type": "integer", "multipleOf": 2}),
        ),
        (
            text(json!({"anyOf": [{"maxLength": 3}]})),
            text(json!({"anyOf": [{"pattern": "a"}, {"maxLength": 3}]})),
        ),
        (
            text(json!({"allOf": [{"maxLength": 3}, {"pattern": "a"}]})),
            text(json!({"allOf": [{"pattern": "a"}]})),
        ),
        (
            json!({"type": "boolean"}),
            json!({"type": "boolean", "enum": [false, true]}),
        ),
        (
            text(json!({"x-kubernetes-validations": [{"rule": "self != 'a'", "message": "a"}]})),
            text(json!({"x-kubernetes-validations": [{"rule": "self != 'a'", "message": "b"}]})),
        ),
        (
            object(json!({"k": text(json!({}))})),
            json!({"type": "object", "additionalProperties": text(json!({}))}),
        ),
        (
            object(json!({"k": text(json!({}))})),
            with(any(), json!({"type": "object"})),
        ),
        (
            json!({"type": "object", "required": ["k"], "properties": {"k": text(json!({}))}}),
            json!({"type": "object", "properties": {"k": text(json!({"default": "x"}))}}),
        ),
    ] {
        assert_eq!(of_field(&old, &new), [""; 0], "{old} to {new}");
    }
}

#[test]
fn a_constraint_that_refuses_only_what_never_decoded_is_not_breaking() {
    use kubewright_schema::{CustomType, Options, finish};

    mod own {
        use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

        use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
        use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        #[derive(kube::CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            pub quantity: Quantity,
            pub number_or_text: IntOrString,
            pub time: Time,
            pub micro_time: MicroTime,
            pub timestamp: jiff::Timestamp,
            pub uuid: uuid::Uuid,
            pub v4: Ipv4Addr,
            pub v6: Ipv6Addr,
            pub ip: IpAddr,
        }
    }

    /// Takes the constraints out that a release did not write.
    fn strip(schema: &mut Value) {
        if let Value::Array(list) = schema {
            list.iter_mut().for_each(strip);
        } else if let Value::Object(keys) = schema {
            keys.remove("pattern");
            if keys.contains_key("x-kubernetes-int-or-string") {
                keys.retain(|key, _| !["anyOf", "minimum", "maximum"].contains(&key.as_str()));
            }
            keys.values_mut().for_each(strip);
        }
    }

    let crd = <own::Other as kube::CustomResourceExt>::crd;
    let new = finish(&[CustomType::of::<own::Other>(crd)], &Options::default()).unwrap();
    let mut old = new.clone();
    old.iter_mut().for_each(strip);
    assert!(old != new, "nothing was added");
    assert_eq!(breaking(&old, &new), []);
    // A text in place of the types.
    let text = |field: &str| of_field(&json!({"type": "string"}), at(&new[0], field));
    for field in ["quantity", "timestamp", "uuid", "v4", "ip"] {
        assert!(text(field).iter().any(|it| it.contains("`pattern` is new")), "{field}");
    }

    let condition = |more: Value| json!({"type": "array", "items": object(json!({"status": with(json!({"type": "string"}), more)}))});
    let constrained = condition(json!({"enum": ["True"], "pattern": "a", "maxLength": 3}));
    assert_eq!(of_field(&constrained, &condition(json!({}))), [""; 0]);

    // The same pattern in place of another one, and another limit.
    for (old, new, expected) in [
        (
            json!({"x-kubernetes-int-or-string": true, "pattern": "^[0-9]+%$"}),
            json!({"x-kubernetes-int-or-string": true, "pattern": QUANTITY}),
            "`pattern` changed",
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!({"x-kubernetes-int-or-string": true, "maximum": 7}),
            "`maximum` is 7 and was not set",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "pattern": QUANTITY}),
            "`pattern` is new",
        ),
        (
            json!({"x-kubernetes-int-or-string": true, "minimum": i32::MIN, "maximum": i32::MAX}),
            json!({"x-kubernetes-int-or-string": true, "pattern": QUANTITY}),
            "`pattern` is new",
        ),
    ] {
        let found = of_field(&old, &new);
        assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    }
}

/// The schema of a field of the spec.
fn at<'c>(crd: &'c Value, field: &str) -> &'c Value {
    &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"][field]
}

#[test]
fn a_text_that_becomes_a_time_without_an_offset_is_breaking() {
    use kubewright_schema::{CustomType, Options, finish};

    mod own {
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        #[derive(kube::CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            pub day_and_time: jiff::civil::DateTime,
            pub time_of_day: jiff::civil::Time,
        }
    }

    let crd = <own::Other as kube::CustomResourceExt>::crd;
    let new = finish(&[CustomType::of::<own::Other>(crd)], &Options::default()).unwrap();
    for (field, format) in [("day_and_time", "partial-date-time"), ("time_of_day", "partial-time")] {
        let (text, is) = (json!({"type": "string"}), at(&new[0], field));
        assert_eq!(of_field(&with(text.clone(), json!({"format": format})), is), [""; 0]);
        let found = of_field(&text, is);
        assert!(found.len() == 1 && found[0].contains("`pattern` is new"), "{found:?}");
    }
}

/// API servers do not check a stored value again that a write does not change, except as noted in
/// <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting>.
#[test]
fn the_kind_of_a_whole_object_that_never_decoded_as_another_one_is_not_breaking() {
    let claim = |limits: Value| {
        let text = |own: &str| {
            with(
                json!({"type": "string"}),
                if limits[own].is_null() {
                    json!({})
                } else {
                    json!({"enum": [limits[own]]})
                },
            )
        };
        let fields = json!({"apiVersion": text("apiVersion"), "kind": text("kind"), "metadata": {"type": "object"}});
        object(json!({"claim": object(fields)}))
    };
    let limited = claim(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim"}));
    assert_eq!(changes(claim(json!({})), limited), [""; 0]);
    let by_author = claim(json!({"kind": "PersistentVolumeClaim"}));
    assert_eq!(changes(claim(json!({})), by_author), ["spec.claim.kind: `enum` is new"]);
}

#[test]
fn a_new_variant_of_an_enum_with_data_is_not_breaking_and_others_are() {
    let variants = |fields: &[&str], branches: Value| {
        let fields = fields
            .iter()
            .map(|it| ((*it).to_owned(), json!({"type": "integer"})))
            .collect();
        with(object(Value::Object(fields)), json!({"oneOf": branches}))
    };
    let required = |names: &[&str]| json!({"required": names});
    let old = variants(&["a", "x"], json!([required(&["a"])]));
    let to = |fields: &[&str], branch: Value| variants(fields, json!([required(&["a"]), branch]));
    assert_eq!(of_field(&old, &to(&["a", "b", "x"], required(&["b"]))), [""; 0]);
    assert_eq!(of_field(&old, &to(&["a", "b", "x"], required(&["x", "b"]))), [""; 0]);
    let open = json!({"x-kubernetes-preserve-unknown-fields": true});
    for (old, new) in [
        (old.clone(), to(&["a", "x"], required(&["x"]))),
        (
            old.clone(),
            to(&["a", "b", "x"], json!({"required": ["b"], "minProperties": 1})),
        ),
        (old.clone(), variants(&["a", "b", "x"], json!([required(&["b"])]))),
        (
            old.clone(),
            variants(&["a", "x"], json!([required(&["a"]), required(&["a"])])),
        ),
        (
            with(old.clone(), open.clone()),
            with(to(&["a", "x"], required(&["b"])), open),
        ),
    ] {
        let found = of_field(&old, &new);
        assert!(found.len() == 1 && found[0].contains("`oneOf` changed"), "{found:?}");
    }
}

#[test]
fn each_breaking_change_has_the_consequence_that_api_servers_give_it() {
    const KEPT: &str = "writes of such a value are refused; API servers keep stored ones while nobody changes them, and objects whose values \
                        the new type cannot decode are never reconciled";
    const NEW: &str = "writes that were valid may be refused; API servers keep stored values while nobody changes them";
    const EACH: &str = "each write of an object may be refused that was valid, even if it does not change this field";
    const UNIQUE: &str =
        "server-side apply merges it differently, and objects with duplicates are refused at each write";
    const MERGES: &str = "server-side apply merges it differently";
    const DEFAULT: &str = "objects that leave it out get another value";
    let text = |more: Value| with(json!({"type": "string"}), more);
    let list = |more: Value| with(json!({"type": "array", "items": {"type": "string"}}), more);
    let rule =
        |more: Value| text(json!({"x-kubernetes-validations": [with(json!({"rule": "self == oldSelf"}), more)]}));
    let open = || json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    for (old, new, expected) in [
        (
            text(json!({"enum": ["a", "b"]})),
            text(json!({"enum": ["a"]})),
            format!("spec.a: the enum value \"b\" is gone: {KEPT}"),
        ),
        (
            text(json!({})),
            json!({"type": "integer"}),
            format!("spec.a: the type was string and is integer: {KEPT}"),
        ),
        (
            text(json!({"nullable": true})),
            text(json!({})),
            format!("spec.a: null is no longer allowed: {KEPT}"),
        ),
        (
            text(json!({})),
            text(json!({"maxLength": 3})),
            format!("spec.a: `maxLength` is 3 and was not set: {NEW}"),
        ),
        (
            text(json!({})),
            text(json!({"pattern": "a"})),
            format!("spec.a: `pattern` is new: {NEW}"),
        ),
        (
            json!({"type": "integer", "format": "int64"}),
            json!({"type": "integer", "format": "int32"}),
            format!("spec.a: `format` changed: {NEW}"),
        ),
        (
            json!({"type": "number", "format": "double"}),
            json!({"type": "number", "format": "float"}),
            format!("spec.a: `format` changed: {NEW}"),
        ),
        (
            json!({"type": "number", "minimum": 1}),
            json!({"type": "number", "minimum": 1, "exclusiveMinimum": true}),
            format!("spec.a: `exclusiveMinimum` is new: {NEW}"),
        ),
        (
            text(json!({})),
            text(json!({"anyOf": [{"pattern": "a"}]})),
            format!("spec.a: `anyOf` is new: {EACH}"),
        ),
        (
            text(json!({})),
            text(json!({"not": {"pattern": "a"}})),
            format!("spec.a: `not` is new: {EACH}"),
        ),
        (
            text(json!({"anyOf": [{"pattern": "a"}, {"pattern": "b"}]})),
            text(json!({"anyOf": [{"pattern": "a"}]})),
            format!("spec.a: `anyOf` changed: {EACH}"),
        ),
        (
            open(),
            with(open(), json!({"x-kubernetes-embedded-resource": true})),
            format!("spec.a: an object there needs `apiVersion`, `kind` and valid `metadata`: {EACH}"),
        ),
        (
            object(json!({"k": text(json!({}))})),
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            format!("spec.a.k: the type was string and is integer: {KEPT}"),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "additionalProperties": {"type": "string"}, "properties": {"k": {"type": "integer"}}}),
            format!("spec.a.k: the type was string and is integer: {KEPT}"),
        ),
        (
            open(),
            with(
                open(),
                json!({"properties": {"k": {"type": "integer"}, "any": {"x-kubernetes-preserve-unknown-fields": true}}}),
            ),
            format!("spec.a.k: the type was any and is integer: {KEPT}"),
        ),
        (
            with(open(), json!({"x-kubernetes-embedded-resource": true})),
            with(
                open(),
                json!({"x-kubernetes-embedded-resource": true, "properties": {"kind": text(json!({})), "k": text(json!({}))}}),
            ),
            format!("spec.a.k: the type was any and is string: {KEPT}"),
        ),
        (
            text(json!({})),
            text(json!({"default": "x"})),
            format!("spec.a: the default is \"x\" and was not set: {DEFAULT}"),
        ),
        (
            list(json!({})),
            list(json!({"x-kubernetes-list-type": "set"})),
            format!("spec.a: `x-kubernetes-list-type` was \"atomic\" and is \"set\": {UNIQUE}"),
        ),
        (
            list(json!({"x-kubernetes-list-type": "set"})),
            list(json!({})),
            format!("spec.a: `x-kubernetes-list-type` was \"set\" and is \"atomic\": {MERGES}"),
        ),
        (
            rule(json!({})),
            rule(json!({"optionalOldSelf": true})),
            format!("spec.a: the rule `self == oldSelf` is also for values that are new (`optionalOldSelf`): {NEW}"),
        ),
    ] {
        assert_eq!(of_field(&old, &new), [expected], "{old} to {new}");
    }
}

/// A schema with more keywords.
fn with(mut schema: Value, more: Value) -> Value {
    schema
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    schema
}
