//! A reconciler that records its runs, and other parts of reconcilers of tests.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use kubewright_runtime::{Action, AnyObject, Context, Manager, Reconciler, Result};
use serde_json::Value;

use super::{World, kinds::FooBar};

/// Names, in the order of the runs.
pub type Seen = Arc<Mutex<Vec<String>>>;

/// Records each run, which takes a second.
pub struct Notes(pub Seen);

impl Reconciler<FooBar> for Notes {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.0.lock().unwrap().push(cx.key().name().to_owned());
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(Action::Done)
    }
}

/// The runs recorded since the last call.
pub fn taken(seen: &Seen) -> Vec<String> {
    std::mem::take(&mut *seen.lock().unwrap())
}

pub fn manager(world: &World) -> Manager {
    let manager = Manager::builder(world.client()).name("test");
    manager.namespace("default").build()
}

/// A child, from JSON.
pub fn child<C: AnyObject>(fields: Value) -> C {
    serde_json::from_str(&fields.to_string()).expect("a child of that kind")
}
