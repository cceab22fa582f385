//! Controllers whose own kind has no Rust type.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::DynamicObject;
use kubewright_runtime::{
    Action, Cleanup, Context, Controller, Error, EventType, Kind, ObjectKey, Reconciler, Result, testing::Rehearsal,
};
use serde_json::json;

use super::{GROUP, kind, maps, object, path, resource, world};
use crate::support::{
    kinds::{CONFIG_MAPS, Running, seconds},
    notes::{Seen, child, manager, taken},
};

/// Reconciles one kind without a type: a finalizer, a child, the status and an event.
pub struct Own(pub Seen);

impl Reconciler<DynamicObject> for Own {
    fn finalizer(&self) -> Option<&str> {
        Some("other.example.com/own")
    }

    async fn reconcile(&self, cx: &Context<DynamicObject>, object: Arc<DynamicObject>) -> Result<Action> {
        let size = object.data["spec"]["size"].as_i64().unwrap_or_default();
        self.0.lock().unwrap().push(format!("{} {size}", cx.key()));
        if size < 0 {
            return Err(Error::terminal("BadSize", "a size is negative"));
        }
        let name = format!(
            "{}-{}",
            cx.key().name(),
            object.types.as_ref().unwrap().kind.to_lowercase()
        );
        let map = json!({"metadata": {"name": name}, "data": {"size": size.to_string()}});
        cx.apply_child::<ConfigMap>(child(map)).await?;
        let wrote = cx.patch_status_json(|status| status["size"] = json!(size)).await?;
        if wrote {
            cx.event(EventType::Normal, "Measured", size.to_string());
        }
        Ok(Action::Done)
    }

    async fn cleanup(&self, cx: &Context<DynamicObject>, _: Arc<DynamicObject>) -> Result<Cleanup> {
        self.0.lock().unwrap().push(format!("{} cleaned", cx.key()));
        Ok(Cleanup::Done)
    }

    fn deleted(&self, key: &ObjectKey) {
        self.0.lock().unwrap().push(format!("{key} gone"));
    }
}

#[tokio::test(start_paused = true)]
async fn controllers_of_two_kinds_without_types_reconcile_their_own_objects_to_the_end() {
    let world = world();
    let (gears, tracks) = (Seen::default(), Seen::default());
    let manager = manager(&world);
    let cluster = Kind::<DynamicObject>::cluster_scoped(resource("v1", "Track"));
    for (name, kind, seen) in [("gear", kind("Gear"), &gears), ("track", cluster, &tracks)] {
        Controller::of(name, kind)
            .owns::<ConfigMap>()
            .register(&manager, Own(seen.clone()))
            .unwrap();
    }
    let running = Running::start(manager);
    let track = format!("{GROUP}/v1/tracks/b");
    world.put(&path("v1", "gears", "a"), object("Gear", json!({"spec": {"size": 3}})));
    world.put(&track, object("Track", json!({"spec": {"size": 4}})));
    seconds(20).await;
    assert_eq!([taken(&gears), taken(&tracks)], [vec!["default/a 3"], vec!["b 4"]]);
    for (path, map, kind, size) in [
        (path("v1", "gears", "a"), "a-gear", "Gear", 3),
        (track.clone(), "b-track", "Track", 4),
    ] {
        let object = world.object(&path).unwrap();
        assert_eq!(object["status"], json!({"size": size}));
        assert_eq!(object["metadata"]["finalizers"], json!(["other.example.com/own"]));
        let owner = &world.object(&format!("{CONFIG_MAPS}/{map}")).unwrap()["metadata"]["ownerReferences"][0];
        assert_eq!(
            (&owner["kind"], &owner["uid"]),
            (&json!(kind), &object["metadata"]["uid"])
        );
        assert_eq!(owner["apiVersion"], "other.example.com/v1");
        let events = world.list("/apis/events.k8s.io/v1/events");
        let about = events.iter().find(|event| event["regarding"]["kind"] == kind).unwrap();
        assert_eq!(
            (&about["reason"], &about["regarding"]["uid"]),
            (&json!("Measured"), &object["metadata"]["uid"])
        );
    }

    world.edit(&format!("{CONFIG_MAPS}/a-gear"), |map| map["data"]["size"] = json!("9"));
    seconds(5).await;
    assert_eq!(taken(&gears).last().map(String::as_str), Some("default/a 3"));
    assert_eq!(taken(&tracks), [""; 0], "another kind's child wakes nothing");
    assert_eq!(
        world.object(&format!("{CONFIG_MAPS}/a-gear")).unwrap()["data"]["size"],
        "3"
    );

    world.edit(&path("v1", "gears", "a"), |gear| gear["spec"]["size"] = json!(-1));
    seconds(5).await;
    let conditions = world.object(&path("v1", "gears", "a")).unwrap()["status"]["conditions"].clone();
    assert_eq!(
        (&conditions[0]["type"], &conditions[0]["reason"]),
        (&json!("Ready"), &json!("BadSize"))
    );
    taken(&gears);
    world.delete(&path("v1", "gears", "a"));
    seconds(5).await;
    assert_eq!(taken(&gears), ["default/a cleaned", "default/a gone"]);
    assert!(world.object(&path("v1", "gears", "a")).is_none());
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_reconcile_of_a_kind_without_a_type_is_rehearsed() -> Result<()> {
    let seen = Seen::default();
    let theirs = child(json!({"metadata": {"name": "theirs"}}));
    let played = Rehearsal::new()
        .with_of(&maps(), theirs)
        .reconcile(
            Controller::of("gear", kind("Gear")).owns::<ConfigMap>(),
            Own(seen.clone()),
            child::<DynamicObject>(object("Gear", json!({"metadata": {"name": "a"}, "spec": {"size": 5}}))),
        )
        .await?;
    assert!(matches!(played.result, Ok(None)), "{:?}", played.result);
    assert_eq!(taken(&seen), ["default/a 5"]);
    let gear = played.object_of(&kind("Gear"), "a").expect("the object itself");
    assert_eq!(gear.data["status"]["size"], 5);
    assert!(
        played.object::<ConfigMap>("theirs").is_some(),
        "both forms are of one object"
    );
    assert_eq!(
        played.object_of(&maps(), "a-gear").expect("its child").data["data"]["size"],
        "5"
    );
    assert_eq!(played.events(), ["Normal Measured: 5"]);
    Ok(())
}
