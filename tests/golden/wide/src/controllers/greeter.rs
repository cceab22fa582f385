//! Runs an image for each Greeter, as one Deployment, and reports its progress in the status.

use std::{collections::BTreeMap, env, sync::Arc};

use api::test::v2::Greeter;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, EnvVar, PodSecurityContext, PodSpec, PodTemplateSpec, SeccompProfile,
    SecurityContext,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Conditions, Context, Controller, Error, EventType, Manager, Reconciler, Result,
    Rollout, child_name, label_value,
};

use crate::app::App;

/// The default image, tested with this release of the operator.
const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// The environment variable that replaces the image, for example by one from a mirror.
const IMAGE_VARIABLE: &str = "GREETER_IMAGE";

/// The label that names the owner of a Pod.
const LABEL: &str = "test.example.com/greeter";

/// The condition that reports whether all replicas run.
const READY: &str = "Ready";

struct GreeterReconciler {
    image: String,
}

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    let image = env::var(IMAGE_VARIABLE).unwrap_or_else(|_| IMAGE.to_owned());
    Controller::<Greeter>::new("greeter")
        .owns::<Deployment>()
        .register(manager, GreeterReconciler { image })
}

impl Reconciler<Greeter> for GreeterReconciler {
    // Runs after any change of the object or its Deployment, without saying which: compare the cluster with the spec,
    // then act.
    async fn reconcile(&self, cx: &Context<Greeter>, object: Arc<Greeter>) -> Result<Action> {
        let wanted = deployment(&object, &self.image);
        let name = wanted.name_any();
        let applied = cx.apply_child(wanted).await;
        // The cache is never older than what this controller has written.
        let found = cx.child::<Deployment>(&name)?.unwrap_or_default();
        let ready = match applied {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Applied", "wrote the Deployment");
                }
                readiness(cx, &found)
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
        let counts = found.status.clone().unwrap_or_default();
        let (key, value) = label(&object);
        // The patch is sent only if it changes something.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.replicas = counts.replicas.unwrap_or(0);
            status.ready_replicas = counts.ready_replicas.unwrap_or(0);
            status.selector = Some(format!("{key}={value}"));
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }
}

/// Ready only once the Deployment has rolled out the current spec.
fn readiness(cx: &Context<Greeter>, found: &Deployment) -> Condition {
    match Rollout::of(found) {
        Rollout::Complete => cx.condition(READY, true, "Available", "all replicas run"),
        Rollout::Progressing(what) => cx.condition(READY, false, "Progressing", what),
        Rollout::Failed(why) => cx.condition(READY, false, "RolloutFailed", why),
    }
}

fn label(object: &Greeter) -> (String, String) {
    (LABEL.to_owned(), label_value(&object.name_any()))
}

/// The Deployment of an object. `apply_child` adds the namespace and the owner.
fn deployment(object: &Greeter, image: &str) -> Deployment {
    let name = child_name(&object.name_any(), "greeter");
    let labels = BTreeMap::from([label(object)]);
    Deployment {
        metadata: ObjectMeta {
            name: Some(name),
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        },
        spec: DeploymentSpec {
            replicas: Some(object.spec.replicas),
            selector: LabelSelector {
                match_labels: Some(labels.clone()),
                ..LabelSelector::default()
            },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels),
                    ..ObjectMeta::default()
                }),
                spec: Some(pod_spec(object, image)),
            },
            ..DeploymentSpec::default()
        },
        ..Deployment::default()
    }
}

/// One container that gets the spec as environment variables, under the Pod Security Standard `restricted`.
fn pod_spec(object: &Greeter, image: &str) -> PodSpec {
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

    /// The sample with two replicas.
    fn object() -> Greeter {
        let sample = include_str!("../../config/samples/test_v2_greeter.yaml");
        let mut object: Greeter = from_yaml("sample", sample);
        object.spec.replicas = 2;
        object
    }

    #[test]
    fn the_deployment_has_the_fields_of_the_spec() {
        let object = object();
        let made = deployment(&object, "image:1");
        assert_eq!(made.name_any(), "sample-greeter");
        let spec = made.spec;
        assert_eq!(spec.replicas, Some(2));
        let container = &spec.template.spec.unwrap().containers[0];
        assert_eq!(container.image.as_deref(), Some("image:1"));
        let variables = container.env.clone().unwrap_or_default();
        assert_eq!(variables[0].value, Some(object.spec.target));
    }

    #[test]
    fn the_deployment_selects_its_own_pods() {
        let spec = deployment(&object(), "image:1").spec;
        let labels = spec.template.metadata.unwrap().labels;
        assert_eq!(spec.selector.match_labels, labels);
    }
}
