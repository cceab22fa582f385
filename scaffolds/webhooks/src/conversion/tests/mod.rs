//! Objects that are converted, and objects that cannot be.

mod claims;
mod hostile;
pub(crate) mod kinds;
mod shells;
mod types;

use std::{convert::Infallible, future::ready, sync::Arc, time::Duration};

use http::{Request, Response};
use kube::{Client, CustomResource, client::Body};
use kubewright_runtime::{Manager, Metrics, Result, component::certificates::empty_review};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower::service_fn;

use self::kinds::{hub, to_v1, to_v2, v1};
use super::{answer::Conversion, convert::Converter, each::ObjectConverter, *};
use crate::{
    server::{Endpoint, local_share},
    webhook::{component, hooks},
};

mod v3 {
    use super::*;

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v3",
        kind = "FooBar",
        namespaced,
        storage = false
    )]
    pub struct FooBarSpec {
        pub tries: u32,
    }
}

fn v1_to_v3(_: v1::FooBar) -> Result<v3::FooBar, String> {
    // Its metadata is forgotten.
    Ok(v3::FooBar::new("x", v3::FooBarSpec { tries: 1 }))
}

fn v3_to_v1(_: v3::FooBar) -> Result<v1::FooBar, String> {
    Err("v3 cannot be stored".to_owned())
}

fn converter() -> Converter {
    hub().spoke(v3_to_v1, v1_to_v3).converter().unwrap()
}

/// A conversion that answers reviews without an API server.
fn conversion(metrics: &Metrics) -> Arc<Conversion> {
    let each = ObjectConverter {
        converter: converter(),
        stored: None,
    };
    Arc::new(Conversion::new("/convert".to_owned(), each, metrics))
}

const V1: &str = "test.example.com/v1";
const V2: &str = "test.example.com/v2";

fn object(api_version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": api_version, "kind": "FooBar",
        "metadata": {"name": "a", "namespace": "default", "uid": "u", "managedFields": [{"manager": "m"}]},
        "spec": spec,
    })
}

/// The object in the other version, and its spec.
fn to(api_version: &str, object: &Value) -> Value {
    converter().convert(object.clone(), api_version).unwrap()
}

fn refused(object: Value, api_version: &str) -> String {
    converter().convert(object, api_version).unwrap_err().to_string()
}

#[test]
fn an_object_that_fits_both_versions_has_no_annotation() {
    let old = object(V1, json!({"target": "a:1", "items": [{"name": "x"}]}));
    let new = to(V2, &old);
    let expected = object(V2, json!({"host": "a", "port": 1, "items": [{"name": "x"}]}));
    assert_eq!(new, expected);
    assert_eq!(to(V1, &new), old);
}

#[test]
fn what_a_version_cannot_hold_comes_back_exactly_unknown_fields_and_empty_ones_too() {
    let mut old = object(
        V1,
        json!({"target": "a:01", "colour": "red", "unknown": {"a": [null, 1.0]}, "items": [{"name": "x", "weight": 7}]}),
    );
    old["status"] = json!({"ready": true, "unknown": 1});
    old["metadata"]["labels"] = json!({"app": "x"});
    let new = to(V2, &old);
    assert_eq!(new["spec"], json!({"host": "a", "port": 1, "items": [{"name": "x"}]}));
    assert_eq!(new["status"], json!({"ready": true}));
    assert!(
        new["metadata"]["annotations"]["test.example.com/v1-only"].is_string(),
        "{new}"
    );
    assert_eq!(to(V1, &new), old);
    // The other way around too.
    let new = object(V2, json!({"host": "a", "port": 1, "tries": 3}));
    let old = to(V1, &new);
    assert_eq!(old["spec"], json!({"target": "a:1"}));
    assert_eq!(to(V2, &old), new);
}

#[test]
fn what_a_client_has_changed_or_removed_is_not_restored_and_the_rest_is() {
    let items = json!([{"name": "x", "weight": 7}, {"name": "y", "weight": 8}, {"name": "z"}]);
    let old = object(
        V1,
        json!({"target": "a:01", "colour": "red", "items": items, "unknown": 1}),
    );
    let mut new = to(V2, &old);
    new["spec"]["port"] = json!(2);
    new["spec"]["items"] = json!([{"name": "y"}, {"name": "new"}]);
    new["metadata"]["labels"] = json!({"added": "later"});
    let changed = to(V1, &new);
    assert_eq!(
        changed["spec"],
        json!({"target": "a:2", "colour": "red", "items": [{"name": "y", "weight": 8}, {"name": "new"}], "unknown": 1})
    );
    assert_eq!(changed["metadata"]["labels"], json!({"added": "later"}));
    // A removed parent takes what is below it along.
    let mut status = object(V1, json!({"target": "a:1"}));
    status["status"] = json!({"ready": true, "unknown": 1});
    let mut new = to(V2, &status);
    new.as_object_mut().unwrap().remove("status");
    assert_eq!(to(V1, &new).get("status"), None);
}

#[test]
fn an_annotation_that_somebody_has_broken_restores_nothing() {
    let mut new = object(V2, json!({"host": "a", "port": 1}));
    let unfit = r#"{"digest":"","kept":[{"path":["spec","target"],"value":[5],"shown":["a:1"]}]}"#;
    let metadata = r#"{"digest":"","kept":[{"path":["metadata","labels","a"],"value":["!"]}]}"#;
    let nowhere = r#"{"digest":"","kept":[{"path":[]},{"path":["spec","a","b"],"value":[1]}]}"#;
    for text in ["", "{}", unfit, metadata, nowhere] {
        new["metadata"]["annotations"] = json!({"test.example.com/v1-only": text, "other": "stays"});
        let old = to(V1, &new);
        assert_eq!(old["spec"], json!({"target": "a:1"}), "{text}");
        assert_eq!(old["metadata"]["annotations"], json!({"other": "stays"}), "{text}");
        assert_eq!(old["metadata"].get("labels"), None, "{text}");
    }
}

#[test]
fn the_definition_says_what_is_stored_once_it_is_known() {
    let (converter, bad) = (
        converter(),
        object(V1, json!({"target": "a:1", "unknown": "x".repeat(300_000)})),
    );
    assert!(converter.convert(bad.clone(), V2).is_ok());
    converter.stored.set("v2");
    assert!(converter.convert(bad, V2).is_err());
}

#[tokio::test]
async fn a_list_of_things_that_are_no_objects_is_refused_before_it_takes_memory() {
    let conversion = conversion(&Metrics::new());
    let body = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"u","desiredAPIVersion":"{V1}","objects":[{}{{}}]}}}}"#,
        "{},".repeat(1_000_000)
    );
    let (code, answer) = conversion
        .answer(body.into(), Duration::from_secs(30), local_share())
        .await;
    assert_eq!(code, http::StatusCode::BAD_REQUEST);
    assert!(String::from_utf8_lossy(&answer.bytes()).contains("an object without metadata: {}"));
}

#[test]
fn a_required_field_that_is_missing_is_filled_in() {
    let old = object(V1, json!({}));
    let new = to(V2, &old);
    assert_eq!(new["spec"], json!({"host": "", "port": 0}));
    assert_eq!(to(V1, &new)["spec"], json!({"target": ""}));
}

#[test]
fn each_failure_says_from_where_to_where_and_why() {
    let with = |target: &str| object(V1, json!({"target": target}));
    let between = format!("from {V1} to {V2}: ");
    assert_eq!(
        refused(with("a:b"), V2),
        format!("{between}spec.target: invalid digit found in string")
    );
    assert_eq!(
        refused(object(V1, json!({"target": 1})), V2),
        format!("{between}the object does not fit the type of v1: invalid type: integer `1`, expected a string")
    );
    assert_eq!(
        refused(object(V2, json!({"host": "panic", "port": 1})), V1),
        format!("from {V2} to {V1}: the conversion panicked: no host")
    );
    let hint = "\n\nhint: pass the metadata of its argument on";
    assert_eq!(
        refused(with("rename:1"), V2),
        format!("{between}the conversion changed metadata.name{hint}")
    );
    assert!(refused(with("a:1"), "test.example.com/v3").contains("the conversion changed metadata.name"));
    let unknown = "this operator converts FooBars of test.example.com in v1, v2, v3 only";
    assert_eq!(
        refused(with("a:1"), "test.example.com/v4"),
        format!("from {V1} to test.example.com/v4: {unknown}")
    );
}

#[test]
fn a_hub_without_spokes_or_with_one_twice_is_refused() {
    let said = |hub: Hub<v1::FooBar>| hub.converter().err().unwrap().to_string();
    assert_eq!(said(Hub::new()), "the conversion of FooBar: there is no spoke");
    let twice = hub().spoke(to_v1, to_v2);
    assert_eq!(said(twice), "the conversion of FooBar: version v2 is declared twice");
}

async fn ask(conversion: &Arc<Conversion>, desired: &str, objects: Vec<Value>) -> Value {
    let mut review = empty_review(desired);
    review["request"]["objects"] = json!(objects);
    let body = review.to_string().into();
    let (code, answer) = conversion
        .clone()
        .answer(body, Duration::from_secs(30), local_share())
        .await;
    assert_eq!(code, http::StatusCode::OK);
    serde_json::from_slice::<Value>(&answer.bytes()).unwrap()["response"].clone()
}

#[tokio::test]
async fn a_thousand_objects_are_converted_in_their_order() {
    let conversion = conversion(&Metrics::new());
    let objects = (0..1_000).map(|port| object(V1, json!({"target": format!("a:{port}")})));
    let answer = ask(&conversion, V2, objects.collect()).await;
    assert_eq!(answer["result"], json!({"status": "Success"}));
    let ports = answer["convertedObjects"].as_array().unwrap().iter();
    let ports: Vec<_> = ports.map(|it| it["spec"]["port"].as_u64().unwrap()).collect();
    assert_eq!(ports, (0..1_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_panic_fails_its_own_request_by_name_and_is_counted() {
    let metrics = Metrics::new();
    let conversion = conversion(&metrics);
    let bad = |host: &str| object(V2, json!({"host": host, "port": 1}));
    let answer = ask(&conversion, V1, vec![bad("a"), bad("panic")]).await;
    let why = format!("FooBar default/a: from {V2} to {V1}: the conversion panicked: no host");
    assert_eq!(answer["result"], json!({"status": "Failure", "message": why}));
    let answer = ask(&conversion, V1, vec![bad("panic"); 5]).await;
    let text = answer["result"]["message"].as_str().unwrap();
    assert!(text.ends_with("no host; and 4 more objects"), "{text}");
    assert_eq!(
        ask(&conversion, V1, vec![bad("a")]).await["result"]["status"],
        "Success"
    );
    let text = metrics.encode();
    assert!(
        text.contains("controller_runtime_conversion_webhook_panics_total 6"),
        "{text}"
    );
    assert!(
        text.contains(r#"kubewright_conversion_failures_total{webhook="/convert"} 6"#),
        "{text}"
    );
}

#[tokio::test]
async fn an_operator_with_a_conversion_alone_has_the_component_and_permissions_by_name() {
    let service = service_fn(|_: Request<Body>| ready(Ok::<_, Infallible>(Response::new(Body::empty()))));
    let manager = Manager::builder(Client::new(service, "default"))
        .name("foobar-operator")
        .build();
    assert!(component::files(&hooks(&manager), "foobar-operator").is_empty());
    assert!(component::rules(&hooks(&manager)).is_empty());
    hub().register(&manager).unwrap();
    assert!(hub().register(&manager).is_err(), "one kind has one conversion");
    let files = component::files(&hooks(&manager), "foobar-operator");
    assert!(files.contains_key("service.yaml") && !files.contains_key("manifests.yaml"));
    assert_eq!(
        files["kustomization.yaml"][0]["resources"],
        json!(["service.yaml", "secret.yaml", "pod_disruption_budget.yaml"])
    );
    // With `minAvailable` one replica would block the drain of its node.
    let budget = &files["pod_disruption_budget.yaml"][0]["spec"];
    assert_eq!(budget["maxUnavailable"], 1);
    assert_eq!(budget.get("minAvailable"), None);
    // Without it, Pods that are not ready stop every drain.
    assert_eq!(budget["unhealthyPodEvictionPolicy"], "AlwaysAllow");
    for rule in component::rules(&hooks(&manager)) {
        manager.grant(rule);
    }
    let roles = manager.roles(false).unwrap();
    assert_eq!(
        roles[0]["rules"],
        json!([{
            "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"],
            "resourceNames": ["foobars.test.example.com"], "verbs": ["get", "list", "patch", "watch"],
        }, {"apiGroups": ["test.example.com"], "resources": ["foobars"], "verbs": ["get"]}])
    );
}
