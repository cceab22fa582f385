//! The informer under test: run, given time, and written down.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Resource;
use kubewright_runtime::{Delta, Informer};
use tokio::{sync::oneshot, task::JoinHandle, time::sleep};

use super::FooBar;

/// Lets everything happen that needs no longer than this, on the paused clock.
pub async fn settle() {
    sleep(Duration::from_millis(10)).await;
}

/// A subscriber that writes down what it is told: `added a@3`, `updated a@3-5`, `deleted a@5`, `invalid a`.
#[derive(Clone, Default)]
pub struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    pub fn of(informer: &Informer<FooBar>) -> Self {
        let diary = Self::default();
        informer.subscribe(diary.writer());
        diary
    }

    pub fn writer(&self) -> impl Fn(&Delta<FooBar>) + Send + Sync + 'static {
        let diary = self.clone();
        move |delta| {
            let version = |object: &FooBar| object.metadata.resource_version.clone().unwrap_or_default();
            let name = delta.key().name().to_owned();
            diary.0.lock().expect("no test panics in here").push(match delta {
                Delta::Added { object, initial: true } => format!("listed {name}@{}", version(object)),
                Delta::Added { object, initial: false } => format!("added {name}@{}", version(object)),
                Delta::Updated { old, new } => format!("updated {name}@{}-{}", version(old), version(new)),
                Delta::Deleted(object) => format!("deleted {name}@{}", version(object)),
                Delta::Resync(object) => format!("resync {name}@{}", version(object)),
                Delta::Invalid { .. } => format!("invalid {name}"),
            });
        }
    }

    /// What was told since the last reading.
    pub fn read(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no test panics in here"))
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
