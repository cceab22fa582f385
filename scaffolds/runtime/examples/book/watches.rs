//! A controller that is woken by objects that it neither reconciles nor owns.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use kubewright_runtime::{Action, Context, Controller, Error, Manager, ObjectKey, Reconciler, Result};

use crate::foobar::FooBar;

struct FooBarReconciler;

// ANCHOR: watches
/// Wakes every FooBar that names a Secret when that Secret changes.
pub fn register(manager: &Manager) -> Result<()> {
    let foobars = manager.informer::<FooBar>().store();
    Controller::<FooBar>::new("foobar")
        .index("secret", |foobar: &FooBar| {
            foobar.spec.secret_name.clone().into_iter().collect()
        })
        .watches::<Secret>(move |secret| {
            let name = secret.metadata.name.as_deref().unwrap_or_default();
            let named = foobars.by_index("secret", name);
            let beside = named
                .iter()
                .filter(|foobar| foobar.metadata.namespace == secret.metadata.namespace);
            beside.map(|foobar| ObjectKey::of(&**foobar)).collect()
        })
        .register(manager, FooBarReconciler)
}
// ANCHOR_END: watches

impl Reconciler<FooBar> for FooBarReconciler {
    // ANCHOR: get
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let Some(name) = &foobar.spec.secret_name else {
            return Ok(Action::Done);
        };
        let Some(secret) = cx.get::<Secret>(name)? else {
            // No retry: the controller is woken once the Secret exists.
            return Err(Error::terminal("SecretMissing", format!("there is no Secret `{name}`")));
        };
        let _password = secret.data.as_ref().and_then(|data| data.get("password"));
        Ok(Action::Done)
    }
    // ANCHOR_END: get
}
