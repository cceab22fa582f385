//! An operator whose mistake shows only when two different faults meet in one reconcile.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use kubewright_runtime::{Action, Context, Error, Manager, Reconciler, Result};

use crate::{
    FooBar,
    right::child,
    wrong::{owning, ready},
};

/// Retries after one error, and gives the object up after another one, until somebody changes the object.
#[derive(Default)]
struct GivesUp {
    /// The codes of the answers since the last success.
    codes: Mutex<BTreeSet<u16>>,
}

/// Registers the operator.
///
/// # Errors
/// The controller is registered already.
pub fn gives_up(manager: &Manager) -> Result<()> {
    owning(manager, GivesUp::default())
}

impl Reconciler<FooBar> for GivesUp {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let written = match cx.apply_child(child(&object, "foobar")).await {
            Ok(_) => ready(cx, &object).await,
            Err(error) => Err(error),
        };
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(Error::Kube(error)) = &written
            && let kube::Error::Api(status) = &**error
        {
            codes.insert(status.code);
        } else {
            codes.clear();
        }
        match codes.len() {
            0 | 1 => written,
            _ => Ok(Action::Done),
        }
    }
}
