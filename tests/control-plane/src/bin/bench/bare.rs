//! The requests that the generated operator sends, from a client that does nothing else: no watch, no cache, no comparison. What the API
//! server takes for them is the least that an operator with these requests can take.

use std::{collections::HashMap, time::Instant};

use anyhow::{Context, Result};
use control_plane::{
    foobar::{FINALIZER, FooBar, child_of, names},
    make_namespace,
};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    load::{AFTER, Amount, CLIENTS, Figures, Place, STEPS, alone, clear, ready, removed, repaired, write},
    stats::summary,
};

/// The user and the operator, without an operator.
struct Bare {
    foobars: Api<FooBar>,
    children: Api<ConfigMap>,
    /// As many requests at a time as an operator has workers.
    workers: Semaphore,
}

/// Sends the requests of the same work as [`load::measure`](crate::load::measure), but for the events, in the same namespace and number.
pub async fn measure(place: &Place, namespace: &str, amount: Amount) -> Result<Figures> {
    make_namespace(&place.client, namespace).await?;
    let bare = Bare::new(&place.client, namespace, amount.workers);
    let mut figures = bare.one_at_a_time(&STEPS, amount.single).await?;
    let (count, all) = (amount.objects, names("load", amount.objects));
    for (generation, what) in STEPS.into_iter().take(2) {
        let seconds = at_once(&all, async |name: &str| bare.written(name, generation).await).await?;
        figures.push((ready(count, what), seconds));
    }
    figures.extend(bare.one_at_a_time(&[AFTER], amount.single).await?);
    let some = &all[..amount.repaired.min(count)];
    let owners: HashMap<_, _> = bare.owners(some).await?;
    let seconds = at_once(some, async |name: &str| bare.repaired(&owners[name]).await).await?;
    figures.push((repaired(some.len()), seconds));
    let seconds = at_once(&all, async |name: &str| bare.deleted(name).await).await?;
    figures.push((removed(count), seconds));
    clear(&place.client, namespace).await?;
    Ok(figures)
}

/// Does this for all names, as many at a time as users do; seconds until the last is done.
async fn at_once(names: &[String], work: impl AsyncFn(&str) -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    let work = &work;
    let tasks: Vec<_> = names.iter().map(|name| async move { work(name).await }).collect();
    stream::iter(tasks)
        .buffer_unordered(CLIENTS)
        .try_collect::<()>()
        .await?;
    Ok(began.elapsed().as_secs_f64())
}

impl Bare {
    fn new(client: &Client, namespace: &str, workers: usize) -> Self {
        Self {
            foobars: Api::namespaced(client.clone(), namespace),
            children: Api::namespaced(client.clone(), namespace),
            workers: Semaphore::new(workers),
        }
    }

    /// Each FooBar is created, or updated, when the one before is Ready; the medians of the times in milliseconds.
    async fn one_at_a_time(&self, steps: &[(i64, &str)], count: usize) -> Result<Figures> {
        let mut figures = Vec::new();
        for &(generation, what) in steps {
            let mut times = Vec::new();
            for name in names("single", count) {
                let began = Instant::now();
                self.written(&name, generation).await?;
                times.push(began.elapsed().as_secs_f64() * 1e3);
            }
            let [_, median, _] = summary(&times);
            figures.push((alone(what), median));
        }
        Ok(figures)
    }

    /// The user's write, and the operator's until the FooBar is Ready.
    async fn written(&self, name: &str, generation: i64) -> Result<()> {
        write(&self.foobars, name, generation).await?;
        let _worker = self.workers.acquire().await?;
        if generation == 1 {
            let finalizers = json!({"metadata": {"finalizers": [FINALIZER]}});
            let owner = self.patch(name, finalizers).await?;
            self.children
                .create(&PostParams::default(), &child(&owner, generation)?)
                .await?;
        } else {
            let data = json!({"data": {"target": generation.to_string()}});
            self.children
                .patch(&child_of(name), &PatchParams::default(), &Patch::Merge(data))
                .await?;
        }
        let condition = json!({
            "type": "Ready", "status": "True", "reason": "Applied", "message": "the ConfigMap matches the spec",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": generation,
        });
        let status = json!({"status": {"observedGeneration": generation, "conditions": [condition]}});
        self.foobars
            .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await?;
        Ok(())
    }

    /// The user's deletion of a child, and the operator's creation of the next one.
    async fn repaired(&self, owner: &FooBar) -> Result<()> {
        let name = child_of(&owner.name_any());
        self.children.delete(&name, &DeleteParams::default()).await?;
        let _worker = self.workers.acquire().await?;
        self.children.create(&PostParams::default(), &child(owner, 2)?).await?;
        Ok(())
    }

    /// The user's deletion of a FooBar, and the operator's removal of the finalizer.
    async fn deleted(&self, name: &str) -> Result<()> {
        self.foobars.delete(name, &DeleteParams::background()).await?;
        let _worker = self.workers.acquire().await?;
        self.patch(name, json!({"metadata": {"finalizers": null}})).await?;
        Ok(())
    }

    async fn patch(&self, name: &str, patch: Value) -> Result<FooBar> {
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        Ok(self.foobars.patch(name, &params, &patch).await?)
    }

    async fn owners<'n>(&self, names: &'n [String]) -> Result<HashMap<&'n str, FooBar>> {
        let mut owners = HashMap::new();
        for name in names {
            owners.insert(name.as_str(), self.foobars.get(name).await?);
        }
        Ok(owners)
    }
}

/// A child as the generated operator makes it.
fn child(owner: &FooBar, generation: i64) -> Result<ConfigMap> {
    let owned_by = owner
        .controller_owner_ref(&())
        .context("the API server has given it a uid")?;
    Ok(serde_json::from_value(json!({
        "metadata": {
            "name": child_of(&owner.name_any()),
            "labels": {"kubewright.dev/operator": "bench"},
            "ownerReferences": [owned_by],
        },
        "data": {"target": generation.to_string()},
    }))?)
}
