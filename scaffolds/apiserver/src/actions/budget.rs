//! The disruption budget of a Pod: finds it, decides whether it allows a disruption, and records the disruption in it.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use kubewright_machinery::time;
use serde_json::{Value, json};

use super::pod;
use crate::{
    call::{Call, Verb},
    effects::Cluster,
    meta,
    select::LabelSelector,
    state::Core,
    status::{Status, Subject},
    store::Key,
};

/// The path of PodDisruptionBudgets in the store.
const BUDGETS: &str = "policy/poddisruptionbudgets";
/// The field manager of their status.
const MANAGER: &str = "kube-apiserver";
/// The number of disruptions that a budget may record before its controller has processed them.
const MOST_DISRUPTED: usize = 2000;
const VIOLATION: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
/// The reason of causes that name a budget.
const CAUSE: &str = "DisruptionBudget";

/// A PodDisruptionBudget.
#[derive(Clone)]
pub(super) struct Budget(Value);

/// Whether a disruption is allowed.
pub(super) enum Verdict {
    /// The budget with the disruption recorded.
    Allowed(Budget),
    /// The response to the client.
    Refused(Status),
}

/// The budgets that select a Pod.
pub(super) fn of(core: &Core, pod: &Value) -> Result<Vec<Budget>, Status> {
    let labels = meta::of(pod).get("labels").and_then(Value::as_object);
    let labels: BTreeMap<String, String> = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    let mut budgets = Vec::new();
    for record in core.store.all(BUDGETS, meta::text(pod, "namespace")) {
        let budget = Budget(record.read()?);
        let selector = &budget.0["spec"]["selector"];
        if selector.is_object() && LabelSelector::of(selector).matches(&labels) {
            budgets.push(budget);
        }
    }
    Ok(budgets)
}

impl Budget {
    /// Its name.
    pub fn name(&self) -> &str {
        meta::text(&self.0, "name")
    }

    /// Reads the budget again.
    ///
    /// # Errors
    /// 404 if it was deleted.
    pub fn reread(&self, core: &Core) -> Result<Self, Status> {
        let key = Key::new(BUDGETS, meta::text(&self.0, "namespace"), self.name());
        let missing = || Status::not_found(Subject::new("policy", "poddisruptionbudgets"), self.name());
        Ok(Self(core.store.get(&key).ok_or_else(missing)?.read()?))
    }

    fn number(&self, field: &str) -> i64 {
        self.0["status"][field].as_i64().unwrap_or_default()
    }

    /// Whether the eviction of a Pod does not count as a disruption: the Pod is not ready, and either enough others are
    /// healthy or the budget always allows it.
    pub fn ignores(&self, pod: &Value) -> bool {
        let wanted = self.number("desiredHealthy");
        let is_undisrupted = wanted > 0 && self.number("currentHealthy") >= wanted;
        let always = self.0["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
        !pod::is(pod, "Ready") && (always || is_undisrupted)
    }

    /// 429: the controller has not yet processed the last change of the budget.
    pub fn unprocessed(&self) -> Status {
        let cause = format!(
            "The disruption budget {} is still being processed by the server.",
            self.name()
        );
        Status::too_many_requests(VIOLATION, 10).because(CAUSE, &cause, "")
    }

    /// Records the disruption of a Pod at `now`, if the budget allows it.
    pub fn disrupt(&self, pod: &str, now: i64) -> Verdict {
        let generation = meta::number(&self.0, "generation").unwrap_or_default();
        if self.number("observedGeneration") < generation {
            return Verdict::Refused(self.unprocessed());
        }
        let disrupted = self.0["status"]["disruptedPods"].as_object();
        if disrupted.is_some_and(|pods| pods.len() > MOST_DISRUPTED) {
            let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
            return Verdict::Refused(Status::forbidden(
                Subject::new("policy", "poddisruptionbudget"),
                self.name(),
                why,
            ));
        }
        let allowed = self.number("disruptionsAllowed");
        if allowed == 0 {
            let refusal = Status::too_many_requests(VIOLATION, 0).because(CAUSE, &self.refusal(), "");
            return Verdict::Refused(refusal);
        }
        let mut next = self.clone();
        next.record(pod, allowed - 1, now);
        Verdict::Allowed(next)
    }

    fn refusal(&self) -> String {
        let (name, none) = (self.name(), Value::Null);
        let condition = self.condition().unwrap_or(&none);
        let text = |field: &str| condition[field].as_str().unwrap_or_default();
        let (reason, message) = (text("reason"), text("message"));
        let is_explained = text("status") == "False" && !message.is_empty();
        let (has, needs) = (self.number("currentHealthy"), self.number("desiredHealthy"));
        if is_explained && reason == "SyncFailed" {
            return format!(
                "The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}"
            );
        }
        if has <= needs {
            return format!("The disruption budget {name} needs {needs} healthy pods and has {has} currently");
        }
        if is_explained {
            return format!(
                "The disruption budget {name} does not allow evicting pods currently ({reason}): {message}"
            );
        }
        format!("The disruption budget {name} does not allow evicting pods currently")
    }

    fn condition(&self) -> Option<&Value> {
        let conditions = self.0["status"]["conditions"].as_array()?;
        conditions.iter().find(|it| it["type"] == "DisruptionAllowed")
    }

    fn record(&mut self, pod: &str, allowed: i64, now: i64) {
        let (now, observed) = (time::text(now), self.number("observedGeneration"));
        let Some(status) = pod::section(&mut self.0, "status") else {
            return;
        };
        status.insert("disruptionsAllowed".to_owned(), json!(allowed));
        let pods = status.entry("disruptedPods").or_insert_with(|| json!({}));
        pods[pod] = json!(now);
        if allowed > 0 {
            return;
        }
        let conditions = status.entry("conditions").or_insert_with(|| json!([]));
        let Some(conditions) = conditions.as_array_mut() else {
            return;
        };
        let mut next = json!({"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
            "lastTransitionTime": now});
        if observed > 0 {
            next["observedGeneration"] = json!(observed);
        }
        match conditions.iter_mut().find(|it| it["type"] == "DisruptionAllowed") {
            Some(before) => {
                if before["status"] == "False" {
                    next["lastTransitionTime"] = before["lastTransitionTime"].take();
                }
                *before = next;
            }
            None => conditions.push(next),
        }
    }

    /// Writes its status.
    ///
    /// # Errors
    /// 409 if the budget has changed since it was read, and the errors of every write.
    pub async fn store(&self, cluster: &Arc<Cluster>) -> Result<(), Status> {
        let budgets = cluster.core.catalogue.resource("policy", "v1", "poddisruptionbudgets");
        let budgets = budgets.ok_or_else(Status::no_such_resource)?;
        let call = Call {
            namespace: meta::text(&self.0, "namespace").to_owned(),
            name: self.name().to_owned(),
            subresource: "status".to_owned(),
            content_type: "application/json".to_owned(),
            body: Bytes::from(self.0.to_string()),
            ..Call::by_server(MANAGER, Verb::Update, budgets)
        };
        cluster.write(call, &mut Vec::new()).await.map(|_| ())
    }
}
