//! Runs the informer under test, advances the clock, and records its deltas.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Resource;
use kubewright_runtime::{Delta, Informer};
use tokio::{sync::oneshot, task::JoinHandle, time::sleep};

use super::FooBar;

/// Advances the paused clock by this time, so that everything that needs no longer happens.
pub async fn settle() {
    sleep(Duration::from_millis(10)).await;
}

/// A subscriber that records its deltas: `added a@3`, `updated a@3-5`, `deleted a@5`, `invalid a`.
#[derive(Clone)]
pub struct Diary {
    lines: Arc<Mutex<Vec<String>>>,
    number_of: Arc<dyn Fn(&str) -> u64 + Send + Sync>,
}

impl Diary {
    /// An empty diary that replaces versions by these numbers.
    pub fn new(number_of: impl Fn(&str) -> u64 + Send + Sync + 'static) -> Self {
        Self {
            lines: Arc::default(),
            number_of: Arc::new(number_of),
        }
    }

    pub fn writer(&self) -> impl Fn(&Delta<FooBar>) + Send + Sync + 'static {
        let diary = self.clone();
        move |delta| {
            let number =
                |object: &FooBar| (diary.number_of)(object.metadata.resource_version.as_deref().unwrap_or_default());
            let name = delta.key().name().to_owned();
            diary.lines.lock().expect("no test panics in here").push(match delta {
                Delta::Added { object, initial: true } => format!("listed {name}@{}", number(object)),
                Delta::Added { object, initial: false } => format!("added {name}@{}", number(object)),
                Delta::Updated { old, new } => format!("updated {name}@{}-{}", number(old), number(new)),
                Delta::Deleted(object) => format!("deleted {name}@{}", number(object)),
                Delta::Resync(object) => format!("resync {name}@{}", number(object)),
                Delta::Invalid { .. } => format!("invalid {name}"),
            });
        }
    }

    /// The deltas since the last call.
    pub fn read(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().expect("no test panics in here"))
    }
}

/// A running informer, ended with [`Running::stop`].
pub struct Running {
    pub task: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Running {
    pub fn start<K>(informer: &Informer<K>) -> Self
    where
        K: Resource<DynamicType = ()> + serde::de::DeserializeOwned + Clone + std::fmt::Debug + Send + Sync + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let run = informer.clone().run(async move { _ = stopped.await });
        Self {
            task: tokio::spawn(run),
            stop,
        }
    }

    pub async fn stop(self) {
        _ = self.stop.send(());
        self.task.await.expect("ends without a panic");
    }
}
