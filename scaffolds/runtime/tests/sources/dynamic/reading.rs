//! Caches of kinds without Rust types: each kind has its own.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::{DynamicObject, PartialObjectMeta};
use kubewright_runtime::{Action, Context, Controller, Kind, ObjectKey, Reconciler, Result};
use serde_json::json;

use super::{GROUP, kind, maps, object, path, resource, world};
use crate::support::{
    kinds::{CONFIG_MAPS, FooBar, Running, at, foobar, seconds},
    notes::{Seen, manager, taken},
};

/// Reads the Gears of both versions, their metadata, and ConfigMaps in both forms.
struct Reads(Seen);

fn metadata() -> Kind<PartialObjectMeta<DynamicObject>> {
    Kind::namespaced(resource("v1", "Gear"))
}

impl Reconciler<FooBar> for Reads {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let versions = ["v1", "v2"].map(|version| {
            let kind = Kind::<DynamicObject>::namespaced(resource(version, "Gear"));
            let gear = cx.of(&kind).get("one").unwrap();
            gear.and_then(|gear| gear.types.clone())
                .map_or("none".to_owned(), |types| types.api_version)
        });
        let teeth = cx.of(&kind("Gear")).by_index("teeth", "12")?.len();
        let owner = cx.of(&metadata()).get("one")?.map(|gear| gear.metadata.labels.clone());
        let maps = (cx.list::<ConfigMap>()?.len(), cx.of(&maps()).list()?.len());
        let unread = cx.of(&kind("Wheel")).list().unwrap_err().to_string();
        assert!(unread.contains("neither owns nor watches Wheel"), "{unread}");
        self.0
            .lock()
            .unwrap()
            .push(format!("{versions:?} {teeth} {} {maps:?}", owner.is_some()));
        Ok(Action::Done)
    }
}

fn wakes(object: &impl kube::Resource) -> Vec<ObjectKey> {
    let name = object
        .meta()
        .labels
        .iter()
        .flatten()
        .find(|(label, _)| *label == "wakes");
    name.map(|(_, name)| ObjectKey::new(Some("default"), name))
        .into_iter()
        .collect()
}

#[tokio::test(start_paused = true)]
async fn watched_kinds_are_told_apart_by_version_by_form_and_from_typed_ones() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    world.put(&at("a"), foobar("x"));
    let second = Kind::<DynamicObject>::namespaced(resource("v2", "Gear"));
    Controller::<FooBar>::new("foobar")
        .uses(&kind("Gear"), |gears| {
            let teeth = |gear: &DynamicObject| gear.data["spec"]["teeth"].as_i64().map(|teeth| teeth.to_string());
            gears
                .watches(|_| Vec::new())
                .index("teeth", move |gear| teeth(gear).into_iter().collect())
        })
        .uses(&second, |gears| gears.watches(wakes))
        .uses(&metadata(), |gears| gears.watches(|_| Vec::new()))
        .uses(&maps(), |maps| maps.watches(|_| Vec::new()))
        .watches::<ConfigMap>(|_| Vec::new())
        .register(&manager, Reads(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(taken(&seen), [r#"["none", "none"] 0 false (0, 0)"#]);
    world.put(
        &format!("{CONFIG_MAPS}/map"),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
    );
    let gear = json!({"metadata": {"labels": {"wakes": "a"}}, "spec": {"teeth": 12}});
    world.put(&path("v1", "gears", "one"), object("Gear", gear));
    seconds(5).await;
    let expected = r#"["other.example.com/v1", "other.example.com/v2"] 1 true (1, 1)"#;
    assert_eq!(taken(&seen).last().map(String::as_str), Some(expected));
    let asked = world.accepted(&format!("{GROUP}/v1/gears"));
    let partial = asked
        .iter()
        .filter(|types| types.contains("as=PartialObjectMetadata"))
        .count();
    assert!(
        partial >= 2 && partial < asked.len(),
        "one of two caches asks for metadata only: {asked:?}"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_configured_cache_of_a_kind_without_a_type_leaves_the_others_alone() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    manager
        .configure_cache_of(&kind("Gear"), |cache| {
            cache.label_selector = Some("kept=yes".to_owned())
        })
        .unwrap();
    let stores = ["Gear", "Wheel"].map(|name| manager.informer_of(&kind(name)).store());
    let late = manager
        .configure_cache_of(&kind("Wheel"), |_| ())
        .unwrap_err()
        .to_string();
    assert!(late.contains("the cache of Wheel is in use"), "{late}");
    for (kind, plural) in [("Gear", "gears"), ("Wheel", "wheels")] {
        world.put(&path("v1", plural, "one"), object(kind, json!({})));
    }
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(stores.map(|store| store.len()), [0, 1]);
    assert!(taken(&seen).is_empty());
    running.stop().await.unwrap();
}
