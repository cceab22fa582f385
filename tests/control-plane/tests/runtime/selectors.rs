//! Caches whose selectors differ from namespace to namespace, of a built-in kind and of a custom one.

use anyhow::Result;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_runtime::{Informer, InformerConfig, Kind, ObjectKey, Selectors};
use serde_json::json;

use super::{PATIENCE, crd, eventually, install, plane};

const NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];

/// The objects of this test that are in the cache, in the order of their names.
fn cached(informer: &Informer<DynamicObject>) -> Vec<String> {
    let all = informer.store().list();
    let ours = all.iter().map(|object| ObjectKey::of(&**object).to_string());
    let mut ours: Vec<_> = ours
        .filter(|key| key.ends_with("/web") || key.ends_with("/db"))
        .collect();
    ours.sort();
    ours
}

#[tokio::test]
async fn each_namespace_has_its_selection_and_all_others_have_the_rest() -> Result<()> {
    let Some(plane) = plane().await? else { return Ok(()) };
    let client = plane.client().await?;
    install(&client, &crd("gears", "Gear", &[("v1", true)])).await?;
    let gear = GroupVersionKind::gvk("other.example.com", "v1", "Gear");
    let resources = [
        ApiResource::erase::<ConfigMap>(&()),
        ApiResource::from_gvk_with_plural(&gear, "gears"),
    ];
    for resource in resources {
        let api = |namespace| Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource);
        for namespace in NAMESPACES {
            for name in ["web", "db"] {
                let object: DynamicObject = serde_json::from_value(json!({"apiVersion": resource.api_version,
                    "kind": resource.kind, "metadata": {"name": name, "labels": {"app": name}}}))?;
                let created = async || Ok(api(namespace).create(&PostParams::default(), &object).await.ok());
                eventually("the object is created", PATIENCE, created).await?;
            }
        }
        let selectors = [
            ("default", Some("app=web"), None),
            ("kube-system", None, Some("metadata.name=db")),
        ];
        let selectors = selectors.map(|(namespace, labels, fields)| {
            let [labels, fields] = [labels, fields].map(|text| text.map(str::to_owned));
            (namespace.to_owned(), Selectors { labels, fields })
        });
        let config = InformerConfig {
            namespace_selectors: selectors.into(),
            ..InformerConfig::default()
        };
        let informer = Informer::of(client.clone(), Kind::namespaced(resource.clone()), config);
        let running = tokio::spawn(informer.clone().run(std::future::pending()));
        informer.synced().await;
        let expected = ["default/web", "kube-public/db", "kube-public/web", "kube-system/db"];
        assert_eq!(cached(&informer), expected, "{}", resource.kind);

        for namespace in NAMESPACES {
            api(namespace).delete("db", &DeleteParams::default()).await?;
        }
        let left = async || Ok((cached(&informer) == ["default/web", "kube-public/web"]).then_some(()));
        eventually("the deleted objects leave the cache", PATIENCE, left).await?;
        running.abort();
    }
    Ok(())
}
