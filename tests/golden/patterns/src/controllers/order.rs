//! Turns each Order into one OrderRun, which a controller of its own acts on, and says of the Order what becomes of that.

use std::sync::Arc;

use api::test::v1::orderrun::OrderRunSpec;
use api::test::v1::{Order, OrderRun};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Conditions, Context, Controller, Error, EventType, Manager, Reconciler, Result,
};

use crate::app::App;

/// The condition that says whether the OrderRun has come to what was asked.
const READY: &str = "Ready";

struct OrderReconciler;

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Controller::<Order>::new("order")
        .owns::<OrderRun>()
        .register(manager, OrderReconciler)
}

impl Reconciler<Order> for OrderReconciler {
    // Called whenever the object or its OrderRun may have changed, its status included, and never told which.
    async fn reconcile(&self, cx: &Context<Order>, object: Arc<Order>) -> Result<Action> {
        let wanted = internal(&object);
        let name = wanted.name_any();
        let applied = cx.apply_child(wanted).await;
        // From the cache, which is never older than what was just written.
        let made = cx.child::<OrderRun>(&name)?;
        let ready = match applied {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Applied", "wrote the internal object");
                }
                readiness(cx, made.as_deref())
            }
            // Somebody else's: it is left alone, and we are called again when it changes or goes.
            Err(Error::NotOwned(other)) => {
                cx.event(EventType::Warning, "ChildNotOwned", other.to_string());
                cx.condition(READY, false, "ChildNotOwned", other.to_string())
            }
            // The runtime tries again, with a growing delay, where that can help.
            Err(error) => return Err(error),
        };
        // Sent only where it differs from what is there.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        // Nothing to clean up: the OrderRun goes with its owner, and its own controller cleans up after it.
        Ok(Action::Done)
    }
}

/// What the OrderRun says of itself, once it speaks of the spec that it has now: what it said of an earlier one
/// does not count.
fn readiness(cx: &Context<Order>, made: Option<&OrderRun>) -> Condition {
    match made.and_then(current) {
        Some(theirs) => {
            let verdict = theirs.status == "True";
            cx.condition(READY, verdict, &theirs.reason, theirs.message.clone())
        }
        None => cx.condition(READY, false, "Progressing", "the spec is not taken up yet"),
    }
}

fn current(made: &OrderRun) -> Option<&Condition> {
    let status = made.status.as_ref()?;
    let current = status.observed_generation == made.metadata.generation;
    status.conditions.find("Ready").filter(|_| current)
}

/// The OrderRun that an object asks for: here the words of its users become those of the machinery. `apply_child`
/// adds the namespace and the owner.
fn internal(object: &Order) -> OrderRun {
    let spec = OrderRunSpec {
        target: object.spec.target.clone(),
        r#type: object.spec.r#type.clone(),
    };
    OrderRun::new(&object.name_any(), spec)
}

#[cfg(test)]
mod tests {
    use api::test::v1::order::OrderSpec;

    use api::test::v1::orderrun::OrderRunStatus;
    use kubewright_runtime::condition;

    use super::*;

    fn made() -> OrderRun {
        let spec = OrderSpec {
            target: "world".to_owned(),
            r#type: Some("greeting".to_owned()),
        };
        internal(&Order::new("sample", spec))
    }

    #[test]
    fn it_asks_for_what_the_user_asks_for() {
        let spec = made().spec;
        assert_eq!(spec.target, "world");
        assert_eq!(spec.r#type.as_deref(), Some("greeting"));
    }

    #[test]
    fn what_was_said_of_an_earlier_spec_does_not_count() {
        let mut made = made();
        made.metadata.generation = Some(2);
        assert!(current(&made).is_none());
        for (generation, counts) in [(1, false), (2, true)] {
            made.status = Some(OrderRunStatus {
                observed_generation: Some(generation),
                conditions: vec![condition("Ready", true, "Done", "")],
            });
            assert_eq!(current(&made).is_some(), counts);
        }
    }
}
