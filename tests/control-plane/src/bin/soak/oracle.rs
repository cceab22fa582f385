//! The checks after the faults have ended.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use control_plane::{
    eventually,
    foobar::{FooBar, check_child, child_of},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::scene::{MALFORMED, PATIENCE, Scene};

/// The time without writes that counts as quiet.
const QUIET: Duration = Duration::from_secs(5);

/// The time limit of kube-controller-manager's garbage collector for the children of deleted owners. In some runs it did not
/// delete children whose owners were deleted with their kind's definition, which was then created again: the soak
/// deletes those itself, and counts them.
const COLLECTED: Duration = Duration::from_secs(60);

/// The result of a round.
pub struct Verdict {
    pub foobars: usize,
    /// Children that the garbage collector did not delete.
    pub orphans: usize,
    /// The time until the desired state was reached.
    pub settled: Duration,
}

type Name = (String, String);

impl Scene {
    /// Waits until every object is in its desired state, and checks that it stays so.
    ///
    /// Fails with the check that failed, the object, and the operator's log lines about it.
    pub async fn judge(&mut self) -> Result<Verdict> {
        self.evict().await?;
        let began = Instant::now();
        let (foobars, orphans) = self.settle("after the faults").await?;
        let settled = began.elapsed();
        self.check_kept(&foobars)?;
        self.check_idle().await?;
        self.check_quiet().await?;
        // A stuck key is found when its object changes.
        self.touch(&foobars).await?;
        self.settle("after an edit of every FooBar").await?;
        self.check_idle().await?;
        Ok(Verdict {
            foobars: foobars.len(),
            orphans,
            settled,
        })
    }

    /// Deletes objects that users have created under the names of children.
    async fn evict(&self) -> Result<()> {
        let children: Api<ConfigMap> = Api::all(self.client.clone());
        for child in children.list(&ListParams::default()).await?.items {
            let ours = child.name_any().ends_with("-foobar") && child.owner_references().is_empty();
            if ours {
                let of: Api<ConfigMap> = Api::namespaced(self.client.clone(), &child.namespace().unwrap_or_default());
                of.delete(&child.name_any(), &DeleteParams::default()).await?;
            }
        }
        Ok(())
    }

    async fn settle(&mut self, when: &str) -> Result<(Vec<FooBar>, usize)> {
        let (mut wrong, mut orphans) = (String::new(), 0);
        let (client, began) = (self.client.clone(), Instant::now());
        let crew = &mut self.crew;
        let settled = eventually("the desired state", PATIENCE, async || {
            crew.supervise()?;
            let cluster = Cluster::look(&client).await?;
            let Err((name, what)) = cluster.check() else {
                return Ok(Some(cluster.foobars));
            };
            if began.elapsed() > COLLECTED {
                orphans += cluster.collect(&client).await?;
            }
            wrong = name;
            bail!("{what}")
        });
        let settled = settled.await.map_err(|error| {
            let log = self.crew.log_lines(&wrong);
            anyhow!("oracle `{when}`: {error:#}\nthe operator's log about `{wrong}`:\n{log}")
        });
        settled.map(|foobars| (foobars, orphans))
    }

    /// Checks that no object is lost that users have created and not deleted.
    fn check_kept(&self, foobars: &[FooBar]) -> Result<()> {
        let there: Vec<_> = foobars.iter().map(name).collect();
        let lost: Vec<_> = self
            .users
            .kept()
            .into_iter()
            .filter(|name| !there.contains(name))
            .collect();
        ensure!(lost.is_empty(), "oracle `nothing is lost`: {lost:?}");
        Ok(())
    }

    /// Checks that no key is queued and no reconcile runs.
    async fn check_idle(&mut self) -> Result<()> {
        let crew = &mut self.crew;
        let idle = eventually("the queue to be empty", PATIENCE, async || {
            crew.supervise()?;
            for metric in [
                "workqueue_depth",
                "workqueue_unfinished_work_seconds",
                "controller_runtime_active_workers",
            ] {
                let value = crew.metric(metric).await?;
                ensure!(value == 0.0, "{metric} is {value}");
            }
            Ok(Some(()))
        });
        idle.await.context("oracle `no stuck key`")
    }

    async fn check_quiet(&self) -> Result<()> {
        let mark = self.plane.audit().mark()?;
        sleep(QUIET).await;
        let written = self.written(mark)?;
        ensure!(
            written.is_empty(),
            "oracle `nothing is written in the desired state`: {written:#?}"
        );
        Ok(())
    }

    async fn touch(&self, foobars: &[FooBar]) -> Result<()> {
        for foobar in foobars {
            let of: Api<FooBar> = Api::namespaced(self.client.clone(), &foobar.namespace().unwrap_or_default());
            let word = format!("touched {}", foobar.metadata.generation.unwrap_or_default());
            let patch = Patch::Merge(json!({"spec": {"target": word, "type": null}}));
            of.patch(&foobar.name_any(), &PatchParams::default(), &patch).await?;
        }
        Ok(())
    }

    /// Corrects the objects that could not be decoded, and waits until they are reconciled as all others.
    pub async fn repair_malformed(&mut self) -> Result<usize> {
        let objects = control_plane::foobar::of_any_form(self.client.clone(), Some(MALFORMED));
        let found = objects.list(&ListParams::default()).await?.items;
        for object in &found {
            let patch = Patch::Merge(json!({"spec": {"target": "repaired"}}));
            objects
                .patch(&object.name_any(), &PatchParams::default(), &patch)
                .await?;
        }
        let foobars: Api<FooBar> = Api::namespaced(self.client.clone(), MALFORMED);
        control_plane::foobar::all_ready(&foobars, found.len(), PATIENCE)
            .await
            .context("oracle `the repaired are served`")?;
        for object in &found {
            objects.delete(&object.name_any(), &DeleteParams::default()).await?;
        }
        eventually("the repaired to be gone", PATIENCE, async || {
            let left = foobars.list(&ListParams::default()).await?.items.len();
            ensure!(left == 0, "{left} are left");
            Ok(Some(()))
        })
        .await?;
        Ok(found.len())
    }
}

/// The objects of the cluster, except malformed FooBars.
struct Cluster {
    foobars: Vec<FooBar>,
    children: BTreeMap<Name, ConfigMap>,
}

impl Cluster {
    async fn look(client: &kube::Client) -> Result<Self> {
        let (mut foobars, mut children) = (Vec::new(), BTreeMap::new());
        // A list of all FooBars would not decode while there are malformed ones.
        for namespace in namespaces(client).await? {
            let of: Api<FooBar> = Api::namespaced(client.clone(), &namespace);
            foobars.extend(of.list(&ListParams::default()).await?.items);
            let of: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
            let found = of.list(&ListParams::default()).await?.items.into_iter();
            children.extend(
                found
                    .filter(|child| child.name_any().ends_with("-foobar"))
                    .map(|child| (name(&child), child)),
            );
        }
        Ok(Self { foobars, children })
    }

    /// Whether every object is in its desired state; else the error and the object's name.
    fn check(&self) -> Result<(), (String, String)> {
        for foobar in &self.foobars {
            if let Err(error) = check(foobar, &self.children) {
                return Err((foobar.name_any(), format!("{:?}: {error:#}", name(foobar))));
            }
        }
        let of = |foobar: &FooBar| (name(foobar).0, child_of(&foobar.name_any()));
        let wanted: BTreeSet<_> = self.foobars.iter().map(of).collect();
        match self.children.keys().find(|child| !wanted.contains(*child)) {
            Some(stray) => Err((stray.1.clone(), format!("{stray:?} has no owner"))),
            None => Ok(()),
        }
    }

    /// Deletes the children of deleted owners; returns how many there were.
    async fn collect(&self, client: &kube::Client) -> Result<usize> {
        let living: BTreeSet<_> = self.foobars.iter().filter_map(ResourceExt::uid).collect();
        let orphaned = |child: &&ConfigMap| {
            let owners = child.owner_references();
            !owners.is_empty() && owners.iter().all(|owner| !living.contains(&owner.uid))
        };
        let orphans: Vec<_> = self.children.values().filter(orphaned).map(name).collect();
        for (namespace, name) in &orphans {
            eprintln!("left by the garbage collector: {namespace}/{name}");
            let of: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
            of.delete(name, &DeleteParams::default()).await?;
        }
        Ok(orphans.len())
    }
}

async fn namespaces(client: &kube::Client) -> Result<Vec<String>> {
    let all: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client.clone());
    let found = all.list(&ListParams::default()).await?.items;
    let names = found.iter().map(ResourceExt::name_any);
    Ok(names.filter(|name| name.starts_with("soak-")).collect())
}

fn check(foobar: &FooBar, children: &BTreeMap<Name, ConfigMap>) -> Result<()> {
    ensure!(foobar.metadata.deletion_timestamp.is_none(), "is still being deleted");
    ensure!(
        foobar.is_ready(),
        "is not Ready: {}",
        serde_json::to_string(&foobar.status)?
    );
    let child = (name(foobar).0, child_of(&foobar.name_any()));
    check_child(foobar, children.get(&child).context("has no child")?)
}

fn name<K: kube::Resource>(object: &K) -> Name {
    (object.namespace().unwrap_or_default(), object.name_any())
}
