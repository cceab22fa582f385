//! Discovery and OpenAPI of custom kinds.

use crate::{
    exchange::{CRDS, Step, compare, get, record, send},
    ours, real,
};
use kubewright_apiserver::{ApiServer, Options};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn crd() -> Value {
    let text = include_str!("bars.json").replace("objects.example.com", "documents.example.com");
    serde_json::from_str(&text).expect("JSON")
}

/// The CRD that `kubewright create api` generates, with all Kubernetes extensions added.
fn foobar() -> Value {
    let text = include_str!("foobar.json");
    serde_json::from_str(text).expect("JSON")
}

fn discovery() -> Vec<Step> {
    vec![
        send("POST", CRDS, crd()),
        get("/apis/documents.example.com"),
        get("/apis/documents.example.com/v1"),
        get("/apis/documents.example.com/v1beta1"),
        get("/apis/documents.example.com/v1alpha1"),
        get("/apis/documents.example.com/v0"),
        get("/apis/documents.example.com/v9"),
        get("/apis/nope"),
        get("/apis/apps/v9"),
        get("/apis/apiextensions.k8s.io/v1"),
        get("/api"),
        send("DELETE", format!("{CRDS}/bars.documents.example.com"), Value::Null),
    ]
}

#[tokio::test]
async fn each_group_and_version_has_its_documents() {
    compare("discovery", discovery()).await;
}

fn aggregated() -> Vec<Step> {
    let delete = send("DELETE", format!("{CRDS}/bars.documents.example.com"), Value::Null);
    vec![
        send("POST", CRDS, crd()),
        get("/apis").accepting(AGGREGATED),
        get("/api").accepting(AGGREGATED),
        get("/apis"),
        delete,
    ]
}

/// This server must describe the groups that it serves as the real one does, in the same order.
#[tokio::test]
async fn aggregated_discovery_describes_served_groups_as_the_real_server() {
    let text = fs::read_to_string(file("aggregated")).expect("a recording");
    let theirs: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let ours = ours::run(&aggregated()).await;
    for (at, list) in [(1, "items"), (2, "items"), (3, "groups")] {
        let ours = ours[at].normal();
        let groups: Vec<&Value> = ours["body"][list].as_array().expect("groups").iter().collect();
        let name = |group: &Value| {
            group["metadata"]["name"]
                .as_str()
                .or(group["name"].as_str())
                .unwrap_or_default()
                .to_owned()
        };
        let names: Vec<String> = groups.iter().map(|it| name(it)).collect();
        let mut expected: Vec<Value> = theirs[at]["body"][list].as_array().expect("groups").clone();
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
        send("DELETE", format!("{CRDS}/foobars.openapi.example.com"), Value::Null),
    ]
}

/// Removes the descriptions that Kubernetes writes: those of parameters and of the definitions in `io.k8s`.
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
async fn the_openapi_document_of_a_custom_kind_equals_the_real_servers() {
    let text = fs::read_to_string(file("openapi")).expect("a recording");
    let theirs: Value = serde_json::from_str(&text).expect("JSON");
    let answers = ours::run(&openapi()).await;
    let mut ours: Value = serde_json::from_str(&answers[1].body).expect("JSON");
    without_foreign_texts(&mut ours);
    for part in ["openapi", "info", "paths"] {
        same(part, &ours[part], &theirs["v3"][part]);
    }
    let schemas = |document: &Value| -> BTreeMap<String, Value> {
        serde_json::from_value(document["components"]["schemas"].clone()).expect("schemas")
    };
    for (name, schema) in schemas(&theirs["v3"]) {
        same(&name, schemas(&ours).get(&name).unwrap_or(&Value::Null), &schema);
    }
    let ours: Value = serde_json::from_str(&answers[2].body).expect("JSON");
    for (name, definition) in theirs["v2"].as_object().expect("definitions") {
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

fn file(name: &str) -> String {
    format!("{}/tests/custom/recorded/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

#[test]
#[ignore = "asks a real server; writes recorded/"]
fn record_documents() {
    record("discovery", &discovery());
    record("aggregated", &aggregated());
    let answers = real::run(&openapi());
    let mut v3: Value = serde_json::from_str(&answers[1].body).expect("JSON");
    without_foreign_texts(&mut v3);
    let v2: Value = serde_json::from_str(&answers[2].body).expect("JSON");
    let mut definitions = v2["definitions"].clone();
    definitions
        .as_object_mut()
        .expect("definitions")
        .retain(|name, _| name.starts_with("com.example.openapi."));
    let text = serde_json::to_string_pretty(&json!({"v3": v3, "v2": definitions})).expect("JSON");
    fs::write(file("openapi"), text + "\n").expect("a file");
}
