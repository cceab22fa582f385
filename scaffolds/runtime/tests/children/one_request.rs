//! An update of a child is one request, the first one after its creation too, and loses nothing that an apply gives.

use std::{sync::Arc, time::Duration};

use crate::support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{child, manager},
};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kubewright_runtime::{Action, Context, Controller, Reconciler, Result};
use serde_json::{Value, json};

pub(super) const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/a";

/// Owns the ConfigMap, the Deployment, the Secret or the Service that the spec has as JSON.
struct AsToldInJson;

impl Reconciler<FooBar> for AsToldInJson {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let mut intent: Value = serde_json::from_str(&foobar.spec.target).expect("the tests write JSON");
        intent["metadata"]["name"] = json!(cx.key().name());
        if intent["stringData"].is_object() {
            cx.apply_child::<Secret>(child(intent)).await?;
        } else if intent["spec"]["ports"].is_array() {
            cx.apply_child::<Service>(child(intent)).await?;
        } else if intent["spec"].is_object() {
            cx.apply_child::<Deployment>(child(intent)).await?;
        } else {
            cx.apply_child::<ConfigMap>(child(intent)).await?;
        }
        Ok(Action::Done)
    }
}

pub(super) fn operator(world: &World) -> Running {
    let manager = manager(world);
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .owns::<Deployment>()
        .owns::<Secret>()
        .owns::<Service>()
        .register(&manager, AsToldInJson)
        .unwrap();
    Running::start(manager)
}

/// Wants this child from now on; returns the requests for it.
pub(super) async fn want(world: &World, intent: &Value) -> Vec<String> {
    let before = about_children(world).len();
    if world.object(&at("a")).is_none() {
        world.put(&at("a"), foobar(&intent.to_string()));
    } else {
        world.edit(&at("a"), |object| object["spec"]["target"] = json!(intent.to_string()));
    }
    seconds(60).await;
    about_children(world)[before..].to_vec()
}

/// The requests for children, without lists and watches.
fn about_children(world: &World) -> Vec<String> {
    let requests = world.requests("").into_iter();
    let one = |request: &String| {
        ["/configmaps/a", "/deployments/a", "/secrets/a", "/services/a"]
            .iter()
            .any(|path| request.contains(path))
    };
    let requests = requests.filter(|request| one(request) || request.starts_with("POST /api"));
    requests.collect()
}

pub(super) fn patched(path: &str) -> Vec<String> {
    vec![format!("PATCH {path}")]
}

fn data(data: Value) -> Value {
    json!({"data": data})
}

/// A Deployment with these containers.
fn deployment(containers: Value) -> Value {
    let labels = json!({"app": "a"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
    json!({"spec": {"selector": {"matchLabels": labels}, "template": template}})
}

fn containers(world: &World) -> Vec<Value> {
    let containers = world.object(DEPLOYMENT).unwrap()["spec"]["template"]["spec"]["containers"].clone();
    serde_json::from_value(containers).unwrap()
}

#[tokio::test(start_paused = true)]
async fn each_update_of_a_child_is_one_request() {
    let (world, map) = (world(), config_map("a"));
    let running = operator(&world);
    assert_eq!(
        want(&world, &data(json!({"a": "1"}))).await,
        [format!("POST {CONFIG_MAPS}")]
    );
    for wanted in [
        json!({"a": "2"}),
        json!({"a": "3", "b.c": "1"}),
        json!({"a": "3"}),
        json!({"b.c": "2"}),
        json!({"a": "1", "b.c": "2"}),
    ] {
        assert_eq!(want(&world, &data(wanted.clone())).await, patched(&map), "{wanted}");
        assert_eq!(world.object(&map).unwrap()["data"], wanted);
    }
    let labelled = json!({"data": {"a": "1"}, "metadata": {"labels": {"x.y/z": "1"}}});
    assert_eq!(want(&world, &labelled).await, patched(&map));
    assert_eq!(want(&world, &data(json!({"a": "1"}))).await, patched(&map));
    let labels = world.object(&map).unwrap()["metadata"]["labels"].clone();
    assert_eq!(labels, json!({"kubewright.dev/operator": "test"}));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_field_that_leaves_the_intent_at_the_first_update_is_removed_by_the_same_request() {
    for restart in [false, true] {
        let (world, map) = (world(), config_map("a"));
        let mut running = operator(&world);
        want(&world, &data(json!({"a": "1", "b": "1", "c": "1"}))).await;
        if restart {
            running.stop().await.unwrap();
            running = operator(&world);
            seconds(1).await;
        }
        assert_eq!(want(&world, &data(json!({"a": "2", "b": "1"}))).await, patched(&map));
        assert_eq!(world.object(&map).unwrap()["data"], json!({"a": "2", "b": "1"}));
        assert_eq!(want(&world, &data(json!({"a": "2"}))).await, patched(&map));
        assert_eq!(world.object(&map).unwrap()["data"], json!({"a": "2"}));
        assert_eq!(want(&world, &json!({})).await, patched(&map));
        assert_eq!(world.object(&map).unwrap()["data"], Value::Null);
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_field_that_comes_back_and_leaves_again_is_removed() {
    let (world, map) = (world(), config_map("a"));
    for restart in [false, true] {
        let mut running = operator(&world);
        for nth in 0..6 {
            let wanted = if nth % 2 == 0 {
                json!({"a": "1"})
            } else {
                json!({"a": "1", "b": "1"})
            };
            want(&world, &data(wanted.clone())).await;
            assert_eq!(world.object(&map).unwrap()["data"], wanted, "restart: {restart}");
            if restart {
                running.stop().await.unwrap();
                running = operator(&world);
            }
        }
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn fields_of_others_stay_also_those_that_they_own_together_with_the_operator() {
    let (world, map) = (world(), config_map("a"));
    let running = operator(&world);
    want(&world, &data(json!({"a": "1", "b": "1", "c": "1"}))).await;
    world.merge_as(&map, "theirs", &json!({"data": {"d": "1"}}));
    let shared = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "1"}});
    world.apply_as(&map, "applied", &shared);
    seconds(60).await;
    let requests = want(&world, &data(json!({"a": "2"}))).await;
    assert_eq!(
        requests,
        [format!("GET {map}"), format!("PATCH {map}")],
        "others are read before"
    );
    assert_eq!(
        world.object(&map).unwrap()["data"],
        json!({"a": "2", "b": "1", "d": "1"})
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn items_of_lists_with_keys_are_changed_added_and_removed_by_one_request() {
    let env = |name: &str, value: &str| json!({"name": name, "value": value});
    let container = |name: &str, env: Value| json!({"name": name, "image": name, "env": env});
    for restart in [false, true] {
        let world = world();
        let mut running = operator(&world);
        let first = [
            container("one", json!([env("A", "1"), env("B", "1"), env("C", "1")])),
            container("two", json!([])),
        ];
        want(&world, &deployment(json!(first))).await;
        if restart {
            running.stop().await.unwrap();
            running = operator(&world);
            seconds(1).await;
        }
        let wanted = [
            container("zero", json!([env("Z", "1")])),
            container("one", json!([env("A", "2"), env("N", "1"), env("C", "1")])),
        ];
        // Another process than the one that created it does not know which fields the server has added, and records it.
        let times = if restart { 2 } else { 1 };
        assert_eq!(
            want(&world, &deployment(json!(wanted))).await,
            vec![format!("PATCH {DEPLOYMENT}"); times]
        );
        let now = containers(&world);
        let names: Vec<_> = now.iter().map(|container| container["name"].clone()).collect();
        assert_eq!(names, ["zero", "one"], "in the order of the intent");
        assert_eq!(now[1]["env"], wanted[1]["env"]);
        assert_eq!(
            now[0]["terminationMessagePath"],
            json!("/dev/termination-log"),
            "defaults are there"
        );
        // And the next one, which an apply can do.
        let wanted = [container("one", json!([env("C", "1")]))];
        assert_eq!(
            want(&world, &deployment(json!(wanted))).await,
            patched(DEPLOYMENT),
            "{restart}"
        );
        assert_eq!(
            (containers(&world).len(), &containers(&world)[0]["env"]),
            (1, &wanted[0]["env"])
        );
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn items_of_others_stay_when_an_item_leaves_the_intent() {
    let world = world();
    let running = operator(&world);
    let container = |name: &str| json!({"name": name, "image": name});
    want(
        &world,
        &deployment(json!([container("one"), container("two"), container("three")])),
    )
    .await;
    world.edit(DEPLOYMENT, |deployment| {
        let containers = deployment["spec"]["template"]["spec"]["containers"]
            .as_array_mut()
            .unwrap();
        containers.insert(0, container("sidecar"));
    });
    let mut theirs = deployment(json!([container("two")]));
    (theirs["apiVersion"], theirs["kind"]) = (json!("apps/v1"), json!("Deployment"));
    world.apply_as(DEPLOYMENT, "theirs", &theirs);
    seconds(60).await;
    want(&world, &deployment(json!([container("one")]))).await;
    let names: Vec<_> = containers(&world)
        .iter()
        .map(|container| container["name"].clone())
        .collect();
    assert_eq!(names, ["sidecar", "one", "two"], "`two` belongs to another too");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn fields_that_the_server_has_added_cost_no_further_requests() {
    let world = world();
    let intent = |image: &str, replicas: Option<i32>| {
        let mut wanted = deployment(json!([{"name": "c", "image": image}]));
        wanted["spec"]["replicas"] = json!(replicas);
        wanted
    };
    let running = operator(&world);
    want(&world, &intent("1", Some(2))).await;
    running.stop().await.unwrap();
    // Another intent in another process: which of the fields left the intent is not known, and recorded at once.
    let running = operator(&world);
    seconds(1).await;
    assert_eq!(
        want(&world, &intent("2", None)).await,
        vec![format!("PATCH {DEPLOYMENT}"); 2]
    );
    assert_eq!(
        world.object(DEPLOYMENT).unwrap()["spec"]["replicas"],
        json!(1),
        "the default"
    );
    let settled = about_children(&world).len();
    for nth in 0..3 {
        world.edit_status(DEPLOYMENT, |deployment| {
            deployment["status"]["observedGeneration"] = json!(nth)
        });
        seconds(60).await;
    }
    running.stop().await.unwrap();
    let running = operator(&world);
    seconds(60).await;
    running.stop().await.unwrap();
    assert_eq!(
        about_children(&world).len(),
        settled,
        "the server's fields have not left the intent"
    );
    let running = operator(&world);
    seconds(1).await;
    assert_eq!(want(&world, &intent("3", Some(3))).await, patched(DEPLOYMENT));
    assert_eq!(want(&world, &intent("3", None)).await, patched(DEPLOYMENT));
    assert_eq!(world.object(DEPLOYMENT).unwrap()["spec"]["replicas"], json!(1));
    running.stop().await.unwrap();
}

/// As the release before did: created by a POST, and in the second case updated by an apply after a change of
/// `managedFields`.
#[tokio::test(start_paused = true)]
async fn children_of_earlier_releases_are_updated_by_one_request() {
    for applied in [false, true] {
        let (world, map) = (world(), config_map("a"));
        world.put(&at("a"), foobar(&data(json!({"a": "1"})).to_string()));
        let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
        let owner = json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid,
            "controller": true, "blockOwnerDeletion": true});
        let metadata = json!({"name": "a", "namespace": "default", "ownerReferences": [owner],
            "labels": {"kubewright.dev/operator": "test"}});
        let made = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1", "b": "1"}});
        world.post(
            &format!("{CONFIG_MAPS}?fieldManager=test%2Ffoobar%400123456789abcdef"),
            &made,
        );
        if applied {
            let mut entries = world.object(&map).unwrap()["metadata"]["managedFields"].clone();
            entries[0]["operation"] = json!("Apply");
            entries[0]["manager"] = json!("test/foobar");
            world.merge_as(&map, "test/foobar", &json!({"metadata": {"managedFields": entries}}));
        }
        let before = about_children(&world).len();
        let running = operator(&world);
        seconds(60).await;
        assert_eq!(about_children(&world)[before..], patched(&map), "applied: {applied}");
        assert_eq!(
            world.object(&map).unwrap()["data"],
            json!({"a": "1"}),
            "applied: {applied}"
        );
        assert_eq!(want(&world, &data(json!({"a": "2"}))).await, patched(&map));
        running.stop().await.unwrap();
    }
}

/// Runs an operator whose child with `a` and `b` was changed by another client, which the operator does not see for ten seconds.
async fn changed_unseen(world: &World, map: &str) -> Running {
    let running = operator(world);
    want(world, &data(json!({"a": "1", "b": "1"}))).await;
    world.delay_watches("configmaps", Duration::from_secs(10));
    seconds(1).await;
    world.merge_as(map, "theirs", &json!({"data": {"d": "1", "b": "theirs"}}));
    running
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_meets_an_unseen_change_is_a_conflict_and_is_repeated() {
    let (world, map) = (world(), config_map("a"));
    let running = changed_unseen(&world, &map).await;
    let requests = want(&world, &data(json!({"a": "1"}))).await;
    assert!(
        requests.len() > 1,
        "the first one was of the cached version: {requests:?}"
    );
    assert_eq!(
        world.object(&map).unwrap()["data"],
        json!({"a": "1", "b": "theirs", "d": "1"}),
        "another client has set the field since"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_removal_does_not_touch_an_unseen_object_that_replaced_the_child() {
    let (world, map) = (world(), config_map("a"));
    let running = operator(&world);
    want(&world, &data(json!({"a": "1", "b": "1"}))).await;
    world.delay_watches("configmaps", Duration::from_secs(3600));
    world.delete(&map);
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "b": "1"}});
    world.put(&map, theirs);
    let before = world.object(&map);
    want(&world, &data(json!({"a": "1"}))).await;
    assert_eq!(world.object(&map), before);
    running.stop().await.unwrap();
}

/// The field managers of the child, with their operations.
fn entries(world: &World, path: &str) -> Vec<(String, String)> {
    let child = world.object(path).unwrap();
    let entries = child["metadata"]["managedFields"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entry = |entry: &Value| (text(&entry["manager"]), text(&entry["operation"]));
    entries.iter().map(entry).collect()
}

#[tokio::test(start_paused = true)]
async fn changes_of_values_leave_the_record_of_the_create() {
    let (world, map) = (world(), config_map("a"));
    let mut running = operator(&world);
    want(&world, &data(json!({"a": "1", "b": "1"}))).await;
    let created = entries(&world, &map);
    assert_eq!(created.len(), 1);
    for (a, b) in [("2", "1"), ("2", "2"), ("3", "3")] {
        let wanted = json!({"a": a, "b": b});
        assert_eq!(want(&world, &data(wanted.clone())).await, patched(&map));
        assert_eq!(world.object(&map).unwrap()["data"], wanted);
        assert_eq!(entries(&world, &map), created);
        // The next process has nothing to do, and knows as much.
        let before = about_children(&world).len();
        running.stop().await.unwrap();
        running = operator(&world);
        seconds(60).await;
        assert_eq!(about_children(&world).len(), before);
    }
    assert_eq!(want(&world, &data(json!({"a": "3"}))).await, patched(&map));
    assert_eq!(world.object(&map).unwrap()["data"], json!({"a": "3"}));
    // What an apply has recorded is changed by applies.
    want(&world, &data(json!({"a": "3", "c": "1"}))).await;
    assert_eq!(want(&world, &data(json!({"a": "4", "c": "2"}))).await, patched(&map));
    let applied = entries(&world, &map).iter().any(|(_, operation)| operation == "Apply");
    assert!(applied, "{:?}", entries(&world, &map));
    assert_eq!(want(&world, &data(json!({"a": "4"}))).await, patched(&map));
    assert_eq!(world.object(&map).unwrap()["data"], json!({"a": "4"}));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_change_of_values_that_meets_an_unseen_change_is_an_apply() {
    let (world, map) = (world(), config_map("a"));
    let running = changed_unseen(&world, &map).await;
    let requests = want(&world, &data(json!({"a": "2", "b": "1"}))).await;
    assert_eq!(requests, vec![format!("PATCH {map}"); 2]);
    let found = world.object(&map).unwrap()["data"].clone();
    assert_eq!(found, json!({"a": "2", "b": "1", "d": "1"}));
    running.stop().await.unwrap();
}

/// Somebody removes a field, and the object that contained it, which the API server then does not have.
#[tokio::test(start_paused = true)]
async fn values_that_others_remove_are_there_again() {
    let (world, map) = (world(), config_map("a"));
    let running = operator(&world);
    want(&world, &data(json!({"a": "1"}))).await;
    world.merge_as(&map, "theirs", &json!({"data": null}));
    seconds(60).await;
    assert_eq!(world.object(&map).unwrap()["data"], json!({"a": "1"}));
    running.stop().await.unwrap();
}
