//! An Eviction deletes a Pod, unless that would violate the Pod's disruption budget.

use std::sync::Arc;

use kubewright_schema::cause::Path;
use serde_json::Value;

use super::{
    admit,
    budget::{self, Budget, Verdict},
    pod::{self, PodCondition},
};
use crate::{
    admission::{Attributes, Operation, Phase},
    call::Call,
    effects::Cluster,
    meta,
    registry::{DeleteOptions, Posted, direct},
    status::{Status, Subject},
};

/// The number of attempts while others change the Pod or its budget.
const TRIES: usize = 20;

/// Evicts the Pod named in the path.
///
/// # Errors
/// 400 if the Eviction's name is not the path's, 404 if there is no such Pod, 409 if the Pod does not meet the
/// preconditions, 429 if its budget does not allow the eviction, 500 if it has several budgets.
pub(super) async fn evict(cluster: &Arc<Cluster>, call: &Call, posted: Posted) -> Result<(), Status> {
    let core = &cluster.core;
    let Posted {
        object: mut eviction,
        dry_run,
    } = posted;
    meta::system::wipe(&mut eviction);
    let attributes = Attributes {
        operation: Operation::Create,
        call,
        dry_run,
    };
    admit(Phase::Mutating, core, &attributes, &mut eviction).await?;
    if meta::text(&eviction, "name") != call.name {
        return Err(Status::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    let options = options(call, &eviction)?;
    admit(Phase::Validating, core, &attributes, &mut eviction).await?;
    let about = pod::call(core, call, &call.name)?;
    let eviction = Eviction {
        cluster,
        pod: &about,
        options: &options,
    };
    match eviction.delete_idle()? {
        Some(pod) => eviction.delete_within_budget(&pod).await,
        None => Ok(()),
    }
}

/// The options of the deletion, with `dryRun` of the query.
fn options(call: &Call, eviction: &Value) -> Result<DeleteOptions, Status> {
    const BREAKING: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";
    let dry_run: Vec<String> = call.parameters("dryRun").map(str::to_owned).collect();
    let Some(given) = eviction.get("deleteOptions").and_then(Value::as_object) else {
        return Ok(DeleteOptions {
            dry_run,
            ..DeleteOptions::default()
        });
    };
    if given.get(BREAKING).and_then(Value::as_bool) == Some(true) {
        let at = Path::new("deleteOptions").child(BREAKING);
        let why = "can not be set for pod eviction, try after removing the option";
        let cause = at.invalid(true, why);
        return Err(Status::invalid(
            Subject::new("policy", "Eviction"),
            &call.name,
            &[cause],
        ));
    }
    let mut options = DeleteOptions::of(given)?;
    if options.dry_run.is_empty() {
        options.dry_run = dry_run;
    } else if !dry_run.is_empty() && dry_run != options.dry_run {
        let (asked, given) = (dry_run.join(" "), options.dry_run.join(" "));
        let why = format!("Non-matching dry-run options in request and content: [{asked}] and [{given}]");
        return Err(Status::new(500, "", why));
    }
    Ok(options)
}

/// An admitted eviction.
struct Eviction<'a> {
    cluster: &'a Arc<Cluster>,
    /// The same request, for the Pod itself.
    pod: &'a Call,
    options: &'a DeleteOptions,
}

impl Eviction<'_> {
    /// Deletes the Pod, regardless of its budget, if it is not running. Returns it if it is running.
    fn delete_idle(&self) -> Result<Option<Value>, Status> {
        let names_version = self.options.resource_version.is_some();
        let mut tries = 1;
        loop {
            let pod = pod::read(&self.cluster.core, self.pod)?;
            if !is_idle(&pod) {
                return Ok(Some(pod));
            }
            let mut options = self.options.clone();
            if may_still_start(&pod) && !names_version {
                options.resource_version = Some(meta::text(&pod, "resourceVersion").to_owned());
            }
            match self.delete(options) {
                Err(status) if status.reason == "Conflict" && !names_version && tries < TRIES => tries += 1,
                done => return done.map(|()| None),
            }
        }
    }

    /// Deletes a running Pod if its budget allows that.
    async fn delete_within_budget(&self, pod: &Value) -> Result<(), Status> {
        let budgets = budget::of(&self.cluster.core, pod)?;
        let [budget] = budgets.as_slice() else {
            return match budgets.as_slice() {
                [] => self.delete(self.options.clone()),
                _ => Err(Status::new(
                    500,
                    "",
                    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
                )),
            };
        };
        if budget.ignores(pod) {
            return self.delete_unready(pod, budget);
        }
        self.disrupt(budget, meta::text(pod, "name")).await?;
        self.delete(self.options.clone())
    }

    /// Deletes a Pod that is not ready, unless it has changed since it was read.
    fn delete_unready(&self, pod: &Value, budget: &Budget) -> Result<(), Status> {
        let names_version = self.options.resource_version.is_some();
        let options = DeleteOptions {
            resource_version: Some(meta::text(pod, "resourceVersion").to_owned()),
            ..self.options.clone()
        };
        match self.delete(options) {
            Err(status) if status.reason == "Conflict" && !names_version => Err(budget.unprocessed()),
            done => done,
        }
    }

    /// Records the disruption in the budget.
    async fn disrupt(&self, budget: &Budget, name: &str) -> Result<(), Status> {
        let core = &self.cluster.core;
        let mut current = budget.clone();
        for _ in 0..TRIES {
            let next = match current.disrupt(name, core.now()) {
                Verdict::Allowed(next) => next,
                Verdict::Refused(status) => return Err(status),
            };
            if self.options.is_dry_run() {
                return Ok(());
            }
            match next.store(self.cluster).await {
                Err(status) if status.reason == "Conflict" => current = current.reread(core)?,
                done => return done,
            }
        }
        let why = format!(
            "couldn't update PodDisruptionBudget \"{}\" due to conflicts",
            budget.name()
        );
        Err(Status::timeout(&why, 10))
    }

    /// Sets the Pod's condition `DisruptionTarget`, and deletes the Pod.
    fn delete(&self, mut options: DeleteOptions) -> Result<(), Status> {
        let core = &self.cluster.core;
        if !options.is_dry_run() {
            let condition = PodCondition {
                name: "DisruptionTarget",
                reason: "EvictionByEvictionAPI",
                message: "Eviction API: evicting",
            };
            let changed = direct::amend(core, self.pod, false, &|pod| {
                options.matches(Subject::new("", "Pod"), pod)?;
                pod::set(pod, &condition, core.now());
                Ok(())
            })?;
            if let Some(version) = &mut options.resource_version {
                meta::text(&changed, "resourceVersion").clone_into(version);
            }
        }
        direct::delete(core, self.pod, &options)
    }
}

fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

/// Whether the eviction disrupts nothing: the Pod has not started, has finished, or is being deleted.
fn is_idle(pod: &Value) -> bool {
    ["Succeeded", "Failed", "Pending"].contains(&phase(pod)) || meta::is_deleting(pod)
}

/// Whether the Pod may start before it is deleted.
fn may_still_start(pod: &Value) -> bool {
    !["Succeeded", "Failed"].contains(&phase(pod)) && !meta::is_deleting(pod)
}
