//! Keeps Pods for each Worker: as many as it asks for.

use std::{collections::BTreeMap, env, sync::Arc};

use api::test::v1::Worker;
use k8s_openapi::api::core::v1::{
    Capabilities, Container, EnvVar, Pod, PodSecurityContext, PodSpec, SeccompProfile,
    SecurityContext,
};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Conditions, Context, Controller, EventType, Manager, Reconciler, Result, child_name,
    label_value,
};

use crate::app::App;

/// What runs. A release of the operator brings the image that it was tested with;
const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// and this variable of the operator's environment names another one, such as a mirror's.
const IMAGE_VARIABLE: &str = "WORKER_IMAGE";

/// Says of a Pod whose it is: by this an object knows its Pods.
const LABEL: &str = "test.example.com/worker";

/// The condition that says whether the image runs as asked.
const READY: &str = "Ready";

struct WorkerReconciler {
    image: String,
}

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    let image = env::var(IMAGE_VARIABLE).unwrap_or_else(|_| IMAGE.to_owned());
    Controller::<Worker>::new("worker")
        .claims::<Pod>(labels)
        .register(manager, WorkerReconciler { image })
}

impl Reconciler<Worker> for WorkerReconciler {
    // Called whenever the object or one of its Pods may have changed, and never told which: look, compare, act.
    async fn reconcile(&self, cx: &Context<Worker>, object: Arc<Worker>) -> Result<Action> {
        // Adopts and releases by label, makes what is missing, deletes what is too much: the Pod whose end is
        // the smallest loss first. Living Pods stay as they were made, whatever the spec says by now.
        let wanted = object.spec.replicas;
        let kept = cx.keep_pods(wanted, &pod(&object, &self.image)).await?;
        if kept.created > 0 {
            let note = format!("made {} Pods", kept.created);
            cx.event(EventType::Normal, "Created", note);
        }
        if kept.deleted > 0 {
            let note = format!("deleted {} Pods", kept.deleted);
            cx.event(EventType::Normal, "Deleted", note);
        }
        let (there, ready) = (count(kept.pods.len()), count(kept.ready()));
        let verdict = if ready == wanted {
            cx.condition(READY, true, "Available", "all replicas are ready")
        } else {
            let message = format!("{ready} of {wanted} replicas are ready");
            cx.condition(READY, false, "Progressing", message)
        };
        let selector: Vec<_> = labels(&object)
            .into_iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        // Sent only where it differs from what is there.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.replicas = there;
            status.ready_replicas = ready;
            status.selector = Some(selector.join(","));
            status.conditions.set(verdict);
        })
        .await?;
        // Nothing to clean up: the Pods go with their owner. For what Kubernetes cannot see there are
        // `Reconciler::finalizer` and `cleanup`.
        Ok(Action::Done)
    }
}

fn count(pods: usize) -> i32 {
    i32::try_from(pods).unwrap_or(i32::MAX)
}

fn labels(object: &Worker) -> BTreeMap<String, String> {
    BTreeMap::from([(LABEL.to_owned(), label_value(&object.name_any()))])
}

/// The Pods that an object asks for. `keep_pods` adds a number to the name, the namespace and the owner.
fn pod(object: &Worker, image: &str) -> Pod {
    let name = child_name(&object.name_any(), "worker");
    Pod {
        metadata: ObjectMeta {
            name: Some(name),
            labels: Some(labels(object)),
            ..ObjectMeta::default()
        },
        spec: Some(pod_spec(object, image)),
        ..Pod::default()
    }
}

/// One container of the image, told what the object is about, under the Pod Security Standard `restricted`.
fn pod_spec(object: &Worker, image: &str) -> PodSpec {
    let variable = |name: &str, value: &str| EnvVar {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        ..EnvVar::default()
    };
    let mut variables = vec![variable("TARGET", &object.spec.target)];
    if let Some(type_) = &object.spec.r#type {
        variables.push(variable("TYPE", type_));
    }
    PodSpec {
        containers: vec![Container {
            name: "main".to_owned(),
            image: Some(image.to_owned()),
            env: Some(variables),
            security_context: Some(SecurityContext {
                allow_privilege_escalation: Some(false),
                capabilities: Some(Capabilities {
                    drop: Some(vec!["ALL".to_owned()]),
                    ..Capabilities::default()
                }),
                ..SecurityContext::default()
            }),
            ..Container::default()
        }],
        // It may not ask the API server for anything.
        automount_service_account_token: Some(false),
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(true),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..SeccompProfile::default()
            }),
            ..PodSecurityContext::default()
        }),
        ..PodSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use api::test::v1::worker::WorkerSpec;

    use super::*;

    #[test]
    fn the_pods_say_what_the_spec_says() {
        let spec = WorkerSpec {
            target: "world".to_owned(),
            r#type: Some("greeting".to_owned()),
            replicas: 2,
        };
        let made = pod(&Worker::new("sample", spec), "image:1");
        assert_eq!(made.name_any(), "sample-worker");
        assert_eq!(made.labels()[LABEL], "sample");
        let container = &made.spec.unwrap().containers[0];
        assert_eq!(container.image.as_deref(), Some("image:1"));
        let variables = container.env.clone().unwrap_or_default();
        assert_eq!(variables[0].value.as_deref(), Some("world"));
        assert_eq!(variables[1].value.as_deref(), Some("greeting"));
    }
}
