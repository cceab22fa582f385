//! Runs an image for each Tick at the times of its schedule, as Jobs.

use std::{cmp::Reverse, env, sync::Arc};

use api::test::v1::Tick;
use api::test::v1::tick::{ConcurrencyPolicy, TickSpec};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, EnvVar, PodSecurityContext, PodSpec, PodTemplateSpec, SeccompProfile,
    SecurityContext,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Completion, Conditions, Context, Controller, Manager, Reconciler, Result, Schedule,
    job_name,
};

use crate::app::App;

/// The default image, tested with this release of the operator.
const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// The environment variable that replaces the image, for example by one from a mirror.
const IMAGE_VARIABLE: &str = "TICK_IMAGE";

/// The condition that reports whether Jobs follow the schedule.
const READY: &str = "Ready";

/// The annotation of a Job with its time of the schedule.
const SCHEDULED_AT: &str = "test.example.com/scheduled-at";

struct TickReconciler {
    image: String,
}

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    let image = env::var(IMAGE_VARIABLE).unwrap_or_else(|_| IMAGE.to_owned());
    controller().register(manager, TickReconciler { image })
}

fn controller() -> Controller<Tick> {
    let controller = Controller::new("tick").owns::<Job>();
    controller.prunes::<Job>()
}

/// A Job of the schedule.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    job: Arc<Job>,
    at: Timestamp,
    /// Whether it has succeeded, once it has ended.
    success: Option<bool>,
}

impl Run {
    fn of(job: Arc<Job>) -> Option<Self> {
        let at = job.annotations().get(SCHEDULED_AT)?.parse().ok()?;
        let completion = Completion::of(&job);
        let success = (completion.is_final()).then_some(completion == Completion::Complete);
        Some(Self { job, at, success })
    }
}

/// The Jobs to delete and to start now.
#[derive(Debug, Default, PartialEq)]
struct Plan {
    delete: Vec<Arc<Job>>,
    /// The time for which a Job is due.
    start: Option<Timestamp>,
    /// The next time.
    next: Option<Timestamp>,
}

impl Plan {
    /// A pure function of the spec, its Jobs (the newest first), the time up to which all is done, and the present time.
    fn of(spec: &TickSpec, runs: &[Run], since: Timestamp, now: Timestamp) -> Result<Self> {
        let of = |success| runs.iter().filter(move |run| run.success == success);
        let (good, bad) = (
            of(Some(true)).skip(spec.successful_jobs_history_limit as usize),
            of(Some(false)).skip(spec.failed_jobs_history_limit as usize),
        );
        let mut plan = Self {
            delete: good.chain(bad).map(|run| run.job.clone()).collect(),
            ..Self::default()
        };
        let schedule = Schedule::parse(&spec.schedule, spec.time_zone.as_deref())?;
        if spec.suspend {
            return Ok(plan);
        }
        let latest = schedule.latest(since, now);
        plan.next = schedule.next(latest.unwrap_or(since));
        let deadline = spec.starting_deadline_seconds;
        let is_late = |at: Timestamp| {
            deadline.is_some_and(|seconds| at + SignedDuration::from_secs(seconds.into()) < now)
        };
        let due = latest.filter(|at| !is_late(*at));
        match spec.concurrency_policy {
            // The end of the running Job starts the next one.
            ConcurrencyPolicy::Forbid if of(None).next().is_some() => {}
            ConcurrencyPolicy::Replace if due.is_some() => {
                plan.delete.extend(of(None).map(|run| run.job.clone()));
                plan.start = due;
            }
            _ => plan.start = due,
        }
        Ok(plan)
    }
}

impl Reconciler<Tick> for TickReconciler {
    // Runs at each time of the schedule, and after any change of the object or its Jobs.
    async fn reconcile(&self, cx: &Context<Tick>, object: Arc<Tick>) -> Result<Action> {
        let mut jobs = cx.children::<Job>()?;
        jobs.retain(|job| job.metadata.deletion_timestamp.is_none());
        let mut runs: Vec<_> = jobs.into_iter().filter_map(Run::of).collect();
        runs.sort_by_key(|run| Reverse(run.at));

        let status = object.status.clone().unwrap_or_default();
        let known = status.last_schedule_time.map(|time| time.0);
        let last = runs.first().map(|run| run.at).max(known);
        let created = object.metadata.creation_timestamp.as_ref();
        let since = last.or(created.map(|time| time.0)).unwrap_or(cx.now());
        let plan = Plan::of(&object.spec, &runs, since, cx.now())?;

        let (reason, text) = match object.spec.suspend {
            true => ("Suspended", "no Job is created"),
            false => ("Scheduled", "Jobs follow the schedule"),
        };
        let ready = cx.condition(READY, true, reason, text);
        let mut good = runs.iter().filter(|run| run.success == Some(true));
        let success = good.next().map(|run| run.at);
        let success = success.max(status.last_successful_time.map(|time| time.0));
        let active = runs.iter().filter(|run| run.success.is_none());
        let active: Vec<_> = active.map(|run| run.job.name_any()).collect();
        // Write the times before Jobs are deleted: afterwards, only the status contains them.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.last_schedule_time = last.map(Time);
            status.last_successful_time = success.map(Time);
            status.active = active;
            status.conditions.set(ready);
        })
        .await?;
        cx.delete_children(&plan.delete).await?;
        if let Some(at) = plan.start {
            let created = cx.create_once(job(&object, at, &self.image)).await;
            // If another object has the name, `reconcile` runs again at the next scheduled time at the latest.
            created.map_err(|error| match plan.next {
                Some(next) => error.with_deadline(next),
                None => error,
            })?;
        }
        Ok(plan.next.map_or(Action::Done, Action::At))
    }
}

/// The Job for a time. Its name contains the time, so a repeated reconcile finds it.
fn job(object: &Tick, at: Timestamp, image: &str) -> Job {
    let pod = PodSpec {
        restart_policy: Some("Never".to_owned()),
        ..pod_spec(object, image)
    };
    let annotation = (SCHEDULED_AT.to_owned(), at.to_string());
    Job {
        metadata: ObjectMeta {
            name: Some(job_name(&object.name_any(), &at.as_second().to_string())),
            annotations: Some([annotation].into()),
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
fn pod_spec(object: &Tick, image: &str) -> PodSpec {
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
    use std::time::Duration;

    use kubewright_runtime::testing::{Rehearsal, Rehearsed, from_yaml};

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn at(text: &str) -> Timestamp {
        format!("2026-01-01T{text}Z").parse().expect("a time")
    }

    /// The sample, created at half past eleven, with a Job each hour.
    fn object() -> Tick {
        let sample = include_str!("../../config/samples/test_v1_tick.yaml");
        let mut object: Tick = from_yaml("sample", sample);
        object.metadata.creation_timestamp = Some(Time(at("11:30:00")));
        object.spec.schedule = "@hourly".to_owned();
        object
    }

    fn run(time: &str, success: Option<bool>) -> Run {
        let job = Arc::new(job(&object(), at(time), "image"));
        let at = at(time);
        Run { job, at, success }
    }

    fn plan(change: impl FnOnce(&mut TickSpec), runs: &[Run], now: &str) -> Plan {
        let mut spec = object().spec;
        change(&mut spec);
        let since = runs.first().map_or(at("11:30:00"), |run| run.at);
        Plan::of(&spec, runs, since, at(now)).expect("a plan")
    }

    #[test]
    fn of_several_missed_times_the_last_one_is_due() {
        let early = plan(|_| {}, &[], "11:59:59");
        assert_eq!((early.start, early.next), (None, Some(at("12:00:00"))));
        let late = plan(|_| {}, &[], "20:30:00");
        assert_eq!(late.start, Some(at("20:00:00")));
        assert_eq!(late.next, Some(at("21:00:00")));
        let limit = |spec: &mut TickSpec| spec.starting_deadline_seconds = Some(600);
        assert_eq!(plan(limit, &[], "20:10:00").start, late.start);
        assert_eq!(plan(limit, &[], "20:10:01").start, None);
        let suspended = plan(|spec| spec.suspend = true, &[], "20:30:00");
        assert_eq!((suspended.start, suspended.next), (None, None));
    }

    #[test]
    fn a_running_job_is_joined_waited_for_or_replaced() {
        let runs = [run("12:00:00", None)];
        let due_at = |policy, now| plan(|spec| spec.concurrency_policy = policy, &runs, now);
        let due = |policy| due_at(policy, "13:00:00");
        let start = Some(at("13:00:00"));
        assert_eq!(due(ConcurrencyPolicy::Allow).start, start);
        assert_eq!(due(ConcurrencyPolicy::Forbid).start, None);
        let replaced = due(ConcurrencyPolicy::Replace);
        assert_eq!(replaced.start, start);
        assert_eq!(replaced.delete, [runs[0].job.clone()]);
        let waits = due_at(ConcurrencyPolicy::Replace, "12:30:00");
        assert!(waits.delete.is_empty());
    }

    #[test]
    fn the_oldest_jobs_of_each_outcome_are_deleted() {
        let runs = [
            run("16:00:00", None),
            run("15:00:00", Some(false)),
            run("14:00:00", Some(true)),
            run("13:00:00", Some(false)),
            run("12:00:00", Some(true)),
        ];
        let limits = |spec: &mut TickSpec| {
            spec.successful_jobs_history_limit = 1;
            spec.failed_jobs_history_limit = 0;
        };
        let deleted = [4, 1, 3].map(|nth: usize| runs[nth].job.clone());
        assert_eq!(plan(limits, &runs, "16:30:00").delete, deleted);
    }

    async fn reconcile(rehearsal: Rehearsal, object: Tick) -> Result<Rehearsed> {
        let reconciler = TickReconciler {
            image: "image".to_owned(),
        };
        rehearsal.reconcile(controller(), reconciler, object).await
    }

    #[tokio::test]
    async fn each_time_has_one_job() -> Result<()> {
        let name = |time: &str| job_name("sample", &at(time).as_second().to_string());
        let mut played = reconcile(Rehearsal::at(at("12:10:00")), object()).await?;
        for wanted in ["12:00:00", "13:00:00", "14:00:00"] {
            // The second reconcile of a time creates nothing.
            let object = played.object("sample").expect("it is there");
            played = reconcile(played.later(Duration::ZERO), object).await?;
            assert!(played.writes().iter().all(|write| write.verb != "create"));
            assert!(played.object::<Job>(&name(wanted)).is_some());
            let object = played.object("sample").expect("it is there");
            played = reconcile(played.later(HOUR), object).await?;
        }
        Ok(())
    }

    #[tokio::test]
    async fn a_schedule_that_cannot_be_read_is_an_error_of_the_object() -> Result<()> {
        let mut object = object();
        object.spec.schedule = "hourly".to_owned();
        let played = reconcile(Rehearsal::new(), object).await?;
        assert!(played.result.is_err());
        assert_eq!(played.object::<Job>("sample"), None);
        Ok(())
    }
}
