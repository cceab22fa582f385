//! The work for requests to a server with many namespaces, roles, bindings, definitions or waiting objects.

use futures::{FutureExt, StreamExt};
use kubewright_apiserver::testing::store::{Range, Store};
use serde_json::{Value, json};

use crate::{
    common::Wire,
    step::{Looks, copy, counted, on, send, server, settled},
};

const NAMESPACES: &str = "/api/v1/namespaces";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

#[tokio::test(start_paused = true)]
async fn deleting_a_namespace_costs_the_same_among_many_others() {
    let mut all = Vec::new();
    for count in [10, 200] {
        let wire = server();
        for number in 0..count {
            let name = format!("other-{number}");
            send(&wire, ("POST", NAMESPACES), &json!({"metadata": {"name": name}})).await;
        }
        let mut looks = Looks::new();
        let body = json!({"metadata": {"name": "one"}});
        counted(&wire, &mut looks, "create", (("POST", NAMESPACES), &body)).await;
        let path = format!("{NAMESPACES}/one");
        counted(&wire, &mut looks, "delete", (("DELETE", &path), &Value::Null)).await;
        assert_eq!(wire.get(&path).await.code, 404);
        all.push(looks);
    }
    assert_eq!(all[0], all[1]);
}

/// A terminating namespace, with objects that finalizers keep.
async fn held(count: usize) -> Wire {
    let wire = server();
    send(&wire, ("POST", NAMESPACES), &json!({"metadata": {"name": "full"}})).await;
    for number in 0..count {
        let body = json!({"metadata": {"name": format!("map-{number}"), "finalizers": ["x/y"]}});
        send(&wire, ("POST", &format!("{NAMESPACES}/full/configmaps")), &body).await;
    }
    send(&wire, ("DELETE", &format!("{NAMESPACES}/full")), &Value::Null).await;
    settled().await;
    wire
}

#[tokio::test(start_paused = true)]
async fn each_deletion_in_a_terminating_namespace_costs_the_same_among_many_objects() {
    let (few, many) = (held(10).await, held(300).await);
    let mut all = Vec::new();
    for wire in [&few, &many] {
        let mut looks = Looks::new();
        for number in 0..3 {
            let path = format!("{NAMESPACES}/full/configmaps/map-{number}");
            let body = json!({"metadata": {"finalizers": null}});
            counted(wire, &mut looks, "release", (("PATCH", &path), &body)).await;
        }
        all.push(looks);
    }
    assert_eq!(all[0], all[1]);
    let namespace = many.get(&format!("{NAMESPACES}/full")).await.json();
    assert!(
        namespace["status"]["conditions"]
            .to_string()
            .contains("configmaps. has 297 resource instances")
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_of_a_cluster_role_affects_only_aggregates_that_select_it() {
    let mut all = Vec::new();
    for count in [10, 200] {
        let wire = server();
        let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
        let role = |name: &str| json!({"metadata": {"name": name}, "rules": rules});
        for number in 0..count {
            send(
                &wire,
                ("POST", &format!("{RBAC}/clusterroles")),
                &role(&format!("other-{number}")),
            )
            .await;
        }
        let mut looks = Looks::new();
        counted(
            &wire,
            &mut looks,
            "create",
            (("POST", &format!("{RBAC}/clusterroles")), &role("one")),
        )
        .await;
        counted(
            &wire,
            &mut looks,
            "delete",
            (("DELETE", &format!("{RBAC}/clusterroles/one")), &Value::Null),
        )
        .await;
        all.push(looks);
    }
    assert_eq!(all[0], all[1]);
}

#[tokio::test(start_paused = true)]
async fn a_new_binding_is_the_only_one_read() {
    let mut all = Vec::new();
    for count in [10, 200] {
        let wire = server();
        let path = format!("{RBAC}/namespaces/default/rolebindings");
        let binding = |number: usize| {
            json!({"metadata": {"name": format!("b-{number}")},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                "subjects": [{"kind": "User", "name": format!("user-{number}")}]})
        };
        for number in 0..count {
            send(&wire, ("POST", &path), &binding(number)).await;
        }
        let user = wire.with("impersonate-user", &format!("user-{count}"));
        let maps = "/api/v1/namespaces/default/configmaps";
        assert_eq!(user.get(maps).await.code, 403);
        let mut looks = Looks::new();
        counted(&wire, &mut looks, "binding", (("POST", &path), &binding(count))).await;
        counted(&user, &mut looks, "its first request", (("GET", maps), &Value::Null)).await;
        counted(
            &wire,
            &mut looks,
            "unbound",
            (("DELETE", &format!("{path}/b-{count}")), &Value::Null),
        )
        .await;
        assert_eq!(user.get(maps).await.code, 403);
        all.push(looks);
    }
    assert_eq!(all[0], all[1]);
}

fn definition(number: usize) -> Value {
    let (kind, plural) = (format!("Kind{number}"), format!("kind{number}s"));
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({"metadata": {"name": format!("{plural}.test.example.com")},
        "spec": {"group": "test.example.com", "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
}

#[tokio::test(start_paused = true)]
async fn creating_and_deleting_a_definition_costs_the_same_among_many_of_its_group() {
    let mut all = Vec::new();
    for count in [5, 100] {
        let wire = server();
        for number in 0..count {
            send(&wire, ("POST", CRDS), &definition(number)).await;
        }
        let mut looks = Looks::new();
        counted(&wire, &mut looks, "create", (("POST", CRDS), &definition(count))).await;
        let path = format!("{CRDS}/kind{count}s.test.example.com");
        counted(&wire, &mut looks, "delete", (("DELETE", &path), &Value::Null)).await;
        assert_eq!(wire.get(&path).await.code, 404);
        all.push(looks);
    }
    assert_eq!(all[0], all[1]);
}

#[tokio::test(start_paused = true)]
async fn each_deletion_of_a_terminating_definitions_object_costs_the_same_among_many() {
    let mut all = Vec::new();
    for count in [10, 200] {
        let wire = server();
        send(&wire, ("POST", CRDS), &definition(0)).await;
        let path = "/apis/test.example.com/v1/namespaces/default/kind0s";
        for number in 0..count {
            let metadata = json!({"name": format!("o-{number}"), "finalizers": ["x/y"]});
            let body = json!({"apiVersion": "test.example.com/v1", "kind": "Kind0", "metadata": metadata});
            send(&wire, ("POST", path), &body).await;
        }
        let crd = format!("{CRDS}/kind0s.test.example.com");
        send(&wire, ("DELETE", &crd), &Value::Null).await;
        let mut looks = Looks::new();
        let release = json!({"metadata": {"finalizers": null}});
        // The first release also processes the changes that the deletions caused.
        send(&wire, ("PATCH", &format!("{path}/o-0")), &release).await;
        for number in 1..4 {
            counted(
                &wire,
                &mut looks,
                "release",
                (("PATCH", &format!("{path}/o-{number}")), &release),
            )
            .await;
        }
        for number in 4..count {
            send(&wire, ("PATCH", &format!("{path}/o-{number}")), &release).await;
        }
        assert_eq!(wire.get(&crd).await.code, 404);
        all.push(looks);
    }
    assert_eq!(all[0], all[1]);
}

#[tokio::test(start_paused = true)]
async fn a_page_of_a_list_visits_only_its_own_objects_at_any_position() {
    let mut all = Vec::new();
    for count in [60, 600] {
        let store = Store::default();
        let wire = on(store.clone());
        let maps = "/api/v1/namespaces/default/configmaps";
        let first = send(&wire, ("POST", maps), &json!({"metadata": {"name": "first"}})).await;
        (0..count).for_each(|number| copy(&store, ("/configmaps", &first), number));
        let (mut looks, mut token) = (Looks::new(), String::new());
        for page in 0..5 {
            let path = format!("{maps}?limit=10&continue={token}");
            let list = counted(&wire, &mut looks, "page", (("GET", &path), &Value::Null)).await;
            let left = count + 1 - 10 * (page + 1);
            assert_eq!(list["metadata"]["remainingItemCount"], left);
            token = list["metadata"]["continue"].as_str().unwrap().to_owned();
            if page == 2 {
                // Changes during the list are not in it.
                copy(&store, ("/configmaps", &first), count);
            }
        }
        all.push(looks);
    }
    assert_eq!(all[0], all[1]);
}

#[tokio::test(start_paused = true)]
async fn a_page_of_selected_objects_visits_no_more_of_them_among_many() {
    let mut all = Vec::new();
    for count in [1_100, 3_300] {
        let store = Store::default();
        let wire = on(store.clone());
        let maps = "/api/v1/namespaces/default/configmaps";
        let labelled = json!({"metadata": {"name": "first", "labels": {"is": "ours"}}});
        let first = send(&wire, ("POST", maps), &labelled).await;
        (0..count).for_each(|number| copy(&store, ("/configmaps", &first), number));
        let (mut looks, mut token) = (Looks::new(), String::new());
        for _ in 0..3 {
            let path = format!("{maps}?labelSelector=is%3Dours&limit=300&continue={token}");
            let list = counted(&wire, &mut looks, "page", (("GET", &path), &Value::Null)).await;
            assert_eq!(list["items"].as_array().map(Vec::len), Some(300));
            token = list["metadata"]["continue"].as_str().unwrap().to_owned();
        }
        all.push(looks);
    }
    assert_eq!(all[0], all[1]);
}

#[tokio::test(start_paused = true)]
async fn a_watcher_of_one_object_visits_only_its_changes() {
    let mut all = Vec::new();
    for count in [10, 1_000] {
        let store = Store::default();
        let wire = on(store.clone());
        let maps = "/api/v1/namespaces/default/configmaps";
        let first = send(&wire, ("POST", maps), &json!({"metadata": {"name": "first"}})).await;
        let range = Range::new("/configmaps", "default").named("first");
        let mut watch = store.watch(&range, store.revision()).unwrap();
        assert!(watch.next().now_or_never().is_none());
        (0..count).for_each(|number| copy(&store, ("/configmaps", &first), number));
        settled().await;
        let before = wire.server.looked();
        let patch = json!({"metadata": {"labels": {"a": "1"}}});
        send(&wire, ("PATCH", &format!("{maps}/first")), &patch).await;
        settled().await;
        let change = watch.next().now_or_never().flatten().unwrap().unwrap();
        assert_eq!(change.record.key.name, "first");
        all.push(wire.server.looked() - before);
    }
    assert_eq!(all[0], all[1]);
}
