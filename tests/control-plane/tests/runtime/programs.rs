//! Random programs about workloads on the in-process API server and with kube-controller-manager: after each request, both
//! end in the same state. `SEED` chooses a program and `STEPS` its length; `make nightly` runs more and longer ones.

use std::{collections::BTreeSet, env};

use anyhow::{Context, Result};
use fastrand::Rng;
use futures::future::BoxFuture;
use kube::Client;
use serde_json::{Value, json};

use super::{
    budgets, cron_jobs, daemon_sets, jobs, services,
    workloads::{self, Both},
};

const NAMESPACE: &str = "namespaces/default";
/// The kinds of a program: the path of the group, the resource, and the name of the only object.
const KINDS: [[&str; 3]; 7] = [
    ["/apis/apps/v1", "deployments", "web"],
    ["/apis/apps/v1", "daemonsets", "agent"],
    ["/apis/apps/v1", "statefulsets", "db"],
    ["/api/v1", "services", "all"],
    ["/apis/policy/v1", "poddisruptionbudgets", "all"],
    ["/apis/batch/v1", "jobs", "task"],
    ["/apis/batch/v1", "cronjobs", "tick"],
];
const BEHAVIOURS: [&str; 5] = [
    "ready-after=1s",
    "ready-after=1s",
    "",
    "never-ready",
    "image-pull-fails",
];
/// The behaviours of the Pods of Jobs. Pods that fail are not replaced, because that takes minutes.
const ENDS: [&str; 4] = ["", "exit-after=1s", "runs", "exit=1"];

fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        Ok(json!([
            workloads::state(client).await?,
            daemon_sets::state(client).await?,
            services::state(client).await?,
            budgets::state(client).await?,
            jobs::state(client).await?,
            cron_jobs::state(client).await?
        ]))
    })
}

/// A request: method, path and body.
struct Request {
    method: &'static str,
    path: String,
    body: Value,
}

/// A program and what it has created.
struct Program {
    rng: Rng,
    present: BTreeSet<&'static str>,
}

impl Program {
    fn next(&mut self) -> Request {
        let [group, resource, name] = KINDS[self.rng.usize(..KINDS.len())];
        let collection = format!("{group}/{NAMESPACE}/{resource}");
        let path = format!("{collection}/{name}");
        if self.present.insert(resource) {
            let mut body = self.created(resource, name);
            body["metadata"] = json!({"name": name});
            return Request {
                method: "POST",
                path: collection,
                body,
            };
        }
        if self.rng.u8(..8) == 0 {
            self.present.remove(resource);
            let policy = ["Background", "Orphan"][self.rng.usize(..2)];
            return Request {
                method: "DELETE",
                path: format!("{path}?propagationPolicy={policy}"),
                body: Value::Null,
            };
        }
        if resource == "cronjobs" && self.rng.u8(..3) == 0 {
            // A run is due, unless the CronJob is suspended.
            return Request {
                method: "PATCH",
                path: format!("{path}/status"),
                body: json!({"status": {"lastScheduleTime": cron_jobs::LONG_AGO}}),
            };
        }
        Request {
            method: "PATCH",
            path,
            body: json!({"spec": self.changed(resource)}),
        }
    }

    /// The spec of a Job.
    fn job(&mut self) -> Value {
        let behaviour = ENDS[self.rng.usize(..ENDS.len())];
        let parallelism = if behaviour == "exit=1" { 1 } else { self.rng.u8(1..4) };
        let mode = ["NonIndexed", "Indexed"][self.rng.usize(..2)];
        json!({
            "parallelism": parallelism, "completions": self.rng.u8(1..4), "completionMode": mode, "backoffLimit": 0,
            "suspend": self.rng.u8(..4) == 0, "template": {
                "metadata": {"labels": {"part": "all"}, "annotations": {"kubewright.dev/kubelet": behaviour}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main:1"}]},
            },
        })
    }

    fn template(&mut self, app: &str) -> Value {
        let behaviour = BEHAVIOURS[self.rng.usize(..BEHAVIOURS.len())];
        let image = format!("example.com/main:{}", self.rng.u8(1..4));
        json!({
            "metadata": {"labels": {"app": app, "part": "all"}, "annotations": {"kubewright.dev/kubelet": behaviour}},
            "spec": {"containers": [{"name": "main", "image": image, "ports": [{"name": "http", "containerPort": 80}]}]},
        })
    }

    fn created(&mut self, resource: &str, app: &str) -> Value {
        let selector = json!({"matchLabels": {"app": app}});
        let mut spec = match resource {
            "services" => json!({"selector": {"part": "all"}, "ports": [{"port": 1, "targetPort": "http"}]}),
            "poddisruptionbudgets" => json!({"selector": {"matchLabels": {"part": "all"}}, "minAvailable": 1}),
            "statefulsets" => json!({"selector": selector, "serviceName": "all", "replicas": 2}),
            "jobs" => self.job(),
            "cronjobs" => json!({"schedule": "0 0 1 1 *", "timeZone": "UTC", "jobTemplate": {"spec": self.job()}}),
            _ => json!({"selector": selector}),
        };
        if spec["selector"]["matchLabels"]["app"].is_string() {
            spec["template"] = self.template(app);
        }
        json!({"spec": spec})
    }

    /// A change of the spec.
    fn changed(&mut self, resource: &str) -> Value {
        let few = self.rng.u8(..4);
        let share = json!(format!("{}%", 25 * self.rng.u8(1..5)));
        let choice = self.rng.u8(..4);
        let app = ["web", "db", "agent"][self.rng.usize(..3)];
        match (resource, choice) {
            ("services", 0) => json!({"publishNotReadyAddresses": self.rng.bool()}),
            ("services", 1) => {
                json!({"ports": [{"port": 1, "targetPort": if self.rng.bool() { "http" } else { "x" }}]})
            }
            ("services", _) => json!({"selector": {"part": "all", "app": app}}),
            ("poddisruptionbudgets", _) => json!({"minAvailable": few}),
            ("jobs", 0) => json!({"parallelism": few.min(1)}),
            ("cronjobs", 0) => json!({"concurrencyPolicy": if self.rng.bool() { "Allow" } else { "Forbid" }}),
            ("cronjobs", 1) => json!({"successfulJobsHistoryLimit": few, "failedJobsHistoryLimit": few}),
            ("jobs" | "cronjobs", _) => json!({"suspend": self.rng.bool()}),
            ("deployments" | "statefulsets", 0) => json!({"replicas": few}),
            ("deployments", 1) => json!({"strategy": {"rollingUpdate": {"maxSurge": share, "maxUnavailable": few}}}),
            ("deployments", 2) => json!({"paused": self.rng.bool()}),
            ("statefulsets", 1) => json!({"updateStrategy": {"rollingUpdate": {"partition": few}}}),
            ("daemonsets", 0) => json!({"updateStrategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": share}}}),
            ("daemonsets", 1) => json!({"updateStrategy": {"rollingUpdate": {"maxSurge": share, "maxUnavailable": 0}}}),
            (_, _) => {
                let app = match resource {
                    "deployments" => "web",
                    "daemonsets" => "agent",
                    _ => "db",
                };
                json!({"template": self.template(app)})
            }
        }
    }
}

fn number(name: &str, usual: u64) -> Result<u64> {
    let text = env::var(name).ok();
    text.map_or(Ok(usual), |text| text.parse().with_context(|| format!("`{name}`")))
}

#[tokio::test]
async fn random_programs_end_as_with_kube_controller_manager() -> Result<()> {
    let is_long = env::var_os("KUBEWRIGHT_NIGHTLY").is_some();
    let (programs, steps) = if is_long { (12, 12) } else { (1, 3) };
    let (first, steps) = (number("SEED", 1)?, number("STEPS", steps)?);
    for seed in first..first + programs {
        run(seed, steps).await?;
    }
    Ok(())
}

async fn run(seed: u64, steps: u64) -> Result<()> {
    let mut program = Program {
        rng: Rng::with_seed(seed),
        present: BTreeSet::new(),
    };
    Both::with(state, async |both| {
        daemon_sets::add_nodes(both).await?;
        for step in 0..steps {
            let request = program.next();
            let name = format!(
                "seed {seed}, step {step}: {} {} {}",
                request.method, request.path, request.body
            );
            both.step(&name, [request.method, &request.path], request.body).await?;
        }
        Ok(())
    })
    .await
}
