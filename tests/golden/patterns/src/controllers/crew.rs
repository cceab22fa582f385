//! Creates one Worker for each Crew, and repeats its status. Another controller acts on it.

use std::sync::Arc;

use api::test::v1::worker::WorkerSpec;
use api::test::v1::{Crew, Worker};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Conditions, Context, Controller, Error, EventType, Manager, Reconciler, Result,
};

use crate::app::App;

/// The condition that repeats the `Ready` condition of the Worker.
const READY: &str = "Ready";

struct CrewReconciler;

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Controller::<Crew>::new("crew")
        .owns::<Worker>()
        .register(manager, CrewReconciler)
}

impl Reconciler<Crew> for CrewReconciler {
    // Runs after any change of the object or its Worker, without saying which: compare the cluster with the spec,
    // then act.
    async fn reconcile(&self, cx: &Context<Crew>, object: Arc<Crew>) -> Result<Action> {
        let wanted = internal(&object);
        let name = wanted.name_any();
        let applied = cx.apply_child(wanted).await;
        // The cache is never older than what this controller has written.
        let made = cx.child::<Worker>(&name)?;
        let ready = match applied {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Applied", "wrote the internal object");
                }
                readiness(cx, made.as_deref())
            }
            // An object of that name belongs to somebody else. It is left alone, and `reconcile` runs again when it
            // changes or is deleted.
            Err(Error::NotOwned(other)) => {
                cx.event(EventType::Warning, "ChildNotOwned", other.to_string());
                cx.condition(READY, false, "ChildNotOwned", other.to_string())
            }
            // The runtime retries with a growing delay, unless the error is terminal.
            Err(error) => return Err(error),
        };
        let counts = made.and_then(|made| made.status.clone());
        let counts = counts.unwrap_or_default();
        // The patch is sent only if it changes something.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.replicas = counts.replicas;
            status.ready_replicas = counts.ready_replicas;
            status.selector = counts.selector;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }
}

/// The readiness of the Worker, as soon as its status is about its current spec.
fn readiness(cx: &Context<Crew>, made: Option<&Worker>) -> Condition {
    match made.and_then(current) {
        Some(theirs) => {
            let verdict = theirs.status == "True";
            cx.condition(READY, verdict, &theirs.reason, theirs.message.clone())
        }
        None => cx.condition(READY, false, "Progressing", "the spec is not observed yet"),
    }
}

fn current(made: &Worker) -> Option<&Condition> {
    let status = made.status.as_ref()?;
    let current = status.observed_generation == made.metadata.generation;
    status.conditions.find("Ready").filter(|_| current)
}

/// The Worker of an object. `apply_child` adds the namespace and the owner.
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
    use api::test::v1::worker::WorkerStatus;
    use kubewright_runtime::{condition, testing::from_yaml};

    use super::*;

    fn object() -> Crew {
        let sample = include_str!("../../config/samples/test_v1_crew.yaml");
        from_yaml("sample", sample)
    }

    #[test]
    fn the_internal_object_has_the_fields_of_the_spec() {
        let object = object();
        let spec = internal(&object).spec;
        assert_eq!(spec.target, object.spec.target);
        assert_eq!(spec.r#type, object.spec.r#type);
    }

    #[test]
    fn a_status_of_an_earlier_spec_is_ignored() {
        let mut made = internal(&object());
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
