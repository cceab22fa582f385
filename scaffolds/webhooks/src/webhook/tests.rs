//! Webhooks as their server calls them: from the body of a request to that of the response.

mod deleted;
mod dynamic;

use std::{
    convert::Infallible,
    future::{pending, ready},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kube::{
    Api, Client,
    api::PostParams,
    client::Body,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_apiserver::{ApiServer, Controllers, Options};
use kubewright_machinery::base64::{self, Encoding};
use kubewright_runtime::{Error, Kind, Manager, ObjectKey};
use serde_json::{Value, json};
use tower::service_fn;

use super::*;
use crate::{scope::FailurePolicy, server::local_share};

/// Does what the object says in its data.
struct Obedient;

impl Validator<ConfigMap> for Obedient {
    async fn validate(&self, cx: &Admission, change: Change<'_, ConfigMap>) -> Result<Verdict> {
        let object = change.new_object().or(change.old_object()).unwrap();
        let data = object.data.clone().unwrap_or_default();
        let mut verdict = Verdict::allowed();
        match data.get("do").map(String::as_str) {
            Some("panic") => panic!("no idea"),
            Some("hang") => std::future::pending().await,
            Some("fail") => return Err(Error::terminal("Broken", "the oracle is closed")),
            Some("refuse") => {
                _ = verdict
                    .invalid("data[do]", "refuse", "is refused")
                    .required("data[a]", "")
            }
            Some("forbid") => {
                _ = verdict.forbid(format!(
                    "{:?} by {}",
                    cx.operation(),
                    cx.user().username.as_deref().unwrap_or_default()
                ))
            }
            Some("read") => _ = cx.get::<Secret>("a")?,
            _ => {}
        }
        if cx.is_dry_run() {
            cx.warn("only a rehearsal");
            cx.audit("rehearsal", "yes");
        }
        Ok(verdict)
    }
}

/// Sets `data.a`.
struct SetsA;

impl Defaulter<ConfigMap> for SetsA {
    async fn default(&self, _: &Admission, object: &mut ConfigMap) -> Result<()> {
        let data = object.data.get_or_insert_default();
        data.entry("a".to_owned()).or_insert_with(|| "1".to_owned());
        Ok(())
    }
}

fn manager() -> Manager {
    let service = service_fn(|_: Request<Body>| ready(Ok::<_, Infallible>(Response::new(Body::empty()))));
    Manager::builder(Client::new(service, "default"))
        .name("foobar-operator")
        .build()
}

/// A manager with both webhooks.
fn both() -> Manager {
    let manager = manager();
    let ignore = FailurePolicy::Ignore;
    Webhook::validating(Obedient)
        .failure_policy(ignore)
        .register(&manager)
        .unwrap();
    Webhook::defaulting(SetsA)
        .failure_policy(ignore)
        .register(&manager)
        .unwrap();
    manager
}

/// Sends a request, and returns what the server answers: the `response`, or the Status of a failure.
async fn ask(manager: &Manager, mutating: bool, request: Value) -> (u16, Value) {
    let hook = hooks(manager)
        .into_iter()
        .find(|hook| matches!(hook.purpose, Purpose::Admission { mutating: it, .. } if it == mutating))
        .unwrap();
    let mut review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "kind": {"group": "", "version": "v1", "kind": "ConfigMap"}, "operation": "CREATE",
        "userInfo": {"username": "jane"}, "object": null, "oldObject": null, "dryRun": false,
    }});
    for (field, value) in request.as_object().unwrap() {
        review["request"][field] = value.clone();
    }
    let body = Bytes::from(review.to_string());
    let (code, body) = Arc::clone(&hook.endpoint)
        .answer(body, Duration::from_secs(5), local_share())
        .await;
    let mut answer: Value = serde_json::from_slice(&body.bytes()).unwrap();
    match code {
        StatusCode::OK => (200, answer["response"].take()),
        code => (code.as_u16(), answer),
    }
}

fn doing(what: &str) -> Value {
    json!({"object": {"metadata": {"name": "x"}, "data": {"do": what}}})
}

#[tokio::test]
async fn a_refusal_has_all_causes_and_an_answer_its_warnings() {
    let manager = both();
    let (code, refused) = ask(&manager, false, doing("refuse")).await;
    assert_eq!(
        (code, &refused["allowed"], &refused["uid"]),
        (200, &json!(false), &json!("u"))
    );
    assert_eq!(
        refused["status"]["message"],
        r#"ConfigMap "x" is invalid: [data[do]: Invalid value: "refuse": is refused, data[a]: Required value]"#
    );
    assert_eq!(refused["status"]["details"]["causes"][1]["field"], "data[a]");
    let mut rehearsed = doing("nothing");
    rehearsed["dryRun"] = json!(true);
    let expected = json!({"uid": "u", "allowed": true, "warnings": ["only a rehearsal"], "auditAnnotations": {"rehearsal": "yes"}});
    assert_eq!(ask(&manager, false, rehearsed).await, (200, expected));
    let metrics = manager.metrics().encode();
    let denied = "\nkubewright_webhook_denied_total{webhook=\"/validate--v1-configmap\"} 1\n";
    assert!(metrics.contains(denied), "{metrics}");
}

#[tokio::test]
async fn each_operation_has_the_objects_that_it_needs() {
    let manager = both();
    let object = doing("forbid")["object"].clone();
    let forbidden = async |request: Value| {
        let (_, answer) = ask(&manager, false, request).await;
        (
            answer["status"]["code"].clone(),
            answer["status"]["message"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let update = json!({"operation": "UPDATE", "object": object, "oldObject": object});
    assert_eq!(forbidden(update).await, (json!(403), "Update by jane".to_owned()));
    let delete = json!({"operation": "DELETE", "oldObject": object});
    assert_eq!(forbidden(delete).await, (json!(403), "Delete by jane".to_owned()));
    let (code, incomplete) = ask(&manager, false, json!({"operation": "UPDATE", "object": object})).await;
    assert_eq!(code, 500);
    assert_eq!(
        incomplete["message"],
        "the request has no objects that fit its operation Update"
    );
}

#[tokio::test]
async fn metadata_and_status_of_an_object_that_is_being_deleted_change_where_no_match_condition_leaves_them_out() {
    let mut object = doing("forbid")["object"].clone();
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut old = object.clone();
    (old["metadata"]["finalizers"], old["status"]) = (json!(["a"]), json!({}));
    let update = json!({"operation": "UPDATE", "object": object, "oldObject": old});
    let manager = both();
    for mutating in [false, true] {
        let allowed = ask(&manager, mutating, update.clone()).await;
        assert_eq!(
            allowed,
            (200, json!({"uid": "u", "allowed": true})),
            "mutating: {mutating}"
        );
    }
    let mut changed = update;
    changed["oldObject"]["data"]["b"] = json!("2");
    assert_eq!(
        ask(&manager, false, changed).await.1["allowed"],
        false,
        "its data changes"
    );
    let deletion = json!({"operation": "DELETE", "oldObject": object});
    assert_eq!(
        ask(&manager, false, deletion).await.1["allowed"],
        false,
        "this is asked for"
    );
}

#[tokio::test(start_paused = true)]
async fn a_panic_an_error_and_a_time_out_fail_one_request() {
    let manager = both();
    for (what, why) in [
        ("panic", "the webhook panicked: no idea"),
        ("fail", "the oracle is closed"),
        ("hang", "the webhook did not decide within 4.5s"),
        (
            "read",
            "the webhook does not read Secret\n\nhint: add `.reads::<Secret>()` to its declaration",
        ),
    ] {
        let (code, status) = ask(&manager, false, doing(what)).await;
        assert_eq!((code, status["message"].as_str()), (500, Some(why)));
        assert_eq!(
            (&status["kind"], &status["status"]),
            (&json!("Status"), &json!("Failure"))
        );
        assert_eq!(ask(&manager, false, doing("nothing")).await.0, 200, "the next request");
    }
    assert!(
        manager
            .metrics()
            .encode()
            .contains("\ncontroller_runtime_webhook_panics_total 1\n")
    );
}

#[tokio::test]
async fn a_default_is_a_patch_that_leaves_alone_what_the_type_does_not_know() {
    let manager = both();
    let object = json!({"metadata": {"name": "x"}, "data": {"b": "2"}, "unknown": {"c": 3}});
    let (_, answer) = ask(&manager, true, json!({"object": object})).await;
    let patch = base64::decode(answer["patch"].as_str().unwrap(), Encoding::Standard).unwrap();
    let patch: Value = serde_json::from_slice(&patch).unwrap();
    assert_eq!(patch, json!([{"op": "add", "path": "/data/a", "value": "1"}]));
    assert_eq!(answer["patchType"], "JSONPatch");
    let object = json!({"metadata": {"name": "x"}, "data": {"a": "2"}});
    let unchanged = ask(&manager, true, json!({"object": object})).await;
    assert_eq!(unchanged, (200, json!({"uid": "u", "allowed": true})));
}

#[tokio::test]
async fn an_object_that_does_not_fit_the_type_is_refused_unless_failures_are_ignored() {
    let manager = manager();
    let fail = || Webhook::validating(Obedient).foreign().objects(some_objects());
    fail().failure_policy(FailurePolicy::Fail).register(&manager).unwrap();
    let defaulting = Webhook::defaulting(SetsA).foreign().objects(some_objects());
    defaulting
        .failure_policy(FailurePolicy::Fail)
        .register(&manager)
        .unwrap();
    let (unfit, fit) = (
        json!({"metadata": {"name": "x"}, "data": {"a": 1}}),
        doing("forbid")["object"].clone(),
    );
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let deep: Box<serde_json::value::RawValue> = serde_json::from_str(&deep).unwrap();
    let refused = async |mutating, request: Value| {
        let (code, answer) = ask(&manager, mutating, request).await;
        let status = &answer["status"];
        assert_eq!((code, &answer["allowed"]), (200, &json!(false)), "{answer}");
        (
            status["code"].as_u64().unwrap(),
            status["message"].as_str().unwrap().to_owned(),
        )
    };
    for mutating in [false, true] {
        for operation in ["CREATE", "UPDATE"] {
            let request = json!({"operation": operation, "object": unfit, "oldObject": fit});
            let (code, why) = refused(mutating, request).await;
            assert_eq!(code, 400);
            assert!(why.starts_with("the ConfigMap does not fit its type, so "), "{why}");
        }
    }
    // The stored object does not fit: what replaces it is checked.
    let repaired = json!({"operation": "UPDATE", "object": fit, "oldObject": unfit});
    assert_eq!(refused(false, repaired).await, (403, "Update by jane".to_owned()));
    let repaired = json!({"operation": "UPDATE", "object": {"metadata": {"name": "x"}}, "oldObject": unfit});
    let (_, answer) = ask(&manager, false, repaired).await;
    assert_eq!(answer["allowed"], true);
    let warning = answer["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("checked as a new object, because the stored one"),
        "{warning}"
    );
    let deletion = json!({"operation": "DELETE", "object": null, "oldObject": unfit});
    assert_eq!(ask(&manager, false, deletion).await.1["allowed"], true);

    let ignoring = both();
    for mutating in [false, true] {
        let (code, answer) = ask(&ignoring, mutating, json!({"object": unfit})).await;
        assert_eq!((code, &answer["allowed"]), (200, &json!(true)));
        let warning = answer["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("the ConfigMap does not fit its type"), "{warning}");
    }
    // One that could not be converted looks like an empty object.
    let shell = json!({"apiVersion": "test.example.com/v2", "kind": "FooBar",
        "metadata": {"name": "x", "labels": {"test.example.com/v1-only": "not-convertible.0"}}});
    for mutating in [false, true] {
        let (_, why) = refused(mutating, json!({"object": shell})).await;
        assert!(why.contains("it could not be converted: "), "{why}");
    }
    // Deeper than `serde_json` decodes: it spoils its own field, not the request.
    let body = format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE",
            "kind":{{"kind":"ConfigMap"}},"object":{{"metadata":{{"name":"x"}},"data":{deep}}}}}}}"#
    );
    let endpoint = hooks(&manager)[0].endpoint.clone();
    let (code, body) = endpoint
        .answer(Bytes::from(body), Duration::from_secs(5), local_share())
        .await;
    let answer: Value = serde_json::from_slice(&body.bytes()).unwrap();
    let status = &answer["response"]["status"];
    assert_eq!((code, &status["code"]), (StatusCode::OK, &json!(400)));
    let why = status["message"].as_str().unwrap();
    assert!(
        why.contains("it has more than 127 levels of nested lists and objects at line 1 "),
        "{why}"
    );
}

/// A webhook of a kind of others fails closed only for chosen objects.
fn some_objects() -> LabelSelector {
    serde_json::from_value(json!({"matchLabels": {"a": "b"}})).unwrap()
}

#[tokio::test]
async fn what_is_no_review_is_a_bad_request_and_a_second_webhook_of_a_kind_is_refused() {
    let manager = both();
    let endpoint = hooks(&manager)[0].endpoint.clone();
    let (code, body) = endpoint
        .answer(Bytes::from_static(b"{}"), Duration::from_secs(1), local_share())
        .await;
    assert_eq!(code, StatusCode::BAD_REQUEST);
    assert!(String::from_utf8_lossy(&body.bytes()).contains("expected admission.k8s.io/v1"));
    let twice = Webhook::validating(Obedient)
        .failure_policy(FailurePolicy::Ignore)
        .register(&manager);
    let error = twice.unwrap_err().to_string();
    assert!(
        error.starts_with("two webhooks have the path `/validate--v1-configmap`"),
        "{error}"
    );
}
