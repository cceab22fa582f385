//! Objects of custom kinds: decoding, versions, columns, selectors, status and scale.

use crate::exchange::{CRDS, Step, compare, get, merge, record, send};
use serde_json::{Value, json};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const GROUP: &str = "objects.example.com";

/// Four versions: a stored one; a deprecated one; a deprecated one with its own warning, which preserves unknown
/// fields; and one that is not served.
fn crd() -> Value {
    serde_json::from_str(include_str!("bars.json")).expect("JSON")
}

fn objects(version: &str) -> String {
    format!("/apis/{GROUP}/{version}/namespaces/default/bars")
}

fn bar(name: &str, rest: Value) -> Value {
    let mut bar = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Bar", "metadata": {"name": name}});
    for (key, value) in rest.as_object().expect("an object") {
        bar[key] = value.clone();
    }
    bar
}

fn around(steps: Vec<Step>) -> Vec<Step> {
    let mut all = vec![send("POST", CRDS, crd())];
    all.extend(steps);
    all.push(send("DELETE", format!("{CRDS}/bars.{GROUP}"), Value::Null));
    all
}

fn decoding() -> Vec<Step> {
    let dry = format!("{}?dryRun=All", objects("v1"));
    let kind =
        |api_version: Value, kind: Value| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}});
    let v1 = json!(format!("{GROUP}/v1"));
    let mut steps: Vec<Step> = [
        kind(v1.clone(), json!("Baz")),
        kind(json!(format!("{GROUP}/v2")), json!("Bar")),
        kind(json!(format!("{GROUP}/v1beta1")), json!("Bar")),
        bar("a", json!({"spec": 5})),
        bar(
            "a",
            json!({"spec": {"bogus": 1, "map": {"a": null}, "color": null, "nil": null, "size": null}, "top": 1}),
        ),
        bar(
            "a",
            json!({"metadata": {"name": "a", "finalizers": ["foo", "a.b", "a.b/c"]}}),
        ),
        bar("a", json!({"spec": {"replicas": -1}, "status": {"replicas": -1}})),
        bar("a", json!({"spec": {"replicas": 3_000_000_000_i64}})),
        bar("a", json!({"spec": {"replicas": 1.5}})),
        bar("a", json!({"spec": {"replicas": "x"}})),
        bar("a", json!({"spec": {"short": "four", "color": 3}})),
    ]
    .into_iter()
    .map(|body| send("POST", &dry, body))
    .collect();
    steps.push(send(
        "POST",
        format!("{dry}&fieldValidation=Strict"),
        bar("a", json!({"spec": {"bogus": 1}, "top": 1})),
    ));
    around(steps)
}

#[tokio::test]
async fn objects_are_pruned_defaulted_and_refused_by_their_schema() {
    compare("objects", decoding()).await;
}

fn printed() -> Vec<Step> {
    let at = objects("v1");
    let mut steps = vec![
        send(
            "POST",
            &at,
            bar(
                "a",
                json!({"metadata": {"name": "a", "labels": {"x/y": "z"}}, "spec": {
            "size": 7, "num": 1.5, "flag": true, "when": "2020-01-01T00:00:00Z", "list": ["p", "q<"],
            "map": {"a.b": "c", "z": "<&>"}, "nil": null, "replicas": 3}}),
            ),
        ),
        send(
            "POST",
            &at,
            bar(
                "b",
                json!({"spec": {"color": "blue", "flag": false, "when": "nope", "list": []}}),
            ),
        ),
        send("POST", &at, bar("c", json!({}))),
        send(
            "POST",
            &at,
            bar("d", json!({"spec": {"size": -2, "num": 3, "when": ""}})),
        ),
        send("POST", &at, bar("e", json!({"spec": {"num": 0.00001, "size": 1000}}))),
        get(format!("{at}?includeObject=None")).accepting(TABLE),
        get(format!("{}?includeObject=None", objects("v1alpha1"))).accepting(TABLE),
    ];
    let selectors = [
        "spec.color=red",
        "spec.size=7",
        "spec.size=-2",
        "spec.flag=true",
        "spec.flag=",
        "spec.bogus=1",
        "metadata.name=a",
    ];
    steps.extend(selectors.map(|it| get(format!("{at}?fieldSelector={it}&includeObject=None")).accepting(TABLE)));
    around(steps)
}

#[tokio::test]
async fn columns_and_field_selectors_use_the_values_at_their_paths() {
    compare("printed", printed()).await;
}

fn versions() -> Vec<Step> {
    let name = |version: &str, name: &str| format!("{}/{name}", objects(version));
    let mut other = bar("b", json!({"spec": {"color": "blue", "bogus": 1}}));
    other["apiVersion"] = json!(format!("{GROUP}/v1beta1"));
    around(vec![
        send(
            "POST",
            objects("v1"),
            bar("a", json!({"spec": {"size": 7}, "status": {"replicas": 2}})),
        ),
        get(name("v1beta1", "a")),
        get(name("v1alpha1", "a")),
        get(name("v0", "a")),
        send("POST", objects("v1beta1"), other),
        get(name("v1", "b")),
        merge(name("v1", "b"), json!({"spec": {"size": 9}})),
        get(name("v1beta1", "b")),
        merge(name("v1beta1", "b"), json!({"spec": {"extra": "x"}})),
        get(name("v1", "b")),
        get(objects("v1beta1")),
    ])
}

#[tokio::test]
async fn an_object_is_read_and_written_in_every_version() {
    compare("versions", versions()).await;
}

fn status_and_scale() -> Vec<Step> {
    let one = format!("{}/a", objects("v1"));
    let scale = format!("{one}/scale");
    around(vec![
        send(
            "POST",
            objects("v1"),
            bar("a", json!({"spec": {"replicas": 3}, "status": {"replicas": 9}})),
        ),
        merge(
            format!("{one}/status"),
            json!({"status": {"replicas": 2, "selector": "a=b"}, "spec": {"replicas": 5}}),
        ),
        merge(format!("{one}/status"), json!({"status": {"replicas": -2}})),
        merge(&one, json!({"status": {"replicas": 7}, "spec": {"size": 1}})),
        get(&scale),
        merge(&scale, json!({"spec": {"replicas": 4}})),
        merge(&scale, json!({"spec": {"replicas": -4}})),
        merge(&scale, json!({"spec": {"replicas": null}})),
        get(&one),
        get(format!("{}/a/scale", objects("v1alpha1"))),
        get(format!("{}/a/status", objects("v1alpha1"))),
    ])
}

#[tokio::test]
async fn status_and_scale_have_endpoints_of_their_own() {
    compare("status", status_and_scale()).await;
}

fn old_objects() -> Vec<Step> {
    let mut stricter = crd();
    let mut looser = crd();
    stricter["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = json!({"size": {"type": "integer", "maximum": 5}, "added": {"type": "string", "default": "new"},
            "color": {"type": "string"}, "flag": {"type": "boolean"}, "replicas": {"type": "integer"}});
    stricter["spec"]["versions"][0]["additionalPrinterColumns"] =
        json!([{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]);
    looser["spec"]["versions"][0] = stricter["spec"]["versions"][0].clone();
    let at = objects("v1");
    around(vec![
        send("POST", &at, bar("a", json!({"spec": {"size": 7, "short": "abc"}}))),
        merge(
            format!("{CRDS}/bars.{GROUP}"),
            json!({"spec": {"versions": stricter["spec"]["versions"]}}),
        ),
        get(&at),
        merge(format!("{at}/a"), json!({"metadata": {"labels": {"a": "b"}}})),
        merge(format!("{at}/a"), json!({"spec": {"size": 8}})),
        merge(format!("{at}/a"), json!({"spec": {"size": 3}})),
        get(format!("{at}?includeObject=None")).accepting(TABLE),
    ])
}

#[tokio::test]
async fn objects_that_a_new_schema_forbids_are_still_listed_and_may_remain_unchanged() {
    compare("old", old_objects()).await;
}

#[test]
#[ignore = "asks a real server; writes recorded/"]
fn record_objects() {
    record("objects", &decoding());
    record("printed", &printed());
    record("versions", &versions());
    record("status", &status_and_scale());
    record("old", &old_objects());
}
