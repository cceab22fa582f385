//! Keeps as many Pods for each Worker as its spec asks for.

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

/// The default image, tested with this release of the operator.
const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// The environment variable that replaces the image, for example by one from a mirror.
const IMAGE_VARIABLE: &str = "WORKER_IMAGE";

/// The label by which an object selects its Pods.
const LABEL: &str = "test.example.com/worker";

/// The condition that reports whether all replicas run.
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
    // Runs after any change of the object or one of its Pods, without saying which: compare the cluster with the spec,
    // then act.
    async fn reconcile(&self, cx: &Context<Worker>, object: Arc<Worker>) -> Result<Action> {
        // Adopts and releases Pods by label, creates missing ones, and deletes surplus ones in the order of a
        // ReplicaSet. Running Pods are not changed when the spec changes.
        let wanted = object.spec.replicas;
        let kept = cx.keep_pods(wanted, &pod(&object, &self.image)).await?;
        if kept.created > 0 {
            let note = format!("created {} Pods", kept.created);
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
        // The patch is sent only if it changes something.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.replicas = there;
            status.ready_replicas = ready;
            status.selector = Some(selector.join(","));
            status.conditions.set(verdict);
        })
        .await?;
        Ok(Action::Done)
    }
}

fn count(pods: usize) -> i32 {
    i32::try_from(pods).unwrap_or(i32::MAX)
}

fn labels(object: &Worker) -> BTreeMap<String, String> {
    BTreeMap::from([(LABEL.to_owned(), label_value(&object.name_any()))])
}

/// The Pods of an object. `keep_pods` adds the namespace, the owner, and a suffix to the name.
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

/// One container that gets the spec as environment variables, under the Pod Security Standard `restricted`.
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
        // The Pod has no access to the API server.
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
    use kubewright_runtime::testing::from_yaml;

    use super::*;

    #[test]
    fn the_pods_have_the_fields_of_the_spec() {
        let sample = include_str!("../../config/samples/test_v1_worker.yaml");
        let object: Worker = from_yaml("sample", sample);
        let made = pod(&object, "image:1");
        assert_eq!(made.name_any(), "sample-worker");
        assert_eq!(made.labels()[LABEL], "sample");
        let container = &made.spec.unwrap().containers[0];
        assert_eq!(container.image.as_deref(), Some("image:1"));
        let variables = container.env.clone().unwrap_or_default();
        assert_eq!(variables[0].value, Some(object.spec.target));
        assert_eq!(variables[1].value, object.spec.r#type);
    }
}
