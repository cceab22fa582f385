//! Discovery and OpenAPI of custom kinds.

use super::{
    exchange::{CRDS, Step, get, send},
    ours,
};
use kubewright_apiserver::{ApiServer, Options};
use serde_json::Value;
use std::collections::BTreeMap;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn crd() -> Value {
    serde_json::from_str(include_str!("bars.json")).expect("JSON")
}

/// The CRD that `kubewright create api` generates, with all Kubernetes extensions added.
fn foobar() -> Value {
    serde_json::from_str(include_str!("foobar.json")).expect("JSON")
}

fn aggregated() -> Vec<Step> {
    vec![
        send("POST", CRDS, crd()),
        get("/apis").accepting(AGGREGATED),
        get("/api").accepting(AGGREGATED),
        get("/apis"),
    ]
}

/// The documents of a recording.
fn recorded(text: &str) -> Vec<Value> {
    let lines = recordings::read::<Value, Value>(text).into_iter();
    lines.map(|line| line.answered).collect()
}

/// Descriptions of the groups that this server has equal the real server's, in the same order.
#[tokio::test]
async fn aggregated_discovery_says_the_same_of_what_is_served() {
    let theirs = recorded(include_str!("recorded/aggregated.jsonl"));
    let ours = ours::run(&aggregated()).await;
    for ((ours, theirs), list) in ours[1..].iter().zip(theirs).zip(["items", "items", "groups"]) {
        let ours = ours.json();
        let groups: Vec<&Value> = ours[list].as_array().expect("groups").iter().collect();
        let name = |group: &Value| {
            group["metadata"]["name"]
                .as_str()
                .or(group["name"].as_str())
                .unwrap_or_default()
                .to_owned()
        };
        let names: Vec<String> = groups.iter().map(|it| name(it)).collect();
        let mut expected: Vec<Value> = theirs[list].as_array().expect("groups").clone();
        expected.retain(|group| names.contains(&name(group)));
        for (ours, theirs) in groups.iter().zip(&mut expected) {
            keep_served(ours, theirs);
            same(&name(ours), ours, theirs);
        }
        assert_eq!(groups.len(), expected.len());
    }
}

/// Removes from `theirs` the resources, subresources and versions that `ours` does not have.
fn keep_served(ours: &Value, theirs: &mut Value) {
    let Some(versions) = theirs.get_mut("versions").and_then(Value::as_array_mut) else {
        return;
    };
    let has = |list: &Value, key: &str, it: &Value| {
        list.as_array()
            .is_some_and(|all| all.iter().any(|ours| ours[key] == it[key]))
    };
    versions.retain(|version| has(&ours["versions"], "version", version));
    for (version, ours) in versions.iter_mut().zip(ours["versions"].as_array().expect("versions")) {
        let Some(resources) = version.get_mut("resources").and_then(Value::as_array_mut) else {
            continue;
        };
        resources.retain(|resource| has(&ours["resources"], "resource", resource));
        for (resource, ours) in resources
            .iter_mut()
            .zip(ours["resources"].as_array().expect("resources"))
        {
            if let Some(all) = resource.get_mut("subresources").and_then(Value::as_array_mut) {
                all.retain(|it| has(&ours["subresources"], "subresource", it));
            }
        }
    }
}

fn openapi() -> Vec<Step> {
    vec![
        send("POST", CRDS, foobar()),
        get("/openapi/v3/apis/openapi.example.com/v1"),
        get("/openapi/v2"),
    ]
}

/// The texts that are Kubernetes' own are left out: those of parameters and of the definitions of `io.k8s`.
fn without_foreign_texts(document: &mut Value) {
    for item in document["paths"].as_object_mut().expect("paths").values_mut() {
        for value in item.as_object_mut().expect("an item").values_mut() {
            let parameters = if value.is_array() {
                value
            } else {
                &mut value["parameters"]
            };
            for parameter in parameters.as_array_mut().into_iter().flatten() {
                parameter.as_object_mut().expect("a parameter").remove("description");
            }
        }
    }
    for (name, schema) in document["components"]["schemas"].as_object_mut().expect("schemas") {
        if name.starts_with("io.k8s.") {
            without_descriptions(schema);
        }
        // The real server lists the kind in every group with which it was compiled.
        if name.ends_with(".DeleteOptions") {
            schema
                .as_object_mut()
                .expect("a schema")
                .remove("x-kubernetes-group-version-kind");
        }
    }
}

fn without_descriptions(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| key != "description" || !value.is_string());
            fields.values_mut().for_each(without_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(without_descriptions),
        _ => {}
    }
}

#[tokio::test]
async fn the_openapi_document_of_a_custom_kind_is_the_real_one() {
    let theirs = recorded(include_str!("recorded/openapi.jsonl"));
    let [mut v3, v2] = <[Value; 2]>::try_from(theirs).expect("two documents");
    let answers = ours::run(&openapi()).await;
    let mut ours = answers[1].json();
    without_foreign_texts(&mut ours);
    without_foreign_texts(&mut v3);
    for part in ["openapi", "info", "paths"] {
        same(part, &ours[part], &v3[part]);
    }
    let schemas = |document: &Value| -> BTreeMap<String, Value> {
        serde_json::from_value(document["components"]["schemas"].clone()).expect("schemas")
    };
    for (name, schema) in schemas(&v3) {
        same(&name, schemas(&ours).get(&name).unwrap_or(&Value::Null), &schema);
    }
    let ours = answers[2].json();
    for (name, definition) in v2.as_object().expect("definitions") {
        same(name, &ours["definitions"][name], definition);
    }
}

fn same(name: &str, ours: &Value, theirs: &Value) {
    let show = |value: &Value| serde_json::to_string_pretty(value).expect("JSON");
    assert!(
        ours == theirs,
        "{name}\nours:\n{}\ntheirs:\n{}",
        show(ours),
        show(theirs)
    );
}

#[tokio::test]
async fn the_urls_of_documents_change_with_their_content() {
    let server = ApiServer::new(Options::default());
    let index = |body: &str| serde_json::from_str::<Value>(body).expect("JSON")["paths"].clone();
    let before = index(&ours::ask(&server, &get("/openapi/v3")).await.body);
    assert_eq!(before["apis/openapi.example.com/v1"], Value::Null);
    ours::ask(&server, &send("POST", CRDS, foobar())).await;
    let after = index(&ours::ask(&server, &get("/openapi/v3")).await.body);
    let url = after["apis/openapi.example.com/v1"]["serverRelativeURL"]
        .as_str()
        .expect("a place");
    assert_eq!(before["apis/apps/v1"], after["apis/apps/v1"]);
    assert_eq!(ours::ask(&server, &get(url)).await.code, 200);
    assert_eq!(
        ours::ask(&server, &get("/openapi/v3/apis/openapi.example.com/v1?hash=OLD"))
            .await
            .code,
        301
    );
    assert_eq!(ours::ask(&server, &get("/openapi/v3/apis/nope/v1")).await.code, 404);
}
