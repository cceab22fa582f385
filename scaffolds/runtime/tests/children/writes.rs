//! Requests for children: one for each difference, and no request after a restart without changes.

use std::{collections::BTreeMap, sync::Arc};

use crate::support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{child, manager},
};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
};
use kubewright_runtime::{Action, Context, Controller, Reconciler, Result};
use serde_json::json;

/// Owns a ConfigMap, a Secret and a Deployment with a CPU quantity that the server stores in another form.
struct Several;

impl Reconciler<FooBar> for Several {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let metadata = json!({"name": cx.key().name()});
        let mut data = BTreeMap::from([("target", foobar.spec.target.as_str())]);
        let labels = foobar.metadata.labels.as_ref();
        if foobar.spec.target == "typed" || labels.is_some_and(|labels| labels.contains_key("typed")) {
            data.insert("type", "b");
        }
        cx.apply_child::<ConfigMap>(child(json!({"metadata": metadata, "data": data})))
            .await?;
        let secret = json!({"metadata": metadata, "stringData": null, "data": {"key": "c2VjcmV0"}});
        cx.apply_child::<Secret>(child(secret)).await?;
        let labels = json!({"app": cx.key().name()});
        let container = json!({"name": "c", "image": foobar.spec.target, "resources": {"limits": {"cpu": "1000m"}}});
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
        let spec = json!({"selector": {"matchLabels": labels}, "template": template});
        cx.apply_child::<Deployment>(child(json!({"metadata": metadata, "spec": spec})))
            .await?;
        Ok(Action::Done)
    }
}

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn several(world: &World) -> Running {
    let manager = manager(world);
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .owns::<Secret>()
        .owns::<Deployment>()
        .register(&manager, Several)
        .unwrap();
    Running::start(manager)
}

#[tokio::test(start_paused = true)]
async fn one_reconcile_applies_children_of_several_kinds_and_sends_differences_only() {
    let world = world();
    let running = several(&world);
    world.put(&at("a"), foobar("x"));
    seconds(60).await;
    let paths = [CONFIG_MAPS, SECRETS, DEPLOYMENTS].map(|kind| format!("{kind}/a"));
    assert_eq!(
        paths.each_ref().map(|path| world.writes(path).len()),
        [0; 3],
        "each is created by one POST"
    );
    assert_eq!(
        [CONFIG_MAPS, SECRETS, DEPLOYMENTS].map(|kind| world.writes(kind).len()),
        [1; 3]
    );

    world.edit(&paths[1], |secret| secret["data"]["key"] = json!("d3Jvbmc="));
    world.delete(&paths[0]);
    seconds(60).await;
    assert_eq!(world.object(&paths[1]).unwrap()["data"]["key"], json!("c2VjcmV0"));
    assert!(world.object(&paths[0]).is_some());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_quantity_that_the_server_stores_in_another_form_is_sent_once() {
    let world = world();
    let running = several(&world);
    world.put(&at("a"), foobar("x"));
    let wake = |n: usize| {
        world.edit(&at("a"), |object| {
            object["metadata"]["labels"] = json!({"n": n.to_string()})
        })
    };
    for n in 0..5 {
        seconds(60).await;
        wake(n);
    }
    let path = format!("{DEPLOYMENTS}/a");
    let limits = |path: &str| {
        world.object(path).unwrap()["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"].clone()
    };
    assert_eq!(limits(&path), json!({"cpu": "1"}), "the server stores the other form");
    assert_eq!(world.writes(DEPLOYMENTS).len(), 1);
    // After this, `managedFields` has an entry of an apply.
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("y"));
    seconds(60).await;
    let changed = world.writes(&path).len();
    assert!(changed > 0 && limits(&path) == json!({"cpu": "1"}));
    for n in 0..5 {
        seconds(60).await;
        wake(n);
    }
    assert_eq!(world.writes(&path).len(), changed);
    running.stop().await.unwrap();

    let again = several(&world);
    for n in 5..10 {
        seconds(60).await;
        wake(n);
    }
    // A new process has to apply once to see how the server stores the value.
    assert!(world.writes(&path).len() <= changed + 1, "{:?}", world.writes(&path));
    again.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_field_that_the_intent_drops_is_removed_and_fields_of_others_stay() {
    let world = world();
    let running = several(&world);
    world.put(&at("a"), foobar("typed"));
    seconds(1).await;
    let map = config_map("a");
    assert_eq!(
        world.object(&map).unwrap()["data"],
        json!({"target": "typed", "type": "b"})
    );
    world.edit(&map, |map| map["data"]["theirs"] = json!("1"));
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("x"));
    seconds(1).await;
    assert_eq!(
        world.object(&map).unwrap()["data"],
        json!({"target": "x", "theirs": "1"})
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn removing_a_single_field_is_a_difference() {
    let world = world();
    let running = several(&world);
    world.put(&at("a"), foobar("x"));
    let map = config_map("a");
    for labels in [json!({"typed": "yes"}), json!({}), json!({"typed": "yes"}), json!({})] {
        let typed = labels != json!({});
        world.edit(&at("a"), |object| object["metadata"]["labels"] = labels);
        seconds(1).await;
        let data = world.object(&map).unwrap()["data"].clone();
        let data: Vec<_> = data
            .as_object()
            .into_iter()
            .flat_map(|data| data.keys())
            .cloned()
            .collect();
        assert_eq!(data, if typed { vec!["target", "type"] } else { vec!["target"] });
    }
    running.stop().await.unwrap();
}

/// A FooBar with its children, after its operator has ended.
async fn abandoned(target: &str) -> World {
    let world = world();
    let running = several(&world);
    world.put(&at("a"), foobar(target));
    seconds(60).await;
    running.stop().await.unwrap();
    world
}

#[tokio::test(start_paused = true)]
async fn a_restart_with_nothing_changed_writes_nothing_of_any_kind() {
    let world = abandoned("x").await;
    let before = world.writes("/").len();
    for _ in 0..2 {
        let running = several(&world);
        seconds(60).await;
        running.stop().await.unwrap();
    }
    assert_eq!(world.writes("/").len(), before, "{:?}", &world.writes("/")[before..]);
}

#[tokio::test(start_paused = true)]
async fn changes_by_others_during_a_restart_are_repaired_and_their_added_fields_stay() {
    let world = abandoned("typed").await;
    let (map, secret, deployment) = (config_map("a"), format!("{SECRETS}/a"), format!("{DEPLOYMENTS}/a"));
    world.edit(&map, |map| map["data"] = json!({"target": "typed", "theirs": "1"}));
    world.edit(&secret, |secret| secret["data"]["key"] = json!("d3Jvbmc="));
    // The default is an added field; the others are fields of the intent.
    world.edit(&deployment, |deployment| {
        let container = &mut deployment["spec"]["template"]["spec"]["containers"][0];
        container["resources"]["limits"]["cpu"] = json!("2");
        container["imagePullPolicy"] = json!("Never");
    });
    let running = several(&world);
    seconds(60).await;
    let data = json!({"target": "typed", "type": "b", "theirs": "1"});
    assert_eq!(world.object(&map).unwrap()["data"], data);
    assert_eq!(world.object(&secret).unwrap()["data"]["key"], json!("c2VjcmV0"));
    let container = &world.object(&deployment).unwrap()["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        (&container["resources"]["limits"]["cpu"], &container["imagePullPolicy"]),
        (&json!("1"), &json!("Never"))
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_field_that_the_next_process_drops_is_removed() {
    let world = abandoned("typed").await;
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("x"));
    let running = several(&world);
    seconds(60).await;
    assert_eq!(world.object(&config_map("a")).unwrap()["data"], json!({"target": "x"}));
    running.stop().await.unwrap();
}
