//! Requests other than the ordinary use of a resource, compared with the answers of kube-apiserver 1.37.2.

use crate::common::{Wire, wire};
use serde_json::json;

#[tokio::test]
async fn health_probes_answer_ok() {
    let wire = wire();
    for path in [
        "/healthz",
        "/livez",
        "/readyz",
        "/readyz/ping",
        "/livez/poststarthook/rbac/bootstrap-roles",
    ] {
        let answer = wire.get(path).await;
        assert_eq!((answer.code, answer.text.as_str()), (200, "ok"));
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    }
    let answer = wire.get("/readyz?verbose&exclude=ping&exclude=pong").await;
    assert!(
        answer.text.starts_with("[+]ping excluded: ok\n[+]log ok\n"),
        "{}",
        answer.text
    );
    let end = "warn: some health checks cannot be excluded: no matches for \"pong\"\nreadyz check passed\n";
    assert!(answer.text.ends_with(end), "{}", answer.text);
    // Kubernetes' own end-to-end tests look for these.
    for check in [
        "informer-sync",
        "poststarthook/start-apiextensions-informers",
        "autoregister-completion",
    ] {
        assert!(answer.text.contains(&format!("\n[+]{check} ok\n")), "{}", answer.text);
    }
}

#[tokio::test]
async fn what_has_no_columns_is_not_served_as_a_table() {
    let table = wire().with("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let review = json!({"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}).to_string();
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let refused = table.post(path, review.clone()).await;
    assert_eq!(
        (refused.code, &refused.json()["reason"]),
        (406, &json!("NotAcceptable"))
    );
    for path in [
        "/api/v1/namespaces/default/bindings",
        "/api/v1/namespaces/default/pods/a/eviction",
    ] {
        assert_eq!(table.post(path, "{}").await.code, 406, "{path}");
    }
    let either = wire().with(
        "accept",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    );
    assert_eq!(
        either.post(path, review).await.json()["kind"],
        "SelfSubjectAccessReview"
    );
    assert_eq!(table.get("/api/v1/namespaces/default").await.json()["kind"], "Table");
}

#[tokio::test]
async fn the_metadata_of_every_kind_is_described() {
    let document = wire().get("/openapi/v3/api/v1").await.json();
    let metadata = &document["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"];
    let fields = metadata["properties"].as_object().unwrap();
    let undescribed =
        |(name, field): (&String, &serde_json::Value)| field["description"].is_null().then(|| name.clone());
    let undescribed: Vec<_> = fields.iter().filter_map(undescribed).collect();
    assert_eq!(undescribed, ["selfLink"]);
    let created = &fields["creationTimestamp"];
    // The words that Kubernetes' own end-to-end tests look for.
    let words = created["description"].as_str().unwrap();
    assert!(words.starts_with("CreationTimestamp is a timestamp"), "{words}");
    assert!(
        created["allOf"][0]["$ref"].as_str().unwrap().ends_with(".Time"),
        "{created}"
    );
}

#[tokio::test]
async fn the_version_is_that_of_the_server_whose_behaviour_this_is() {
    let answer = wire().get("/version").await.json();
    let version = answer["gitVersion"].as_str().unwrap();
    assert_eq!(format!("Kubernetes {version}"), kubewright_apiserver::PROGRAM_VERSION);
    let (major, minor) = (&answer["major"], &answer["minor"]);
    assert!(version.starts_with(&format!("v{}.{}.", major.as_str().unwrap(), minor.as_str().unwrap())));
    assert_eq!(wire().send("POST", "/version", "").await.code, 405);
}

#[tokio::test]
async fn unserved_paths_get_the_404_of_their_group() {
    let wire = wire();
    for path in [
        "/nope",
        "/livez/nope",
        "/apis/nope",
        "/apis/nope.example.com/v1/foos",
        "/healthz/",
    ] {
        let answer = wire.get(path).await;
        assert_eq!(
            (answer.code, answer.text.as_str()),
            (404, "404 page not found\n"),
            "{path}"
        );
    }
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "the server could not find the requested resource", "reason": "NotFound", "details": {}, "code": 404,
    });
    for path in [
        "/api/v1/nope",
        "/api/v2/nope",
        "/apis/apps/v9",
        "/apis/apps/v1/foo",
        "/api/v1//configmaps",
        "/api/v1/configmaps/foo",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/namespaces/default/configmaps/a/b/c",
        "/api/v1/namespaces/default/configmaps/a/status",
        "/api/v1/namespaces/default/configmaps/..%2f..",
        "/api/v1/namespaces/default/configmaps/a%2fb",
    ] {
        let answer = wire.get(path).await;
        assert_eq!((answer.code, answer.json()), (404, status.clone()), "{path}");
    }
}

#[tokio::test]
async fn unsupported_methods_are_not_allowed() {
    let wire = wire();
    const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
    for method in ["PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "FOO"] {
        assert_eq!(wire.send(method, CONFIG_MAPS, "").await.code, 405, "{method}");
    }
    let said = wire.send("POST", "/api/v1/configmaps", "").await.json();
    assert_eq!(
        said["message"],
        "the server does not allow this method on the requested resource"
    );
    assert_eq!(wire.send("POST", "/api/v1/nodes/x", "").await.code, 405);
    assert_eq!(wire.send("POST", "/api/v1", "").await.code, 405);
}

#[tokio::test]
async fn names_with_a_meaning_in_paths_are_refused() {
    let wire = wire();
    let said = async |path: &str| {
        let answer = wire.get(path).await;
        (answer.code, answer.json()["message"].as_str().unwrap().to_owned())
    };
    let name = "/api/v1/namespaces/default/configmaps";
    assert_eq!(
        said(&format!("{name}/..")).await,
        (400, "Name parameter invalid: \"..\": may not be '..'".into())
    );
    assert_eq!(
        said(&format!("{name}/a%25b")).await,
        (400, "Name parameter invalid: \"a%b\": may not contain '%'".into())
    );
    assert_eq!(
        said("/api/v1/namespaces/../configmaps").await,
        (500, "invalid key: \"/configmaps/..\"".into())
    );
    assert_eq!(
        said("/api/v1/namespaces/../configmaps/x").await,
        (500, "invalid key: \"/configmaps/../x\"".into())
    );
    assert_eq!(wire.get("/api/%zz").await.code, 400);
}

#[tokio::test]
async fn answers_have_the_accepted_format() {
    let wire = wire();
    let path = "/api/v1/namespaces/default";
    let yaml = wire.with("accept", "application/yaml").get(path).await;
    assert_eq!(yaml.header("content-type"), "application/yaml");
    assert!(
        yaml.text.starts_with("apiVersion: v1\nkind: Namespace\n"),
        "{}",
        yaml.text
    );
    let pretty = wire.with("user-agent", "curl/8.5.0").get(path).await;
    assert!(pretty.text.starts_with("{\n  \""), "{}", pretty.text);
    assert_eq!(wire.with("accept", "text/html").get(path).await.code, 406);
    let answer = wire
        .with("accept", "application/vnd.kubernetes.protobuf")
        .get(path)
        .await;
    assert_eq!(answer.header("content-type"), "application/vnd.kubernetes.protobuf");
    assert!(answer.text.starts_with("k8s\0"), "{}", answer.text);
}

#[tokio::test]
async fn an_invalid_timeout_is_refused() {
    let answer = wire().get("/api/v1/namespaces?timeout=1x").await;
    let said = "invalid timeout specified in the request URL - time: unknown unit \"x\" in duration \"1x\"";
    assert_eq!((answer.code, answer.json()["message"].as_str()), (400, Some(said)));
}

#[tokio::test]
async fn every_answer_has_an_audit_id() {
    let wire = wire();
    assert_eq!(wire.get("/healthz").await.header("audit-id").len(), 36);
    assert_eq!(
        wire.with("audit-id", "mine").get("/healthz").await.header("audit-id"),
        "mine"
    );
}

#[tokio::test]
async fn aggregated_discovery_is_one_document_that_clients_cache_by_etag() {
    let wire = wire();
    const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let asking = wire.with("accept", &format!("{AGGREGATED},application/json"));
    let answer = asking.get("/apis").await;
    assert_eq!(
        (answer.code, answer.header("content-type")),
        (200, AGGREGATED.to_owned())
    );
    assert_eq!(answer.json()["kind"], "APIGroupDiscoveryList");
    let again = asking.with("if-none-match", &answer.header("etag")).get("/apis").await;
    assert_eq!((again.code, again.text.as_str()), (304, ""));
    assert_eq!(wire.get("/apis").await.json()["kind"], "APIGroupList");
    assert_eq!(wire.get("/apis/apps/v1").await.json()["groupVersion"], "apps/v1");
}

#[tokio::test]
async fn a_server_has_its_namespaces_from_the_start() {
    let wire: Wire = wire();
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let namespace = wire.get(&format!("/api/v1/namespaces/{name}")).await.json();
        assert_eq!(namespace["status"]["phase"], "Active");
        assert_eq!(namespace["metadata"]["labels"]["kubernetes.io/metadata.name"], name);
    }
}
