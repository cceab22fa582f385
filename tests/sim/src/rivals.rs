//! Operators of which two processes disturb each other.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use kubewright_apiserver::dev::sim::Oracle;
use kubewright_runtime::{Action, Context, Reconciler, Result};

use crate::{
    FooBar,
    right::child,
    wrong::{Wrong, owning, ready, wrong},
};

/// All of them.
pub const ALL: [Wrong; 1] = [wrong(
    "insists on the annotation of its own process",
    |m| owning(m, Insists::default()),
    Oracle::HotLoop,
)];

/// Annotates its child with the time at which the process has begun.
#[derive(Default)]
struct Insists(OnceLock<String>);

impl Reconciler<FooBar> for Insists {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let begun = self.0.get_or_init(|| cx.now().to_string());
        let mut child = child(&object, "foobar");
        let annotations = BTreeMap::from([("test.example.com/begun".to_owned(), begun.clone())]);
        child.metadata.annotations = Some(annotations);
        cx.apply_child(child).await?;
        ready(cx, &object).await
    }
}
