//! Defaults of the kinds that make Pods: `apps/v1` and `batch/v1`.

use serde_json::{Value, json};

use super::{Fields, each, made, set, set_text, text, within};

pub(super) fn rule(kind: &str) -> Option<fn(&mut Fields)> {
    Some(match kind {
        "Deployment" => deployment,
        "ReplicaSet" => replica_set,
        "StatefulSet" => stateful_set,
        "DaemonSet" => daemon_set,
        "Job" => job,
        "CronJob" => cron_job,
        "PodFailurePolicyOnPodConditionsPattern" => |pattern| set_text(pattern, "status", "True"),
        _ => return None,
    })
}

fn deployment(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set(spec, "replicas", 1);
    set(spec, "revisionHistoryLimit", 10);
    set(spec, "progressDeadlineSeconds", 600);
    let Some(strategy) = made(spec, "strategy") else { return };
    set_text(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = made(strategy, "rollingUpdate")
    {
        set(rolling, "maxUnavailable", "25%");
        set(rolling, "maxSurge", "25%");
    }
}

fn replica_set(object: &mut Fields) {
    if let Some(spec) = within(object, "spec") {
        set(spec, "replicas", 1);
    }
}

fn stateful_set(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set_text(spec, "podManagementPolicy", "OrderedReady");
    set(spec, "replicas", 1);
    set(spec, "revisionHistoryLimit", 10);
    if let Some(strategy) = made(spec, "updateStrategy") {
        if text(strategy, "type").is_empty() {
            set_text(strategy, "type", "RollingUpdate");
            set(strategy, "rollingUpdate", json!({}));
        }
        if text(strategy, "type") == "RollingUpdate"
            && let Some(rolling) = within(strategy, "rollingUpdate")
        {
            set(rolling, "partition", 0);
        }
    }
    for claim in each(spec, "volumeClaimTemplates") {
        claim.insert("apiVersion".to_owned(), json!("v1"));
        claim.insert("kind".to_owned(), json!("PersistentVolumeClaim"));
    }
    if let Some(retention) = made(spec, "persistentVolumeClaimRetentionPolicy") {
        set_text(retention, "whenDeleted", "Retain");
        set_text(retention, "whenScaled", "Retain");
    }
}

fn daemon_set(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set(spec, "revisionHistoryLimit", 10);
    let Some(strategy) = made(spec, "updateStrategy") else {
        return;
    };
    set_text(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = made(strategy, "rollingUpdate")
    {
        set(rolling, "maxUnavailable", 1);
        set(rolling, "maxSurge", 0);
    }
}

fn job(object: &mut Fields) {
    let labels = object
        .get("spec")
        .and_then(|spec| spec.pointer("/template/metadata/labels"))
        .cloned();
    if let (Some(labels), Some(metadata)) = (labels, within(object, "metadata"))
        && metadata
            .get("labels")
            .and_then(Value::as_object)
            .is_none_or(|labels| labels.is_empty())
    {
        metadata.insert("labels".to_owned(), labels);
    }
    let Some(spec) = within(object, "spec") else { return };
    if spec.get("parallelism").is_none() {
        set(spec, "completions", 1);
    }
    set(spec, "parallelism", 1);
    let limit = if spec.contains_key("backoffLimitPerIndex") {
        i32::MAX
    } else {
        6
    };
    set(spec, "backoffLimit", limit);
    set(spec, "completionMode", "NonIndexed");
    set(spec, "suspend", false);
    let replacement = if spec.contains_key("podFailurePolicy") {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    set(spec, "podReplacementPolicy", replacement);
    set(spec, "manualSelector", false);
}

fn cron_job(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set_text(spec, "concurrencyPolicy", "Allow");
    set(spec, "suspend", false);
    set(spec, "successfulJobsHistoryLimit", 3);
    set(spec, "failedJobsHistoryLimit", 1);
}
