//! The futures of a reconcile are small. Each async function that awaits one of them has it on its stack, several times in a
//! build without optimisation, and tokio's workers have stacks of 2 MiB.

use std::{
    mem::size_of_val,
    sync::{Arc, Mutex},
};

use crate::support::{
    kinds::{FooBar, Running, at, foobar, seconds, world},
    notes::manager,
};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod},
};
use kubewright_runtime::{Action, Context, Controller, Reconciler, Result};

/// Records the sizes of the futures of its context.
struct Measuring(Arc<Mutex<Vec<(&'static str, usize)>>>);

impl Reconciler<FooBar> for Measuring {
    async fn reconcile(&self, cx: &Context<FooBar>, _foobar: Arc<FooBar>) -> Result<Action> {
        let mut sizes = self.0.lock().unwrap();
        sizes.push(("a ConfigMap", size_of_val(&cx.apply_child(ConfigMap::default()))));
        sizes.push(("a Deployment", size_of_val(&cx.apply_child(Deployment::default()))));
        sizes.push(("a Pod", size_of_val(&cx.apply_child(Pod::default()))));
        sizes.push(("prune", size_of_val(&cx.prune_children::<Deployment>(&[]))));
        sizes.push(("Pods", size_of_val(&cx.keep_pods(1, &Pod::default()))));
        sizes.push(("claim", size_of_val(&cx.claim::<Pod>())));
        sizes.push(("status", size_of_val(&cx.patch_status(|_| ()))));
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn the_futures_of_a_context_are_smaller_than_four_kibibytes() {
    let world = world();
    let sizes = Arc::default();
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Measuring(Arc::clone(&sizes)))
        .unwrap();
    world.put(&at("a"), foobar("x"));
    let _running = Running::start(manager);
    seconds(1).await;
    let sizes = sizes.lock().unwrap();
    assert!(!sizes.is_empty(), "nothing was reconciled");
    assert!(sizes.iter().all(|(_, size)| *size < 4 * 1024), "{sizes:?}");
}
