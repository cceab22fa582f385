//! Kinds without Rust types: one reconciled, one owned, both known to discovery alone.

use std::sync::{Arc, Mutex};

use anyhow::Result;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_runtime::{Action, Applied, Context, Controller, Kind, Manager, ObjectKey, Reconciler};
use serde_json::json;

use super::{PATIENCE, Running, crd, eventually, install, plane, seen};

fn kind(name: &str) -> GroupVersionKind {
    GroupVersionKind::gvk("other.example.com", "v1", name)
}

/// Gives each Gear a Wheel of its size.
struct Gears {
    wheels: Kind<DynamicObject>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Reconciler<DynamicObject> for Gears {
    async fn reconcile(
        &self,
        cx: &Context<DynamicObject>,
        gear: Arc<DynamicObject>,
    ) -> kubewright_runtime::Result<Action> {
        let size = &gear.data["spec"]["size"];
        let mut wheel = DynamicObject {
            types: None,
            metadata: Default::default(),
            data: json!({"spec": {"size": size}}),
        };
        wheel.metadata.name = Some(cx.key().name().to_owned());
        let applied = cx.of(&self.wheels).apply_child(wheel).await?;
        if !matches!(applied, Applied::Unchanged) {
            self.lines.lock().unwrap().push(format!("{} {size}", cx.key().name()));
        }
        Ok(Action::Done)
    }

    fn deleted(&self, key: &ObjectKey) {
        self.lines.lock().unwrap().push(format!("{} gone", key.name()));
    }
}

#[tokio::test]
async fn children_without_a_type_of_owners_without_a_type_are_made_repaired_and_left_alone() -> Result<()> {
    let Some(plane) = plane().await? else { return Ok(()) };
    let client = plane.client().await?;
    install(&client, &crd("gears", "Gear", &[("v1", true)])).await?;
    install(&client, &crd("wheels", "Wheel", &[("v1", true)])).await?;
    let discover = async |name| Ok(Kind::<DynamicObject>::discover(&client, &kind(name)).await.ok());
    let gears = eventually("Gears are served", PATIENCE, async || discover("Gear").await).await?;
    let wheels = eventually("Wheels are served", PATIENCE, async || discover("Wheel").await).await?;
    assert_eq!(
        (wheels.plural(), wheels.is_namespaced(), gears == wheels),
        ("wheels", true, false)
    );
    let absent = Kind::<DynamicObject>::discover(&client, &kind("Absent")).await;
    assert!(absent.is_err());

    let lines = Arc::<Mutex<Vec<String>>>::default();
    let manager = Manager::builder(client.clone()).name("test").build();
    let reconciler = Gears {
        wheels: wheels.clone(),
        lines: lines.clone(),
    };
    // No `/status`: the CRD has no such subresource.
    Controller::of("gear", gears)
        .foreign()
        .uses(&wheels, |wheels| wheels.owns().prunes())
        .register(&manager, reconciler)?;
    let informer = manager.informer_of(&wheels);
    let running = Running::start(manager);
    let api = |plural: &str, name: &str| -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk_with_plural(&kind(name), plural);
        Api::namespaced_with(client.clone(), "default", &resource)
    };
    let (gears, wheels) = (api("gears", "Gear"), api("wheels", "Wheel"));
    let gear: DynamicObject = serde_json::from_value(json!({"apiVersion": "other.example.com/v1", "kind": "Gear",
        "metadata": {"name": "one"}, "spec": {"size": 3}}))?;
    eventually("a Gear is created", PATIENCE, async || {
        Ok(gears.create(&PostParams::default(), &gear).await.ok())
    })
    .await?;
    seen(&lines, "one 3").await?;
    let made = wheels.get("one").await?;
    let owner = &made.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!((owner.kind.as_str(), &made.data["spec"]["size"]), ("Gear", &json!(3)));

    let drift = Patch::Merge(json!({"spec": {"size": 9}}));
    wheels.patch("one", &PatchParams::default(), &drift).await?;
    seen(&lines, "one 3").await?;
    let change = Patch::Merge(json!({"spec": {"size": 4}}));
    gears.patch("one", &PatchParams::default(), &change).await?;
    seen(&lines, "one 4").await?;
    assert_eq!(wheels.get("one").await?.data["spec"]["size"], 4);
    assert_eq!(informer.store().len(), 1);
    gears.delete("one", &DeleteParams::default()).await?;
    seen(&lines, "one gone").await?;
    running.stop().await
}
