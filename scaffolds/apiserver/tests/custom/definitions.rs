//! Definitions: validation, acceptance of names, establishment and deletion.

use crate::exchange::{CRDS, Step, compare, get, merge, record, send};
use serde_json::{Value, json};

const GROUP: &str = "custom.example.com";

fn crd(plural: &str, kind: &str, spec: Value) -> Value {
    let mut crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
            "versions": [version("v1", json!({"type": "object"}))]},
    });
    for (key, value) in spec.as_object().expect("an object") {
        crd["spec"][key] = value.clone();
    }
    crd
}

fn version(name: &str, schema: Value) -> Value {
    json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}})
}

/// A dry run of a definition with one property, which has this schema.
fn property(schema: Value, strict: bool) -> Step {
    let schema = json!({"type": "object", "properties": {"a": schema}});
    let validation = if strict { "Strict" } else { "Warn" };
    let path = format!("{CRDS}?dryRun=All&fieldValidation={validation}");
    send(
        "POST",
        path,
        crd("bars", "Bar", json!({"versions": [version("v1", schema)]})),
    )
}

fn spec(spec: Value) -> Step {
    send("POST", format!("{CRDS}?dryRun=All"), crd("bars", "Bar", spec))
}

fn decoding() -> Vec<Step> {
    let items = |items: Value| json!({"type": "array", "items": items});
    let values = |values: Value| json!({"type": "object", "additionalProperties": values});
    let mut steps: Vec<Step> = [
        items(json!({"type": "string", "maxLength": "3"})),
        items(json!({"type": "string", "bogus": 3})),
        items(json!([{"type": "string"}])),
        items(Value::Null),
        values(json!({"type": "string", "bogus": 3, "maxLength": 3})),
        values(json!({"type": "string", "maxLength": 3.5})),
        values(json!(true)),
        values(json!(false)),
        values(json!(3)),
        json!({"type": "object", "enum": [null, 1, "a", {"b": 1}]}),
        json!({"type": "string", "default": null, "example": null}),
        json!({"type": "integer", "maximum": 10.0, "minimum": -0.5, "multipleOf": 0.25}),
        json!({"type": "integer", "maximum": "3"}),
        json!({"type": "integer", "maxLength": -1}),
        json!({"type": "string", "Format": "date"}),
        json!({"type": "string", "format": "strange"}),
        json!({"type": "string", "externalDocs": {"url": "x"}, "title": "t", "x-kubernetes-list-map-keys": []}),
        json!({"type": "array", "x-kubernetes-list-type": "", "items": {"type": "string"}}),
        json!("x"),
        Value::Null,
        json!({"type": "object", "required": "x"}),
        json!({"type": "object", "allOf": {}}),
        json!({"type": "object", "properties": []}),
        json!({"type": "object", "not": true}),
        json!({"type": "object", "nullable": "x"}),
        json!({"type": "object", "x-kubernetes-validations": [{"rule": 1}]}),
        json!({"type": "object", "enum": 3}),
        json!({"type": ["object", "null"]}),
    ]
    .into_iter()
    .map(|schema| property(schema, false))
    .collect();
    steps.push(property(
        json!({"type": "string", "bogus": 1, "externalDocs": {"bogus": 2}}),
        true,
    ));
    steps.extend(
        [
            json!({"group": 5}),
            json!({"scope": 5}),
            json!({"names": {"kind": "Bar", "plural": "bars", "shortNames": "b"}}),
            json!({"versions": {}}),
            json!({"versions": [{"name": "v1", "served": "yes", "storage": true}]}),
            json!({"versions": [{"name": "v1", "served": null, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}),
            json!({"preserveUnknownFields": false, "conversion": null}),
            json!({"conversion": {"strategy": "None"}, "bogus": 1}),
        ]
        .map(spec),
    );
    steps.push(send("POST", format!("{CRDS}?dryRun=All"), json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"}, "spec": 5})));
    steps
}

#[tokio::test]
async fn definitions_are_read_as_typed_objects() {
    compare("decoding", decoding()).await;
}

fn refusals() -> Vec<Step> {
    vec![
        spec(json!({"group": "x"})),
        spec(json!({"scope": "Galactic"})),
        spec(json!({"names": {"kind": "Bar", "plural": "Bars", "listKind": "Bar"}})),
        spec(json!({"names": {"kind": "", "plural": ""}})),
        spec(json!({"versions": [version("v1", json!({"type": "object", "properties": {"a": {}}}))]})),
        send(
            "POST",
            format!("{CRDS}?dryRun=All"),
            json!({"metadata": {"name": "other.custom.example.com"}, "spec": crd("bars", "Bar", json!({}))["spec"]}),
        ),
    ]
}

#[tokio::test]
async fn invalid_definitions_are_refused() {
    compare("refusals", refusals()).await;
}

fn life() -> Vec<Step> {
    let one = format!("{CRDS}/bars.{GROUP}");
    let objects = format!("/apis/{GROUP}/v1/namespaces/default/bars");
    let object = |name: &str| json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Bar", "metadata": {"name": name}});
    let two = [
        version("v1", json!({"type": "object"})),
        version("v2", json!({"type": "object"})),
    ];
    let mut moved = two.clone();
    (moved[0]["storage"], moved[1]["storage"]) = (json!(false), json!(true));
    vec![
        send(
            "POST",
            CRDS,
            crd(
                "bars",
                "Bar",
                json!({"names": {"kind": "Bar", "plural": "bars", "shortNames": ["b"]}}),
            ),
        ),
        get(&one),
        send("POST", &objects, object("a")),
        merge(&one, json!({"spec": {"scope": "Cluster", "names": {"kind": "Baz"}}})),
        merge(&one, json!({"spec": {"group": "other.example.com"}})),
        merge(&one, json!({"spec": {"versions": two}})),
        get(format!("/apis/{GROUP}/v2/namespaces/default/bars/a")),
        merge(&one, json!({"spec": {"versions": moved}})),
        get(&one),
        get(&objects),
        merge(
            format!("{objects}/a"),
            json!({"metadata": {"labels": {"stored": "again"}}}),
        ),
        merge(&one, json!({"spec": {"versions": [moved[1]]}})),
        merge(
            format!("{one}/status"),
            json!({"spec": {"scope": "Cluster"}, "status": {"storedVersions": ["v2"]}, "metadata": {"labels": {"a": "b"}}}),
        ),
        merge(
            format!("{one}/status"),
            json!({"status": {"acceptedNames": {"plural": "Not A Name"}}}),
        ),
        merge(&one, json!({"spec": {"versions": [moved[1]]}})),
        get(&objects),
        get(objects.replace("/v1/", "/v2/")),
        merge(&one, json!({"metadata": {"annotations": {"x": "y"}}})),
        send("DELETE", &one, Value::Null),
        get(&one),
        get(format!("/apis/{GROUP}/v2/namespaces/default/bars")),
        get(format!("/apis/{GROUP}")),
    ]
}

#[tokio::test]
async fn a_definition_is_established_changed_and_deleted_with_its_objects() {
    compare("life", life()).await;
}

fn held() -> Vec<Step> {
    let one = format!("{CRDS}/bars.{GROUP}");
    let objects = format!("/apis/{GROUP}/v1/namespaces/default/bars");
    let object = |name: &str| {
        json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Bar",
            "metadata": {"name": name, "finalizers": ["example.com/hold"]}})
    };
    vec![
        send("POST", CRDS, crd("bars", "Bar", json!({}))),
        send("POST", &objects, object("a")),
        send("DELETE", &one, Value::Null),
        get(format!("{objects}/a")),
        send("POST", &objects, object("b")),
        get(format!("/apis/{GROUP}/v1")),
    ]
}

#[tokio::test]
async fn a_definition_waits_for_objects_that_finalizers_keep() {
    compare("held", held()).await;
}

fn conflicts() -> Vec<Step> {
    let names = |kind: &str, plural: &str, singular: &str| json!({"names": {"kind": kind, "plural": plural, "singular": singular}});
    let mut short = names("C", "cs", "cc");
    short["names"]["shortNames"] = json!(["s1", "a", "s3"]);
    let mut first = names("A", "as", "a");
    first["names"]["shortNames"] = json!(["s1", "s2"]);
    let one = |plural: &str| get(format!("{CRDS}/{plural}.{GROUP}"));
    vec![
        send("POST", CRDS, crd("as", "A", first)),
        send("POST", CRDS, crd("bs", "A", names("A", "bs", "bb"))),
        send("POST", CRDS, crd("cs", "C", short)),
        send("POST", CRDS, crd("ds", "D", names("D", "ds", "d"))),
        one("bs"),
        one("cs"),
        get(format!("/apis/{GROUP}/v1/bs")),
        merge(
            format!("{CRDS}/ds.{GROUP}"),
            json!({"spec": {"names": {"shortNames": ["as"]}}}),
        ),
        one("ds"),
        send("DELETE", format!("{CRDS}/as.{GROUP}"), Value::Null),
        one("bs"),
        one("cs"),
        one("ds"),
        send("DELETE", format!("{CRDS}/bs.{GROUP}"), Value::Null),
        send("DELETE", format!("{CRDS}/cs.{GROUP}"), Value::Null),
        send("DELETE", format!("{CRDS}/ds.{GROUP}"), Value::Null),
    ]
}

#[tokio::test]
async fn a_name_is_accepted_for_the_first_definition_and_released_with_it() {
    compare("conflicts", conflicts()).await;
}

#[test]
#[ignore = "asks a real server; writes recorded/"]
fn record_definitions() {
    record("decoding", &decoding());
    record("refusals", &refusals());
    record("life", &life());
    record("held", &held());
    // Allows the real server to delete the object.
    let free = merge(
        format!("/apis/{GROUP}/v1/namespaces/default/bars/a"),
        json!({"metadata": {"finalizers": null}}),
    );
    _ = crate::real::run(&[free]);
    std::thread::sleep(std::time::Duration::from_secs(8));
    record("conflicts", &conflicts());
}
