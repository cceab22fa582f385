//! Installing CRDs with an API server that takes some time to serve a new kind.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use http::{Method, Request, Response};
use kube::client::Body;
use serde_json::json;
use tower::service_fn;

use super::*;
use crate::{
    client::{WriteGate, over},
    metrics::Metrics,
};

/// Responses from a script: for each path the codes and bodies in turn, the last one repeated.
type Script = Vec<(&'static str, Vec<(u16, Value)>)>;

fn client(script: Script) -> (Client, Arc<Mutex<Vec<String>>>) {
    let (script, seen) = (Arc::new(Mutex::new(script)), Arc::<Mutex<Vec<_>>>::default());
    let log = seen.clone();
    let serve = move |request: Request<Body>| {
        let path = request.uri().path().to_owned();
        let call = format!("{} {path}", request.method());
        if *request.method() == Method::PATCH {
            assert_eq!(request.uri().query(), Some("&force=true&fieldManager=kubewright-crds"));
        }
        let mut script = script.lock().unwrap();
        let answers = script
            .iter_mut()
            .find(|(key, _)| *key == call)
            .map(|(_, answers)| answers);
        let answers = answers.unwrap_or_else(|| panic!("{call}"));
        let (code, body) = if answers.len() > 1 {
            answers.remove(0)
        } else {
            answers[0].clone()
        };
        log.lock().unwrap().push(call);
        let body = if code < 300 {
            body
        } else {
            json!({"kind": "Status", "status": "Failure", "message": body, "reason": "x", "code": code})
        };
        let answer = Response::builder()
            .status(code)
            .body(Body::from(body.to_string().into_bytes()));
        async move { Ok::<_, Infallible>(answer.unwrap()) }
    };
    (
        over(service_fn(serve), "default", &Metrics::new(), WriteGate::open()),
        seen,
    )
}

const NAME: &str = "foobars.test.example.com";
const PATCH: &str = "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/foobars.test.example.com";
const GET: &str = "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/foobars.test.example.com";
const DISCOVERY: &str = "GET /apis/test.example.com/v1";
const LIST: &str = "GET /apis/test.example.com/v1/foobars";

fn crd(conditions: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": NAME},
        "spec": {
            "group": "test.example.com", "scope": "Namespaced", "names": {"kind": "FooBar", "plural": "foobars"},
            "versions": [{"name": "v1", "served": true, "storage": true}, {"name": "v0", "served": false, "storage": false}],
        },
        "status": {"conditions": conditions, "acceptedNames": {"kind": "FooBar", "plural": "foobars"}, "storedVersions": []},
    })
}

fn condition(type_: &str, status: &str) -> Value {
    json!([{"type": type_, "status": status, "message": "the plural is in use", "reason": "x", "lastTransitionTime": null}])
}

fn discovery(resources: &[&str]) -> Value {
    let resources: Vec<_> = resources
        .iter()
        .map(|name| json!({"name": name, "kind": "FooBar", "namespaced": true, "singularName": "", "verbs": []}))
        .collect();
    json!({"kind": "APIResourceList", "groupVersion": "test.example.com/v1", "resources": resources})
}

#[tokio::test(start_paused = true)]
async fn an_object_can_be_created_after_the_install() {
    let (client, seen) = client(vec![
        (PATCH, vec![(503, json!("starting")), (200, crd(json!([])))]),
        (
            GET,
            vec![(200, crd(json!([]))), (200, crd(condition("Established", "True")))],
        ),
        (
            DISCOVERY,
            vec![
                (404, json!("no")),
                (200, discovery(&[])),
                (200, discovery(&["foobars"])),
            ],
        ),
        (LIST, vec![(404, json!("no")), (200, json!({"items": []}))]),
    ]);
    install(&client, &[crd(Value::Null)]).await.unwrap();
    let expected = [
        PATCH, PATCH, GET, GET, DISCOVERY, DISCOVERY, DISCOVERY, LIST, DISCOVERY, LIST,
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_forbidden_or_needs_the_converter_counts_as_served() {
    for (code, message) in [
        (403, "not in all namespaces"),
        (
            500,
            "conversion webhook for test.example.com/v2, Kind=FooBar failed: Post \"https://op.default.svc:443/convert\": no answer",
        ),
    ] {
        let (client, _) = client(vec![
            (PATCH, vec![(200, crd(json!([])))]),
            (GET, vec![(200, crd(condition("Established", "True")))]),
            (DISCOVERY, vec![(200, discovery(&["foobars"]))]),
            (LIST, vec![(code, json!(message))]),
        ]);
        install(&client, &[crd(Value::Null)]).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn errors_name_the_crd_and_the_remedy() {
    let (forbidden, _) = client(vec![(PATCH, vec![(403, json!("user op cannot patch"))])]);
    let error = install(&forbidden, &[crd(Value::Null)]).await.unwrap_err().to_string();
    assert!(
        error.starts_with(&format!(
            "the CRD `{NAME}` may not be applied: user op cannot patch\n\nhint: "
        )),
        "{error}"
    );

    let (invalid, _) = client(vec![(PATCH, vec![(422, json!("spec.versions: Required"))])]);
    let error = install(&invalid, &[crd(Value::Null)]).await.unwrap_err().to_string();
    assert_eq!(error, format!("the CRD `{NAME}` is refused: spec.versions: Required"));

    let (taken, _) = client(vec![
        (PATCH, vec![(200, crd(json!([])))]),
        (GET, vec![(200, crd(condition("NamesAccepted", "False")))]),
    ]);
    let started = Instant::now();
    let error = install(&taken, &[crd(Value::Null)]).await.unwrap_err().to_string();
    assert_eq!(
        error,
        format!("the CRD `{NAME}` is not served after 60s: its names are taken: the plural is in use")
    );
    assert_eq!(started.elapsed(), TIMEOUT);

    let (unused, _) = client(vec![]);
    assert!(
        install(&unused, &[json!({})])
            .await
            .unwrap_err()
            .to_string()
            .contains("has no name")
    );
}
