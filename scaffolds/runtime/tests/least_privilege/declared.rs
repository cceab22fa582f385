//! The rules that an author declares: on named objects, in one namespace, on URLs, in roles of their own. What is
//! written grants the operator's requests, and without one of the verbs the API server refuses the request of that verb.

use http::{Request, header::AUTHORIZATION};
use http_body_util::{BodyExt, Full};
use kubewright_runtime::{Controller, Manager, Result, Rule};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::{
    account::HOME,
    role,
    story::Everything,
    support::{
        World,
        kinds::{FooBar, world},
    },
};

/// The operator's requests, and what each needs: the role and the verb.
const REQUESTS: [(&str, &str, &str); 6] = [
    ("/api/v1/namespaces/default/secrets/licence", "manager-role", "secrets"),
    ("/logs/", "manager-role", "/logs/*"),
    (
        "/api/v1/namespaces/system/configmaps/settings",
        "manager-role-own",
        "configmaps",
    ),
    (
        "/api/v1/namespaces/kube-system/services",
        "manager-role-in-kube-system",
        "services",
    ),
    ("/api/v1/nodes/a", "nodes", "nodes"),
    ("/api/v1/namespaces/default/pods/a", "pods-in-default", "pods"),
];
/// Requests for the same kinds that no rule is about.
const OTHERS: [&str; 5] = [
    "/api/v1/namespaces/default/secrets/other",
    "/metrics",
    "/api/v1/namespaces/default/configmaps/settings",
    "/api/v1/namespaces/system/services",
    "/api/v1/namespaces/system/pods/a",
];

fn declare(manager: &Manager, with_urls: bool) -> Result<()> {
    let get = |resource: &str| Rule::new(&[""], &[resource], &["get"]);
    let mut controller = Controller::<FooBar>::new("foobar")
        .grant(get("secrets").names(&["licence"]))
        .grant(get("configmaps").names(&["settings"]).in_own_namespace())
        .grant(Rule::new(&[""], &["services"], &["list"]).in_namespace("kube-system"))
        .grant(get("nodes").role("nodes"));
    if with_urls {
        controller = controller.grant(Rule::urls(&["/logs/*"], &["get"]));
    }
    manager.grant(get("pods").role("pods").in_namespace("default"));
    controller.register(manager, Everything)
}

/// Applies the documents, with the operator's namespace in place of the placeholder, and returns a token.
fn apply(world: &World, documents: &[Value]) -> String {
    world.post("/api/v1/namespaces", &json!({"metadata": {"name": HOME}}));
    let accounts = format!("/api/v1/namespaces/{HOME}/serviceaccounts");
    world.post(&accounts, &json!({"metadata": {"name": "controller-manager"}}));
    let binding = |kind: &str, namespace: &Value| {
        json!({"kind": format!("{kind}Binding"), "metadata": {"name": "manager-rolebinding", "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "manager-role"},
            "subjects": [{"kind": "ServiceAccount", "name": "controller-manager", "namespace": HOME}]})
    };
    let main = &documents[0];
    // The project's `role_binding.yaml`.
    let bound = binding(main["kind"].as_str().unwrap(), &main["metadata"]["namespace"]);
    for document in documents.iter().chain([&bound]) {
        let plural = format!("{}s", document["kind"].as_str().unwrap().to_lowercase());
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let path = match document["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("{rbac}/namespaces/{namespace}/{plural}"),
            None => format!("{rbac}/{plural}"),
        };
        world.post(&path, document);
    }
    let token = world.post(&format!("{accounts}/controller-manager/token"), &json!({"spec": {}}));
    token["status"]["token"].as_str().unwrap().to_owned()
}

/// The message of a refusal; `None` if the request is allowed.
async fn refused(world: &World, token: &str, path: &str) -> Option<String> {
    let request = Request::get(path).header(AUTHORIZATION, format!("Bearer {token}"));
    let request = request.body(Full::<bytes::Bytes>::default()).unwrap();
    let answer = world.server().service().oneshot(request).await.unwrap();
    if answer.status() != 403 {
        return None;
    }
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let status: Value = serde_json::from_slice(&body).unwrap();
    Some(status["message"].as_str().unwrap().to_owned())
}

/// The documents without the rule of that role that is about `what`.
fn without(documents: &[Value], name: &str, what: &str) -> Vec<Value> {
    let mut documents = documents.to_vec();
    let role = documents.iter_mut().find(|it| it["metadata"]["name"] == name).unwrap();
    let rules = role["rules"].as_array_mut().unwrap();
    let before = rules.len();
    let is_about = |rule: &Value| rule["resources"][0] == what || rule["nonResourceURLs"][0] == what;
    rules.retain(|rule| !is_about(rule));
    assert_eq!(rules.len() + 1, before, "one rule of {name} is about {what}");
    documents
}

#[tokio::test(start_paused = true)]
async fn each_declared_rule_grants_its_request_and_nothing_else() {
    let documents = role::written(false, |manager| declare(manager, true));
    let whole = world();
    let token = apply(&whole, &documents);
    for path in OTHERS {
        assert!(refused(&whole, &token, path).await.is_some(), "{path} is allowed");
    }
    for (path, role, what) in REQUESTS {
        assert_eq!(refused(&whole, &token, path).await, None);
        let world = world();
        let token = apply(&world, &without(&documents, role, what));
        let said = refused(&world, &token, path).await;
        assert!(said.is_some(), "without {what} of {role}, {path} is allowed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_namespaced_operator_gets_the_same_by_roles_alone() {
    let documents = role::written(true, |manager| declare(manager, false));
    let is_cluster_wide = |document: &Value| document["kind"].as_str().unwrap().starts_with("Cluster");
    assert!(!documents.iter().any(is_cluster_wide));
    let world = world();
    let token = apply(&world, &documents);
    // Its namespace is the one that it watches.
    for path in [
        "/api/v1/namespaces/system/secrets/licence",
        "/api/v1/namespaces/system/configmaps/settings",
        "/api/v1/namespaces/kube-system/services",
        "/api/v1/namespaces/default/pods/a",
    ] {
        assert_eq!(refused(&world, &token, path).await, None);
    }
    for path in [
        "/api/v1/namespaces/default/secrets/licence",
        "/api/v1/namespaces/system/secrets/other",
    ] {
        assert!(refused(&world, &token, path).await.is_some(), "{path} is allowed");
    }
}
