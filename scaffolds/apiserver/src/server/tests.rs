//! Every write runs through the same pipeline: admission sees each write, its members run in order, and a caller may
//! drop a write that waits there.

mod effects;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, yield_now};
use tower::ServiceExt;

use super::{ApiServer, Options};
use crate::{
    admission::{Operation, Phase, probe},
    controllers::Controllers,
};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A server without controllers. What admission recorded during its start is dropped.
fn server() -> ApiServer {
    let server = ApiServer::new(Options {
        controllers: Controllers::NONE,
        ..Options::default()
    });
    probe::seen();
    server
}

/// Sends `POST /path` with a body. The method of a PATCH also names the patch format.
async fn send(server: &ApiServer, request: &str, body: Value) -> (u16, Value) {
    let (method, path) = request.split_once(' ').unwrap();
    let (method, media_type) = match method {
        "APPLY" => ("PATCH", "application/apply-patch+yaml"),
        "PATCH" => ("PATCH", "application/merge-patch+json"),
        other => (other, "application/json"),
    };
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media_type);
    let answer = server
        .service()
        .oneshot(request.body(Full::<Bytes>::from(body)).unwrap())
        .await
        .unwrap();
    let code = answer.status().as_u16();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&text).unwrap())
}

/// Sends a request and waits until the probe holds it.
async fn held(server: &ApiServer, request: &'static str, body: Value) -> JoinHandle<(u16, Value)> {
    let server = server.clone();
    let task = tokio::spawn(async move { send(&server, request, body).await });
    while !probe::is_holding() {
        yield_now().await;
    }
    task
}

/// Drops a request that waits.
async fn give_up(task: JoinHandle<(u16, Value)>) {
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

fn deployment() -> Value {
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    json!({"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}})
}

fn definition() -> Value {
    let version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    json!({"metadata": {"name": "foos.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
        "names": {"plural": "foos", "kind": "Foo"}, "versions": [version]}})
}

/// A request of every verb with its body, and what admission sees of it: operation, resource and subresource, name, and
/// the kinds of the new and the old object.
fn verbs() -> Vec<(String, Value, Expected)> {
    use Operation::{Create, Delete, Update};
    let scale =
        json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "d"}, "spec": {"replicas": 2}});
    let namespace = json!({"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]}});
    let lease = json!({"metadata": {"name": "l"}});
    let new = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "new"}});
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let (config_map, deployment_) = (Some("ConfigMap"), Some("Deployment"));
    let of = |operation, resource, object, kinds| Expected {
        operation,
        resource,
        object,
        kinds,
    };
    [
        (
            format!("POST {MAPS}"),
            map("b"),
            of(Create, "/configmaps/", "default/b", [config_map, None]),
        ),
        (
            format!("PUT {MAPS}/a"),
            map("a"),
            of(Update, "/configmaps/", "default/a", [config_map; 2]),
        ),
        (
            format!("PUT {leases}/l"),
            lease,
            of(
                Create,
                "coordination.k8s.io/leases/",
                "default/l",
                [Some("Lease"), None],
            ),
        ),
        (
            format!("PATCH {MAPS}/a"),
            json!({}),
            of(Update, "/configmaps/", "default/a", [config_map; 2]),
        ),
        (
            format!("APPLY {MAPS}/new?fieldManager=m"),
            new,
            of(Create, "/configmaps/", "default/new", [config_map, None]),
        ),
        (
            format!("PATCH {DEPLOYMENTS}/d/status"),
            json!({"status": {"replicas": 1}}),
            of(Update, "apps/deployments/status", "default/d", [deployment_; 2]),
        ),
        (
            format!("PUT {DEPLOYMENTS}/d/scale"),
            scale,
            of(Update, "apps/deployments/scale", "default/d", [Some("Scale"); 2]),
        ),
        (
            format!("PATCH {DEPLOYMENTS}/d/scale"),
            json!({"spec": {"replicas": 3}}),
            of(Update, "apps/deployments/scale", "default/d", [Some("Scale"); 2]),
        ),
        (
            "PUT /api/v1/namespaces/n/finalize".to_owned(),
            namespace,
            of(Update, "/namespaces/finalize", "/n", [Some("Namespace"); 2]),
        ),
        (
            format!("DELETE {MAPS}/a"),
            Value::Null,
            of(Delete, "/configmaps/", "default/a", [None, config_map]),
        ),
        (
            format!("DELETE {MAPS}?fieldSelector=metadata.name%3Dc"),
            Value::Null,
            of(Delete, "/configmaps/", "default/c", [None, config_map]),
        ),
    ]
    .into()
}

struct Expected {
    operation: Operation,
    resource: &'static str,
    object: &'static str,
    kinds: [Option<&'static str>; 2],
}

/// A server with the objects that the requests of [`verbs`] need.
async fn furnished() -> ApiServer {
    let server = server();
    for (path, object) in [
        (MAPS, map("a")),
        (MAPS, map("c")),
        (DEPLOYMENTS, deployment()),
        ("/api/v1/namespaces", map("n")),
    ] {
        assert_eq!(send(&server, &format!("POST {path}"), object).await.0, 201);
    }
    probe::seen();
    server
}

#[tokio::test]
async fn admission_is_called_once_for_the_write_of_each_verb() {
    for query in ["", "dryRun=All"] {
        let server = furnished().await;
        for (request, body, expected) in verbs() {
            let joint = if request.contains('?') { '&' } else { '?' };
            let (code, answer) = send(&server, &format!("{request}{joint}{query}"), body).await;
            assert!(code < 300, "{request}: {answer}");
            let seen = probe::seen();
            let phases: Vec<Phase> = seen.iter().map(|it| it.phase).collect();
            assert_eq!(phases, [Phase::Mutating, Phase::Validating], "{request}");
            for it in seen {
                assert_eq!(it.operation, expected.operation, "{request}");
                assert_eq!(it.resource, expected.resource, "{request}");
                assert_eq!(it.object, expected.object, "{request}");
                assert_eq!(
                    it.kinds,
                    expected.kinds.map(|kind| kind.map(str::to_owned)),
                    "{request}"
                );
                assert_eq!(
                    (it.user.as_str(), it.dry_run),
                    ("admin", !query.is_empty()),
                    "{request}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_member_can_refuse_the_write_of_every_verb() {
    let server = furnished().await;
    let before = server.shared.core().store.revision();
    for phase in [Phase::Mutating, Phase::Validating] {
        probe::refuse(Some(phase));
        for (request, body, _) in verbs() {
            let (code, answer) = send(&server, &request, body).await;
            assert_eq!(code, 403, "{request}: {answer}");
            assert!(answer["message"].as_str().unwrap().ends_with("the probe refuses"));
        }
    }
    assert_eq!(server.shared.core().store.revision(), before);
}

#[tokio::test]
async fn admission_is_not_called_for_reads_and_reviews() {
    let server = furnished().await;
    send(&server, &format!("GET {MAPS}/a"), Value::Null).await;
    send(
        &server,
        "POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
        json!({}),
    )
    .await;
    assert_eq!(probe::seen(), []);
}

#[tokio::test]
async fn a_member_is_not_called_after_an_earlier_one_refused() {
    let server = server();
    let (code, _) = send(&server, "POST /api/v1/namespaces/none/configmaps", map("a")).await;
    assert_eq!((code, probe::seen()), (404, Vec::new()));
    let (code, _) = send(&server, "DELETE /api/v1/namespaces/default", Value::Null).await;
    assert_eq!((code, probe::seen()), (403, Vec::new()));
    // Mutating admission comes before validation, validating admission after it.
    let (code, _) = send(&server, &format!("POST {MAPS}"), map("A")).await;
    let phases: Vec<Phase> = probe::seen().iter().map(|it| it.phase).collect();
    assert_eq!((code, phases), (422, vec![Phase::Mutating]));
}

#[tokio::test]
async fn fields_set_by_a_mutating_member_are_stored_without_an_owner() {
    let server = server();
    probe::label("probed");
    let (_, created) = send(&server, &format!("POST {MAPS}?fieldManager=m"), map("a")).await;
    assert_eq!(created["metadata"]["labels"], json!({"probed": ""}));
    let (_, stored) = send(&server, &format!("GET {MAPS}/a"), Value::Null).await;
    assert_eq!(stored["metadata"]["labels"], json!({"probed": ""}));
    assert!(!stored["metadata"]["managedFields"].to_string().contains("probed"));
}

#[tokio::test]
async fn a_write_that_waits_is_retried_after_a_conflicting_write() {
    let server = furnished().await;
    let gate = probe::hold(Phase::Validating, "");
    let first = held(
        &server,
        "PATCH /api/v1/namespaces/default/configmaps/a",
        json!({"data": {"first": ""}}),
    )
    .await;
    let (code, _) = send(&server, &format!("PATCH {MAPS}/a"), json!({"data": {"second": ""}})).await;
    assert_eq!(code, 200);
    gate.notify_one();
    let (code, answer) = first.await.unwrap();
    assert_eq!((code, &answer["data"]), (200, &json!({"first": "", "second": ""})));
    let phases: Vec<Phase> = probe::seen().iter().map(|it| it.phase).collect();
    // The first write ran twice, the second once.
    assert_eq!(phases, [Phase::Mutating, Phase::Validating].repeat(3));
}

#[tokio::test]
async fn a_cancelled_write_releases_what_it_reserved() {
    let server = server();
    let service = |name: &str| {
        let spec = json!({"clusterIP": "10.0.0.77", "ports": [{"port": 80}]});
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let before = server.shared.core().store.revision();
    for phase in [Phase::Mutating, Phase::Validating] {
        let _gate = probe::hold(phase, "");
        give_up(held(&server, "POST /api/v1/namespaces/default/services", service("a")).await).await;
    }
    assert_eq!(server.shared.core().store.revision(), before);
    // The address was released.
    let (code, answer) = send(&server, &format!("POST {SERVICES}"), service("b")).await;
    assert_eq!(code, 201, "{answer}");
}

#[tokio::test]
async fn connections_to_a_pod_on_a_node_are_not_implemented() {
    let server = server();
    let spec = json!({"nodeName": "n", "containers": [{"name": "c", "image": "i"}]});
    let pods = "/api/v1/namespaces/default/pods";
    let (code, answer) = send(
        &server,
        &format!("POST {pods}"),
        json!({"metadata": {"name": "p"}, "spec": spec}),
    )
    .await;
    assert_eq!(code, 201, "{answer}");
    for request in ["GET log", "POST exec", "POST attach", "POST portforward"] {
        let (method, subresource) = request.split_once(' ').unwrap();
        let (code, answer) = send(&server, &format!("{method} {pods}/p/{subresource}"), Value::Null).await;
        assert_eq!(code, 501, "{request}: {answer}");
        assert!(answer["message"].to_string().contains(subresource), "{answer}");
    }
}

#[tokio::test]
async fn other_programs_can_verify_tokens() {
    use kubewright_machinery::base64::{Encoding, decode};
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    let server = server();
    let bytes = |text: &str| decode(text, Encoding::RawUrl).unwrap();
    let account = "/api/v1/namespaces/default/serviceaccounts";
    send(&server, &format!("POST {account}"), json!({"metadata": {"name": "a"}})).await;
    let (code, answer) = send(&server, &format!("POST {account}/a/token"), json!({"spec": {}})).await;
    assert_eq!(code, 201, "{answer}");
    let token = answer["status"]["token"].as_str().unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let header: Value = serde_json::from_slice(&bytes(signed.split_once('.').unwrap().0)).unwrap();

    let (_, configuration) = send(&server, "GET /.well-known/openid-configuration", Value::Null).await;
    let (_, keys) = send(&server, "GET /openid/v1/jwks/", Value::Null).await;
    let (key, issuer) = (&keys["keys"][0], configuration["issuer"].as_str().unwrap());
    assert_eq!((&header["kid"], &header["alg"]), (&key["kid"], &key["alg"]));
    assert_eq!(configuration["jwks_uri"], format!("{issuer}/openid/v1/jwks"));
    let point = [
        vec![4],
        bytes(key["x"].as_str().unwrap()),
        bytes(key["y"].as_str().unwrap()),
    ]
    .concat();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    assert!(public.verify(signed.as_bytes(), &bytes(signature)).is_ok());
}
