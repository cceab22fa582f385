//! FooBar as a client sees it. Not taken from the generated project, whose field names are under test.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Condition};
use kube::{
    Api, Client, CustomResource, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::eventually;

/// Concurrent requests when many objects are written.
const CONCURRENCY: usize = 16;

/// The finalizer of a controller that is generated with `--finalizer`.
pub const FINALIZER: &str = "test.example.com/cleanup";

/// The spec of a FooBar.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    status = "FooBarStatus",
    schema = "disabled"
)]
#[serde(rename_all = "camelCase")]
pub struct FooBarSpec {
    /// Required, not empty.
    #[serde(default)]
    pub target: String,
    /// Optional.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
}

/// The status of a FooBar.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FooBarStatus {
    /// The generation that the status describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// One of them is `Ready`.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl FooBar {
    /// A FooBar whose `target` is its own name.
    pub fn named(name: &str) -> Self {
        Self::new(
            name,
            FooBarSpec {
                target: name.to_owned(),
                r#type: None,
            },
        )
    }

    /// The condition `Ready`.
    pub fn ready(&self) -> Option<&Condition> {
        self.status
            .as_ref()?
            .conditions
            .iter()
            .find(|condition| condition.type_ == "Ready")
    }

    /// Whether it is Ready, and its status is about the current spec.
    pub fn is_ready(&self) -> bool {
        let generation = self.metadata.generation;
        let observed = self.status.as_ref().and_then(|status| status.observed_generation);
        let ready = self
            .ready()
            .is_some_and(|ready| ready.status == "True" && ready.observed_generation == generation);
        ready && observed == generation
    }
}

/// The name of a FooBar's ConfigMap.
pub fn child_of(name: &str) -> String {
    format!("{name}-foobar")
}

/// `<prefix>-0000` and so on.
pub fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}-{n:04}")).collect()
}

/// Creates FooBars of these names, sixteen at a time.
///
/// # Errors
///
/// An error of the API server.
pub async fn create(foobars: &Api<FooBar>, names: &[String]) -> Result<()> {
    let create = |name: &String| {
        let foobar = FooBar::named(name);
        async move { foobars.create(&PostParams::default(), &foobar).await.map(|_| ()) }
    };
    // Collected first: a stream that borrows its closure is not `Send`.
    let requests: Vec<_> = names.iter().map(create).collect();
    stream::iter(requests)
        .buffer_unordered(CONCURRENCY)
        .try_collect::<()>()
        .await?;
    Ok(())
}

/// Waits until there are `count` FooBars and all are Ready.
///
/// # Errors
///
/// When `patience` is over, with the progress so far.
pub async fn all_ready(foobars: &Api<FooBar>, count: usize, patience: Duration) -> Result<Vec<FooBar>> {
    eventually(&format!("{count} FooBars to be Ready"), patience, async || {
        let found = foobars.list(&ListParams::default()).await?.items;
        let ready = found.iter().filter(|foobar| foobar.is_ready()).count();
        if found.len() != count || ready != count {
            bail!("{ready} of {} are Ready", found.len());
        }
        Ok(Some(found))
    })
    .await
}

/// Waits until `wanted` is true for one FooBar.
///
/// # Errors
///
/// When `patience` is over, with the last state of the object.
pub async fn becomes(
    foobars: &Api<FooBar>,
    name: &str,
    what: &str,
    patience: Duration,
    wanted: impl Fn(&FooBar) -> bool,
) -> Result<FooBar> {
    eventually(&format!("`{name}` to be {what}"), patience, async || {
        let foobar = foobars.get(name).await?;
        if !wanted(&foobar) {
            bail!("{}", serde_json::to_string(&foobar)?);
        }
        Ok(Some(foobar))
    })
    .await
}

/// The expected data of a FooBar's ConfigMap.
pub fn wanted_data(spec: &FooBarSpec) -> BTreeMap<String, String> {
    let mut data = BTreeMap::from([("target".to_owned(), spec.target.clone())]);
    data.extend(spec.r#type.iter().map(|value| ("type".to_owned(), value.clone())));
    data
}

/// Checks that the ConfigMap is owned by this FooBar and has the expected data.
///
/// # Errors
///
/// If it is not, with the ConfigMap.
pub fn check_child(foobar: &FooBar, child: &ConfigMap) -> Result<()> {
    let data = child.data.clone().unwrap_or_default();
    let owners = child.owner_references();
    let owned = match owners {
        [owner] => {
            let named = (owner.kind.as_str(), owner.api_version.as_str(), owner.name.as_str());
            let uid = foobar.uid() == Some(owner.uid.clone());
            named == ("FooBar", "test.example.com/v1", foobar.name_any().as_str())
                && uid
                && owner.controller == Some(true)
        }
        _ => false,
    };
    if data != wanted_data(&foobar.spec) || !owned {
        bail!(
            "`{}` does not match its FooBar: {}",
            child.name_any(),
            serde_json::to_string(child)?
        );
    }
    Ok(())
}

/// FooBars as dynamic objects: malformed ones can be listed and deleted too.
pub fn of_any_form(client: Client, namespace: Option<&str>) -> Api<DynamicObject> {
    let kind = ApiResource::erase::<FooBar>(&());
    match namespace {
        Some(namespace) => Api::namespaced_with(client, namespace, &kind),
        None => Api::all_with(client, &kind),
    }
}

/// Removes the FooBars of one or all namespaces without an operator: their finalizers first, then the objects.
///
/// # Errors
///
/// An error of the API server.
pub async fn remove_by_force(client: &Client, namespace: Option<&str>) -> Result<()> {
    let release = |foobar: DynamicObject| async move {
        let foobars = of_any_form(client.clone(), foobar.namespace().as_deref());
        let name = foobar.name_any();
        let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        for outcome in [
            foobars.delete(&name, &DeleteParams::background()).await.map(|_| ()),
            foobars.patch(&name, &PatchParams::default(), &patch).await.map(|_| ()),
        ] {
            match outcome {
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 422) => {}
                other => other?,
            }
        }
        Ok::<_, anyhow::Error>(())
    };
    let found = match of_any_form(client.clone(), namespace)
        .list(&ListParams::default())
        .await
    {
        // The kind itself is deleted.
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
        found => found?.items,
    };
    let requests: Vec<_> = found.into_iter().map(release).collect();
    stream::iter(requests)
        .buffer_unordered(CONCURRENCY)
        .try_collect::<()>()
        .await
}
