//! Turns each Crew into one Worker, which a controller of its own acts on, and says of the Crew what becomes of that.

use std::sync::Arc;

use api::test::v1::worker::WorkerSpec;
use api::test::v1::{Crew, Worker};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Conditions, Context, Controller, Error, EventType, Manager, Reconciler, Result,
};

use crate::app::App;

/// The condition that says whether the Worker has come to what was asked.
const READY: &str = "Ready";

struct CrewReconciler;

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Controller::<Crew>::new("crew")
        .owns::<Worker>()
        .register(manager, CrewReconciler)
}

impl Reconciler<Crew> for CrewReconciler {
    // Called whenever the object or its Worker may have changed, its status included, and never told which.
    async fn reconcile(&self, cx: &Context<Crew>, object: Arc<Crew>) -> Result<Action> {
        let wanted = internal(&object);
        let name = wanted.name_any();
        let applied = cx.apply_child(wanted).await;
        // From the cache, which is never older than what was just written.
        let made = cx.child::<Worker>(&name)?;
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
        let counts = made.and_then(|made| made.status.clone());
        let counts = counts.unwrap_or_default();
        // Sent only where it differs from what is there.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.replicas = counts.replicas;
            status.ready_replicas = counts.ready_replicas;
            status.selector = counts.selector;
            status.conditions.set(ready);
        })
        .await?;
        // Nothing to clean up: the Worker goes with its owner, and its own controller cleans up after it.
        Ok(Action::Done)
    }
}

/// What the Worker says of itself, once it speaks of the spec that it has now: what it said of an earlier one
/// does not count.
fn readiness(cx: &Context<Crew>, made: Option<&Worker>) -> Condition {
    match made.and_then(current) {
        Some(theirs) => {
            let verdict = theirs.status == "True";
            cx.condition(READY, verdict, &theirs.reason, theirs.message.clone())
        }
        None => cx.condition(READY, false, "Progressing", "the spec is not taken up yet"),
    }
}

fn current(made: &Worker) -> Option<&Condition> {
    let status = made.status.as_ref()?;
    let current = status.observed_generation == made.metadata.generation;
    status.conditions.find("Ready").filter(|_| current)
}

/// The Worker that an object asks for: here the words of its users become those of the machinery. `apply_child`
/// adds the namespace and the owner.
fn internal(object: &Crew) -> Worker {
    let spec = WorkerSpec {
        target: object.spec.target.clone(),
        r#type: object.spec.r#type.clone(),
        replicas: object.spec.replicas,
    };
    Worker::new(&object.name_any(), spec)
}

#[cfg(test)]
mod tests {
    use api::test::v1::crew::CrewSpec;

    use api::test::v1::worker::WorkerStatus;
    use kubewright_runtime::condition;

    use super::*;

    fn made() -> Worker {
        let spec = CrewSpec {
            target: "world".to_owned(),
            r#type: Some("greeting".to_owned()),
            replicas: 2,
        };
        internal(&Crew::new("sample", spec))
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
            made.status = Some(WorkerStatus {
                observed_generation: Some(generation),
                conditions: vec![condition("Ready", true, "Done", "")],
                ..WorkerStatus::default()
            });
            assert_eq!(current(&made).is_some(), counts);
        }
    }
}
