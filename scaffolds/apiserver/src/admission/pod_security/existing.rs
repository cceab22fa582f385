//! The Pods of a namespace that violate a new standard.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{checks::violations, policy::PodStandard};
use crate::{
    meta::{self, owners::controller},
    state::Core,
    status::Status,
};

/// The path of Pods in the store.
const PODS: &str = "/pods";
/// The number of Pods that are checked (`defaultNamespaceMaxPodsToCheck`). Upstream also stops after a second.
const MOST: usize = 3000;

/// The warnings for a namespace that enforces a new standard.
///
/// # Errors
/// 500 if a Pod cannot be decoded.
pub(super) fn warnings(core: &Core, namespace: &str, standard: PodStandard) -> Result<Vec<String>, Status> {
    let records = core.store.all(PODS, namespace).into_iter();
    let pods: Result<Vec<Value>, _> = records.map(|record| record.read()).collect();
    Ok(sentences(namespace, standard, &pods?))
}

fn sentences(namespace: &str, standard: PodStandard, pods: &[Value]) -> Vec<String> {
    let mut sentences = Vec::new();
    let checked = MOST.min(pods.len());
    if checked < pods.len() {
        let all = pods.len();
        sentences.push(format!(
            "new PodSecurity enforce level only checked against the first {checked} of {all} existing pods"
        ));
    }
    let mut names: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for pod in prioritized(pods).take(checked) {
        let reasons: Vec<_> = violations(standard, pod).iter().map(|it| it.reason).collect();
        if !reasons.is_empty() {
            names
                .entry(reasons.join(", "))
                .or_default()
                .insert(meta::text(pod, "name"));
        }
    }
    let mut lines: Vec<_> = names.iter().map(|(reasons, names)| line(reasons, names)).collect();
    lines.sort_unstable();
    if !lines.is_empty() {
        sentences.push(format!(
            "existing pods in namespace \"{namespace}\" violate the new PodSecurity enforce level \"{standard}\""
        ));
    }
    sentences.append(&mut lines);
    sentences
}

/// One Pod of each controller, then the others.
fn prioritized(pods: &[Value]) -> impl Iterator<Item = &Value> {
    let mut seen = BTreeSet::new();
    let (first, further): (Vec<_>, Vec<_>) = pods.iter().partition(|pod| {
        controller(pod)
            .and_then(|it| it["uid"].as_str())
            .is_none_or(|uid| seen.insert(uid))
    });
    first.into_iter().chain(further)
}

fn line(reasons: &str, names: &BTreeSet<&str>) -> String {
    let first = names.first().copied().unwrap_or_default();
    match names.len() {
        1 => format!("{first}: {reasons}"),
        2 => format!("{first} (and 1 other pod): {reasons}"),
        count => format!("{first} (and {} other pods): {reasons}", count - 1),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::policy::SecurityLevel, *};

    const BASELINE: PodStandard = PodStandard {
        level: SecurityLevel::Baseline,
        minor: None,
    };

    fn pod(name: &str, field: &str, owner: &str) -> Value {
        let owners = json!([{"uid": owner, "controller": !owner.is_empty()}]);
        json!({"metadata": {"name": name, "ownerReferences": owners}, "spec": {(field): true}})
    }

    #[test]
    fn pods_with_the_same_violations_share_a_line() {
        let pods = ["d", "b", "c"].map(|name| pod(name, "hostPID", "")).into_iter();
        let others = [pod("e", "hostUsers", ""), pod("f", "hostIPC", "u")];
        let pods: Vec<_> = pods.chain(others).collect();
        let expected = [
            r#"existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest""#,
            "b (and 3 other pods): host namespaces",
        ];
        assert_eq!(sentences("n", BASELINE, &pods), expected);
    }

    #[test]
    fn of_many_pods_the_first_of_each_controller_are_checked() {
        let mut pods: Vec<_> = (0..MOST).map(|_| pod("a", "hostUsers", "u")).collect();
        pods.push(pod("z", "hostPID", "v"));
        let said = sentences("n", BASELINE, &pods);
        let first = "new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods";
        assert_eq!(
            (said.len(), said[0].as_str(), said[2].as_str()),
            (3, first, "z: host namespaces")
        );
    }
}
