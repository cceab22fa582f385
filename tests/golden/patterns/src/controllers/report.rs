//! Runs an image once for each Report, as a Job, and keeps its result in the status.

use std::{env, sync::Arc, time::Duration};

use api::test::v1::Report;
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, EnvVar, Pod, PodSecurityContext, PodSpec, PodTemplateSpec,
    SeccompProfile, SecurityContext,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, ObjectMeta, Preconditions},
};
use kubewright_runtime::{
    Action, Completion, Conditions, Context, Controller, Error, EventType, Manager, Reconciler,
    Result, job_name,
};

use crate::app::App;

/// The default image, tested with this release of the operator.
const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// The environment variable that replaces the image, for example by one from a mirror.
const IMAGE_VARIABLE: &str = "REPORT_IMAGE";

/// The condition that reports whether the run has succeeded.
const READY: &str = "Ready";

struct ReportReconciler {
    image: String,
}

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    let image = env::var(IMAGE_VARIABLE).unwrap_or_else(|_| IMAGE.to_owned());
    controller().register(manager, ReportReconciler { image })
}

fn controller() -> Controller<Report> {
    Controller::new("report")
        .owns::<Job>()
        // The result of a run.
        .rule(&[""], &["pods"], &["list"])
        // An object is deleted some time after its run, if its spec sets that time.
        .rule(&["test.example.com"], &["reports"], &["delete"])
}

impl Reconciler<Report> for ReportReconciler {
    // Runs after any change of the object or its Job, without saying which: compare the cluster with the spec, then act.
    async fn reconcile(&self, cx: &Context<Report>, object: Arc<Report>) -> Result<Action> {
        // A run that has ended is not repeated, even if its Job is deleted.
        let status = object.status.clone().unwrap_or_default();
        if let Some(end) = status.completion_time {
            return delete_after_ttl(cx, &object, &end).await;
        }
        let wanted = job(&object, &self.image);
        let name = wanted.name_any();
        let ready = match cx.create_once(wanted).await {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Created", "created the Job");
                }
                None
            }
            // An object of that name belongs to somebody else. It is left alone, and `reconcile` runs again when it
            // changes or is deleted.
            Err(Error::NotOwned(other)) => {
                cx.event(EventType::Warning, "ChildNotOwned", other.to_string());
                Some(cx.condition(READY, false, "ChildNotOwned", other.to_string()))
            }
            // The runtime retries with a growing delay, unless the error is terminal.
            Err(error) => return Err(error),
        };
        // The cache is never older than what this controller has written.
        let job = cx.child::<Job>(&name)?.unwrap_or_default();
        let completion = Completion::of(&job);
        let ready = ready.unwrap_or_else(|| readiness(cx, &completion));
        let result = match completion {
            Completion::Complete => result(cx, &job).await?,
            _ => None,
        };
        let ended = completion.is_final();
        let end = ended.then(|| ready.last_transition_time.clone());
        // The patch is sent only if it changes something.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.completion_time = end.clone();
            status.result = result;
            status.conditions.set(ready);
        })
        .await?;
        match end {
            Some(end) => delete_after_ttl(cx, &object, &end).await,
            None => Ok(Action::Done),
        }
    }
}

fn readiness(cx: &Context<Report>, completion: &Completion) -> Condition {
    match completion {
        Completion::Complete => cx.condition(READY, true, "Complete", "the run has succeeded"),
        Completion::Failed { reason, message } => cx.condition(READY, false, reason, message),
        Completion::Running | Completion::Suspended => {
            cx.condition(READY, false, "Running", "the run has not ended")
        }
    }
}

/// The text that the successful Pod of a Job wrote to `/dev/termination-log`.
async fn result(cx: &Context<Report>, job: &Job) -> Result<Option<String>> {
    let pods: Api<Pod> = Api::namespaced(cx.client().clone(), cx.namespace());
    let of_job = format!("batch.kubernetes.io/job-name={}", job.name_any());
    let pods = pods.list(&ListParams::default().labels(&of_job)).await?;
    let message = pods.into_iter().find_map(|pod| {
        let statuses = pod.status?.container_statuses?;
        let ended = statuses.into_iter().next()?.state?.terminated?;
        ended.message.filter(|_| ended.exit_code == 0)
    });
    Ok(message)
}

/// Deletes an object `ttlSecondsAfterFinished` after the end of its run.
async fn delete_after_ttl(cx: &Context<Report>, object: &Report, end: &Time) -> Result<Action> {
    let Some(seconds) = object.spec.ttl_seconds_after_finished else {
        return Ok(Action::Done);
    };
    let due = end.0 + Duration::from_secs(seconds.unsigned_abs().into());
    if cx.now() < due {
        return Ok(Action::At(due));
    }
    let objects: Api<Report> = Api::namespaced(cx.client().clone(), cx.namespace());
    // Only this object: meanwhile another object may have been created with its name.
    let this = Preconditions {
        uid: object.uid(),
        ..Preconditions::default()
    };
    let params = DeleteParams::background().preconditions(this);
    objects.delete(&object.name_any(), &params).await?;
    Ok(Action::Done)
}

/// The Job of an object. `create_once` adds the namespace and the owner.
fn job(object: &Report, image: &str) -> Job {
    let pod = PodSpec {
        restart_policy: Some("Never".to_owned()),
        ..pod_spec(object, image)
    };
    Job {
        metadata: ObjectMeta {
            name: Some(job_name(&object.name_any(), "report")),
            ..ObjectMeta::default()
        },
        spec: Some(JobSpec {
            backoff_limit: Some(object.spec.retries),
            template: PodTemplateSpec {
                spec: Some(pod),
                ..PodTemplateSpec::default()
            },
            ..JobSpec::default()
        }),
        ..Job::default()
    }
}

/// One container that gets the spec as environment variables, under the Pod Security Standard `restricted`.
fn pod_spec(object: &Report, image: &str) -> PodSpec {
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
    use k8s_openapi::api::batch::v1::{JobCondition, JobStatus};
    use kubewright_runtime::testing::{Rehearsal, Rehearsed, from_yaml};

    use super::*;

    const IMAGE: &str = "image:1";
    const NAME: &str = "sample-report";

    /// The sample, to be deleted a minute after its end.
    fn object() -> Report {
        let sample = include_str!("../../config/samples/test_v1_report.yaml");
        let mut object: Report = from_yaml("sample", sample);
        object.spec.ttl_seconds_after_finished = Some(60);
        object
    }

    async fn reconcile(rehearsal: Rehearsal, object: Report) -> Result<Rehearsed> {
        let reconciler = ReportReconciler {
            image: IMAGE.to_owned(),
        };
        rehearsal.reconcile(controller(), reconciler, object).await
    }

    #[test]
    fn the_job_has_the_fields_of_the_spec() {
        let object = object();
        let made = job(&object, IMAGE);
        assert_eq!(made.name_any(), NAME);
        let spec = made.spec.unwrap();
        assert_eq!(spec.backoff_limit, Some(object.spec.retries));
        let container = &spec.template.spec.unwrap().containers[0];
        assert_eq!(container.image.as_deref(), Some(IMAGE));
        let variables = container.env.clone().unwrap_or_default();
        assert_eq!(variables[0].value, Some(object.spec.target));
    }

    #[tokio::test]
    async fn an_object_is_deleted_a_minute_after_its_end_and_never_run_again() -> Result<()> {
        let played = reconcile(Rehearsal::new(), object()).await?;
        let mut job: Job = played.object(NAME).expect("a Job");
        let complete = JobCondition {
            type_: "Complete".to_owned(),
            status: "True".to_owned(),
            ..JobCondition::default()
        };
        job.status = Some(JobStatus {
            conditions: Some(vec![complete]),
            ..JobStatus::default()
        });

        let running = played.object("sample").expect("it is there");
        let ended = played.later(Duration::from_secs(1)).with(job);
        let played = reconcile(ended, running).await?;
        let minute = Duration::from_secs(60);
        assert!(matches!(played.result, Ok(Some(delay)) if delay <= minute));

        let ended = played.object("sample").expect("it is there");
        let played = reconcile(played.later(minute), ended).await?;
        let verbs: Vec<_> = played.writes().iter().map(|write| write.verb).collect();
        assert_eq!(verbs, ["delete"]);
        assert!(played.object::<Report>("sample").is_none());
        Ok(())
    }
}
