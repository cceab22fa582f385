//! The benchmark's view of an operator's work: watches of FooBars and of their children.

use std::{collections::HashMap, fmt::Debug, time::Instant};

use anyhow::{Context, Result, bail};
use control_plane::foobar::FooBar;
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Resource, ResourceExt,
    api::{ListParams, WatchEvent, WatchParams},
};
use serde::de::DeserializeOwned;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::timeout,
};

use crate::load::{GONE, PATIENCE};

/// An object was seen in a generation.
struct Seen {
    name: String,
    generation: i64,
    at: Instant,
}

/// The generations that objects have reached since the watch began.
pub struct Watched {
    seen: UnboundedReceiver<Seen>,
    reached: HashMap<String, (i64, Instant)>,
}

impl Watched {
    /// When the object reached this generation, for which it waits.
    pub async fn reached(&mut self, name: &str, generation: i64) -> Result<Instant> {
        loop {
            if let Some((reached, at)) = self.reached.get(name)
                && *reached >= generation
            {
                return Ok(*at);
            }
            let seen = timeout(PATIENCE, self.seen.recv()).await;
            let seen = seen.with_context(|| format!("nothing has happened for minutes, and `{name}` is not done"))?;
            let seen = seen.context("the watch has ended")?;
            let known = self.reached.get(&seen.name).map_or(0, |(reached, _)| *reached);
            if seen.generation > known {
                self.reached.insert(seen.name, (seen.generation, seen.at));
            }
        }
    }
}

/// A FooBar reaches a generation when it is Ready in it, and [`GONE`] when it is deleted.
pub async fn watch_foobars(foobars: Api<FooBar>) -> Result<Watched> {
    watch(foobars, |foobar, gone| match gone {
        true => Some(GONE),
        false => foobar.metadata.generation.filter(|_| foobar.is_ready()),
    })
    .await
}

/// A child reaches generation 1 when it is created.
pub async fn watch_children(children: Api<ConfigMap>) -> Result<Watched> {
    watch(children, |_, gone| (!gone).then_some(1)).await
}

/// The generation that an object shows, or that its deletion does.
type Generation<K> = fn(&K, bool) -> Option<i64>;

async fn watch<K>(objects: Api<K>, generation: Generation<K>) -> Result<Watched>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let version = objects
        .list_metadata(&ListParams::default())
        .await?
        .metadata
        .resource_version;
    let (sender, seen) = unbounded_channel();
    tokio::spawn(async move {
        if let Err(error) = follow(objects, version.unwrap_or_default(), generation, sender).await {
            eprintln!("the watch: {error:#}");
        }
    });
    Ok(Watched {
        seen,
        reached: HashMap::new(),
    })
}

async fn follow<K>(
    objects: Api<K>,
    mut version: String,
    generation: Generation<K>,
    sender: UnboundedSender<Seen>,
) -> Result<()>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    while !sender.is_closed() {
        let mut events = objects.watch(&WatchParams::default(), &version).await?.boxed();
        while let Some(event) = events.try_next().await? {
            let (object, gone) = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
                WatchEvent::Bookmark(bookmark) => {
                    version = bookmark.metadata.resource_version;
                    continue;
                }
                WatchEvent::Error(status) => bail!("{}", status.message),
            };
            version = object.resource_version().unwrap_or_default();
            let Some(generation) = generation(&object, gone) else {
                continue;
            };
            let (name, at) = (object.name_any(), Instant::now());
            if sender.send(Seen { name, generation, at }).is_err() {
                // The receiver is dropped: the round is over.
                return Ok(());
            }
        }
    }
    Ok(())
}
