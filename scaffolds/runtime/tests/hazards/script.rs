//! A reconciler that acts by the name of its object, and records its runs.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use kubewright_runtime::{
    Action, Cleanup, Conditions, Context, Controller, Error, EventType, Manager, ObjectKey, Reconciler, Result,
};
use tokio::time::Instant;

use crate::support::{
    World,
    kinds::{FooBar, Running},
};

pub const FINALIZER: &str = "test.example.com/cleanup";

/// The actions of the scripted reconciler, and its recorded runs.
#[derive(Default)]
pub struct Script {
    pub runs: Mutex<Vec<(String, Instant)>>,
    pub deleted: Mutex<Vec<String>>,
    pub cleanups: AtomicUsize,
    pub finalizer: Option<&'static str>,
    pub now: AtomicUsize,
    pub most: AtomicUsize,
}

impl Script {
    pub fn runs(&self, name: &str) -> Vec<Instant> {
        self.runs
            .lock()
            .unwrap()
            .iter()
            .filter(|(of, _)| of == name)
            .map(|(_, at)| *at)
            .collect()
    }
}

/// Acts by the object's name.
#[derive(Clone)]
pub struct ByName(pub Arc<Script>);

impl Reconciler<FooBar> for ByName {
    fn finalizer(&self) -> Option<&str> {
        self.0.finalizer
    }

    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let name = foobar.metadata.name.clone().unwrap();
        self.0.runs.lock().unwrap().push((name.clone(), Instant::now()));
        let now = self.0.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        if name.starts_with("slow") {
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
        self.0.now.fetch_sub(1, Ordering::SeqCst);
        match name.split('-').next().unwrap() {
            "panics" => panic!("as asked"),
            "fails" => return Err(Error::retry("not yet")),
            "soon" => return Err(Error::retry_after("not yet", Duration::ZERO)),
            "zero" => return Ok(Action::RequeueAfter(Duration::from_nanos(1))),
            "terminal" => return Err(Error::terminal("BadTarget", "no such target")),
            "chatty" => {
                for n in 0..5000 {
                    cx.event(EventType::Normal, "Chatted", format!("word {n}"));
                }
            }
            "child" | "patient" => {
                let child = ConfigMap {
                    metadata: ObjectMeta {
                        name: Some(format!("{name}-foobar")),
                        ..ObjectMeta::default()
                    },
                    data: Some(BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())])),
                    ..ConfigMap::default()
                };
                match cx.apply_child(child).await {
                    // As generated reconcilers do: the error is in the status, and the object is reconciled again
                    // later.
                    Err(Error::NotOwned(_)) if name.starts_with("patient") => {}
                    applied => _ = applied?,
                }
            }
            _ => {}
        }
        cx.patch_status(|status| {
            status.observed_generation = foobar.metadata.generation;
            status.conditions.set(cx.condition("Ready", true, "Done", "as asked"));
        })
        .await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        match self.0.cleanups.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(Cleanup::Pending(Duration::from_secs(7))),
            _ => Ok(Cleanup::Done),
        }
    }

    fn deleted(&self, key: &ObjectKey) {
        self.0.deleted.lock().unwrap().push(key.to_string());
    }
}

pub fn controller() -> Controller<FooBar> {
    Controller::new("foobar").owns::<ConfigMap>()
}

pub fn run(world: &World, script: &Arc<Script>, controller: Controller<FooBar>) -> Running {
    let manager = Manager::builder(world.client()).name("test").build();
    controller.register(&manager, ByName(script.clone())).unwrap();
    Running::start(manager)
}
