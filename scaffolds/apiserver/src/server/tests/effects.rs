//! The effects of writes: of definitions, and by controllers.

use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::{
    ApiServer, Controllers, DEFINITIONS, Operation, Options, Phase, definition, deployment, give_up, held, map, probe,
    send, server,
};

#[tokio::test]
async fn effects_of_a_write_complete_after_its_client_disconnects() {
    let server = server();
    // The definition is stored, and its status is being written.
    let gate = probe::hold(Phase::Mutating, "status");
    let path = "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    give_up(held(&server, path, definition()).await).await;
    assert!(server.catalogue().resource("example.com", "v1", "foos").is_none());
    gate.notify_one();
    // The next write of a definition waits for the effects of the first.
    let (code, _) = send(&server, &format!("PATCH {DEFINITIONS}/foos.example.com"), json!({})).await;
    assert_eq!(code, 200);
    assert!(server.catalogue().resource("example.com", "v1", "foos").is_some());
}

#[tokio::test]
async fn admission_does_not_see_the_deletion_of_a_definitions_objects() {
    let server = server();
    let foos = "/apis/example.com/v1/namespaces/default/foos";
    send(&server, &format!("POST {DEFINITIONS}"), definition()).await;
    for metadata in [json!({"name": "a"}), json!({"name": "b", "finalizers": ["x/y"]})] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": metadata});
        let (code, answer) = send(&server, &format!("POST {foos}"), object).await;
        assert_eq!(code, 201, "{answer}");
    }
    probe::seen();
    let definition = format!("{DEFINITIONS}/foos.example.com");
    send(&server, &format!("DELETE {definition}"), Value::Null).await;
    assert!(probe::seen().iter().all(|seen| !seen.resource.contains("foos")));
    let (_, list) = send(&server, &format!("GET {foos}"), Value::Null).await;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1));
    assert!(list["items"][0]["metadata"]["deletionTimestamp"].is_string(), "{list}");
    let free = json!({"metadata": {"finalizers": null}});
    send(&server, &format!("PATCH {foos}/b"), free).await;
    assert_eq!(send(&server, &format!("GET {definition}"), Value::Null).await.0, 404);
}

#[tokio::test]
async fn a_definition_deletes_its_objects_although_one_was_being_deleted_before() {
    let server = server();
    let foos = "/apis/example.com/v1/namespaces/default/foos";
    send(&server, &format!("POST {DEFINITIONS}"), definition()).await;
    for metadata in [json!({"name": "a", "finalizers": ["x/y"]}), json!({"name": "b"})] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": metadata});
        let (code, answer) = send(&server, &format!("POST {foos}"), object).await;
        assert_eq!(code, 201, "{answer}");
    }
    send(&server, &format!("DELETE {foos}/a"), Value::Null).await;
    send(&server, &format!("DELETE {DEFINITIONS}/foos.example.com"), Value::Null).await;
    assert_eq!(send(&server, &format!("GET {foos}/a"), Value::Null).await.0, 200);
    assert_eq!(send(&server, &format!("GET {foos}/b"), Value::Null).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_definition_is_deleted_although_the_write_that_frees_its_last_object_began_before() {
    let server = server();
    let foos = "/apis/example.com/v1/namespaces/default/foos";
    send(&server, &format!("POST {DEFINITIONS}"), definition()).await;
    let metadata = json!({"name": "a", "finalizers": ["x/y"]});
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": metadata});
    send(&server, &format!("POST {foos}"), object).await;
    send(&server, &format!("DELETE {foos}/a"), Value::Null).await;
    let gate = probe::hold(Phase::Mutating, "");
    let free = json!({"metadata": {"finalizers": null}});
    let freed = held(&server, "PATCH /apis/example.com/v1/namespaces/default/foos/a", free).await;
    let definition = format!("{DEFINITIONS}/foos.example.com");
    send(&server, &format!("DELETE {definition}"), Value::Null).await;
    assert_eq!(send(&server, &format!("GET {definition}"), Value::Null).await.0, 200);
    gate.notify_one();
    assert_eq!(freed.await.unwrap().0, 200);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(send(&server, &format!("GET {definition}"), Value::Null).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_refused_status_of_a_definition_is_written_later() {
    let server = server();
    let status = (
        Operation::Update,
        "apiextensions.k8s.io/customresourcedefinitions/status",
        409,
    );
    let is_served = || server.catalogue().resource("example.com", "v1", "foos").is_some();
    let later = async || {
        sleep(Duration::from_secs(5)).await;
        probe::deny(None);
        sleep(Duration::from_secs(5)).await;
    };
    probe::deny(Some(status));
    send(&server, &format!("POST {DEFINITIONS}"), definition()).await;
    assert!(!is_served());
    later().await;
    assert!(is_served());
    probe::deny(Some(status));
    send(&server, &format!("DELETE {DEFINITIONS}/foos.example.com"), Value::Null).await;
    assert!(is_served());
    later().await;
    assert!(!is_served());
}

#[tokio::test(start_paused = true)]
async fn controllers_repeat_writes_that_a_webhook_refuses_with_any_code_or_that_panic() {
    use Operation::{Create, Delete, Update};
    const MAPS: &str = "/api/v1/namespaces/n/configmaps";
    const QUOTAS: &str = "/api/v1/namespaces/n/resourcequotas";
    const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    const SETS: &str = "/apis/apps/v1/namespaces/n/replicasets";
    let quota = json!({"metadata": {"name": "o"}, "spec": {"hard": {"pods": "9"}}});
    let selected = json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]});
    let gone = json!({"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "u"});
    let mut set = deployment();
    set["spec"]["replicas"] = json!(1);
    let is_gone = [Value::Null, json!(404)];
    // The refused write, the request that causes it, and a field before and after it is allowed.
    let all = [
        (
            Create,
            "/serviceaccounts/",
            "POST /api/v1/namespaces".to_owned(),
            map("n"),
            ("/api/v1/namespaces/n/serviceaccounts/default".to_owned(), "/code"),
            [json!(404), Value::Null],
        ),
        (
            Update,
            "/resourcequotas/status",
            format!("POST {QUOTAS}"),
            quota,
            (format!("{QUOTAS}/o"), "/status/used"),
            [Value::Null, json!({"pods": "0"})],
        ),
        (
            Update,
            "rbac.authorization.k8s.io/clusterroles/",
            format!("POST {ROLES}"),
            json!({"metadata": {"name": "all"}, "aggregationRule": selected}),
            (format!("{ROLES}/all"), "/rules/0/verbs/0"),
            [Value::Null, json!("get")],
        ),
        (
            Delete,
            "/configmaps/",
            format!("POST {MAPS}"),
            json!({"metadata": {"name": "o", "ownerReferences": [gone]}}),
            (format!("{MAPS}/o"), "/code"),
            is_gone.clone(),
        ),
        (
            Create,
            "/pods/",
            format!("POST {SETS}"),
            set,
            (format!("{SETS}/d"), "/status/replicas"),
            [json!(0), json!(1)],
        ),
        (
            Delete,
            "/pods/",
            format!("PATCH {SETS}/d"),
            json!({"spec": {"replicas": 0}}),
            (format!("{SETS}/d"), "/status/replicas"),
            [json!(1), json!(0)],
        ),
        (
            Delete,
            "apps/replicasets/",
            "DELETE /api/v1/namespaces/n".to_owned(),
            Value::Null,
            ("/api/v1/namespaces/n".to_owned(), "/code"),
            is_gone,
        ),
    ];
    for code in [404, 409, probe::PANIC] {
        let controllers = Controllers {
            service_accounts: true,
            workloads: true,
            ..Controllers::default()
        };
        let server = ApiServer::new(Options {
            controllers,
            ..Options::default()
        });
        let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
        let chosen = json!({"metadata": {"name": "chosen", "labels": {"a": "b"}}, "rules": [rule]});
        send(&server, &format!("POST {ROLES}"), chosen).await;
        for (operation, resource, request, body, (path, field), expected) in all.clone() {
            probe::deny(Some((operation, resource, code)));
            let (_, answer) = send(&server, &request, body).await;
            let mut found = Vec::new();
            for _ in 0..2 {
                sleep(Duration::from_secs(100)).await;
                let (_, object) = send(&server, &format!("GET {path}"), Value::Null).await;
                found.push(object.pointer(field).cloned().unwrap_or_default());
                probe::deny(None);
            }
            assert_eq!(found, expected, "{code} {request} {answer}");
        }
    }
}
