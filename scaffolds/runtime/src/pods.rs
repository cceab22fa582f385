//! Pure functions about Pods: which count, which are ready, and which are deleted first if there are too many.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use k8s_openapi::{
    api::core::v1::{ContainerStatus, Pod, PodCondition},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};

/// Users set this annotation to have a Pod deleted sooner (lower) or later (higher) than others; 0 without it.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Whether a Pod runs or may still run: it is not being deleted, and has not ended.
pub fn is_active(pod: &Pod) -> bool {
    let ended = matches!(phase(pod), "Succeeded" | "Failed");
    pod.metadata.deletion_timestamp.is_none() && !ended
}

/// Whether a Pod's condition `Ready` is true.
pub fn is_ready(pod: &Pod) -> bool {
    ready_condition(pod).is_some()
}

/// The `surplus` Pods to be deleted, first to last.
///
/// The order of the ReplicaSet controller (Kubernetes 1.37); each rule decides between Pods that are equal
/// under the rules before it:
///
/// 1. Pods without a node before those with one;
/// 2. pending, then unknown, then running;
/// 3. not ready before ready;
/// 4. a lower `controller.kubernetes.io/pod-deletion-cost` first;
/// 5. Pods whose node has more of these Pods first;
/// 6. ready for a shorter time first;
/// 7. more restarts first;
/// 8. younger first;
/// 9. by uid.
///
/// # Guarantees
///
/// The order is total and depends only on the Pods and `now`, not on the order of the argument.
///
/// # Caveats
///
/// As in that controller, times are compared by magnitude: rules 6 and 8 treat two Pods as equal if their ages in
/// seconds are about equal as powers of two. So Pods of similar age are not always ordered by age.
///
/// Rule 5 is that of a ReplicaSet of a Deployment; a ReplicaSet without one does not apply it (measured).
pub fn victims(pods: &[Arc<Pod>], surplus: usize, now: Timestamp) -> Vec<Arc<Pod>> {
    let mut neighbours = HashMap::<&str, usize>::new();
    for pod in pods {
        *neighbours.entry(node(pod)).or_default() += 1;
    }
    let mut ranked: Vec<_> = pods
        .iter()
        .map(|pod| (Rank::of(pod, neighbours[node(pod)], now), pod))
        .collect();
    ranked.sort_by(|(a, _), (b, _)| a.cmp(b));
    ranked.into_iter().take(surplus).map(|(_, pod)| pod.clone()).collect()
}

/// The rules in their order; Pods with lower ranks are deleted first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    has_node: bool,
    phase: u8,
    ready: bool,
    cost: i32,
    neighbours: Reverse<usize>,
    ready_for: Option<u32>,
    restarts: Reverse<(i32, i32)>,
    age: Option<u32>,
    uid: String,
}

impl Rank {
    fn of(pod: &Pod, neighbours: usize, now: Timestamp) -> Self {
        let ready = ready_condition(pod);
        Self {
            has_node: !node(pod).is_empty(),
            phase: match phase(pod) {
                "Unknown" => 1,
                "Running" => 2,
                _ => 0,
            },
            ready: ready.is_some(),
            cost: cost(pod),
            neighbours: Reverse(neighbours),
            ready_for: magnitude(ready.and_then(|ready| ready.last_transition_time.as_ref()), now),
            restarts: Reverse(restarts(pod)),
            age: magnitude(pod.metadata.creation_timestamp.as_ref(), now),
            uid: pod.metadata.uid.clone().unwrap_or_default(),
        }
    }
}

fn phase(pod: &Pod) -> &str {
    pod.status
        .as_ref()
        .and_then(|status| status.phase.as_deref())
        .unwrap_or_default()
}

fn node(pod: &Pod) -> &str {
    pod.spec
        .as_ref()
        .and_then(|spec| spec.node_name.as_deref())
        .unwrap_or_default()
}

fn ready_condition(pod: &Pod) -> Option<&PodCondition> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions
        .iter()
        .find(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// A value that is not an integer counts as 0, as in Kubernetes.
fn cost(pod: &Pod) -> i32 {
    let text = pod.metadata.annotations.as_ref().and_then(|all| all.get(DELETION_COST));
    let plain = |text: &&String| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.starts_with('+') && (digits == "0" || !digits.starts_with('0'))
    };
    text.filter(plain).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The highest restart count of a container, and of a sidecar.
fn restarts(pod: &Pod) -> (i32, i32) {
    let status = pod.status.as_ref();
    let most = |list: Option<&Vec<ContainerStatus>>, counts: &dyn Fn(&str) -> bool| {
        let list = list.into_iter().flatten().filter(|container| counts(&container.name));
        list.map(|container| container.restart_count).max().unwrap_or(0)
    };
    let inits = pod.spec.iter().flat_map(|spec| spec.init_containers.iter().flatten());
    let sidecars: Vec<_> = inits
        .filter(|container| container.restart_policy.as_deref() == Some("Always"))
        .map(|container| container.name.as_str())
        .collect();
    (
        most(status.and_then(|status| status.container_statuses.as_ref()), &|_| true),
        most(
            status.and_then(|status| status.init_container_statuses.as_ref()),
            &|name| sidecars.contains(&name),
        ),
    )
}

/// The age, as a power of two of nanoseconds. `None`, which is before all others, without a time or with one in the
/// future.
fn magnitude(time: Option<&Time>, now: Timestamp) -> Option<u32> {
    let passed = now.duration_since(time?.0).as_nanos();
    u128::try_from(passed).ok()?.checked_ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const NOW: i64 = 1_800_000_000;

    fn now() -> Timestamp {
        Timestamp::from_second(NOW).unwrap()
    }

    /// The timestamp of so many seconds ago, as the API server writes it.
    fn ago(seconds: i64) -> Value {
        json!(Timestamp::from_second(NOW - seconds).unwrap().to_string())
    }

    /// A Pod that has been ready for an hour, on a node without other Pods, changed by a merge patch.
    fn pod(name: &str, change: Value) -> Arc<Pod> {
        let mut pod = json!({
            "metadata": {"name": name, "uid": name, "creationTimestamp": ago(7200)},
            "spec": {"nodeName": format!("node-{name}"), "containers": []},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": ago(3600)}]},
        });
        merge(&mut pod, &change);
        Arc::new(serde_json::from_str(&pod.to_string()).unwrap())
    }

    fn merge(target: &mut Value, change: &Value) {
        match (target, change) {
            (Value::Object(target), Value::Object(change)) => {
                for (name, value) in change {
                    merge(target.entry(name.clone()).or_insert(Value::Null), value);
                }
            }
            (target, change) => *target = change.clone(),
        }
    }

    fn names(pods: &[Arc<Pod>]) -> Vec<&str> {
        pods.iter().filter_map(|pod| pod.metadata.name.as_deref()).collect()
    }

    fn restarted(times: i32) -> Value {
        json!({"status": {"containerStatuses": [{"name": "main", "image": "", "imageID": "", "ready": true, "restartCount": times}]}})
    }

    #[test]
    fn each_rule_decides_between_pods_that_are_equal_under_earlier_rules() {
        let since = |seconds| json!({"status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": ago(seconds)}]}});
        let cost = |cost: &str| json!({"metadata": {"annotations": {DELETION_COST: cost}}});
        // In the order of their deletion: each name starts with its number.
        let pods = [
            pod("00 no node", json!({"spec": {"nodeName": null}})),
            pod(
                "01 pending",
                json!({"status": {"phase": "Pending", "conditions": null}}),
            ),
            pod(
                "02 unknown",
                json!({"status": {"phase": "Unknown", "conditions": null}}),
            ),
            pod(
                "03 not ready",
                json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}),
            ),
            pod("04 cheap", cost("-7")),
            pod("05 doubled up", json!({"spec": {"nodeName": "busy"}})),
            pod("06 doubled up", json!({"spec": {"nodeName": "busy"}})),
            pod(
                "07 ready, without a transition time",
                json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
            ),
            pod("08 ready for a minute", since(60)),
            pod("09 restarted often", restarted(5)),
            pod("10 restarted", restarted(1)),
            pod("11 young", json!({"metadata": {"creationTimestamp": ago(3700)}})),
            pod("12 old", json!({})),
            pod("13 old too", json!({})),
            pod("14 ready for a day", since(86400)),
            pod("15 dear", cost("7")),
        ];
        let mut sorted = names(&pods);
        sorted.sort_unstable();
        let mut shuffled = pods.to_vec();
        shuffled.reverse();
        assert_eq!(names(&victims(&shuffled, pods.len(), now())), sorted);
    }

    #[test]
    fn an_invalid_deletion_cost_counts_as_zero() {
        for (text, number) in [
            ("12", 12),
            ("-3", -3),
            ("+3", 0),
            ("03", 0),
            ("", 0),
            ("much", 0),
            ("0", 0),
        ] {
            let pod = pod("a", json!({"metadata": {"annotations": {DELETION_COST: text}}}));
            assert_eq!(cost(&pod), number, "{text}");
        }
    }

    #[test]
    fn deleted_and_ended_pods_do_not_count() {
        assert!(is_active(&pod("a", json!({}))));
        assert!(!is_active(&pod(
            "a",
            json!({"metadata": {"deletionTimestamp": ago(1)}})
        )));
        for phase in ["Failed", "Succeeded"] {
            assert!(!is_active(&pod("a", json!({"status": {"phase": phase}}))));
        }
    }

    fn any_pod() -> impl Strategy<Value = (Value, u8)> {
        let node = prop::option::of(0..3u8);
        let phase = prop::sample::select(vec!["Pending", "Running", "Unknown"]);
        let ready = prop::option::of(prop::option::of(0..400i64));
        let rest = (-2..3i32, 0..3i32, prop::option::of(0..400i64), any::<u8>());
        (node, phase, ready, rest).prop_map(|(node, phase, ready, (cost, restarts, age, shuffle))| {
            let mut change = restarted(restarts);
            let condition =
                ready.map(|since| json!([{"type": "Ready", "status": "True", "lastTransitionTime": since.map(ago)}]));
            merge(
                &mut change,
                &json!({
                    "metadata": {"annotations": {DELETION_COST: cost.to_string()}, "creationTimestamp": age.map(ago)},
                    "spec": {"nodeName": node.map(|node| node.to_string())},
                    "status": {"phase": phase, "conditions": condition},
                }),
            );
            (change, shuffle)
        })
    }

    proptest! {
        #[test]
        fn the_choice_is_the_same_in_any_order_and_grows_by_one(changes in prop::collection::vec(any_pod(), 1..12)) {
            let pods: Vec<_> = changes.iter().enumerate().map(|(nth, (change, _))| pod(&format!("{nth:02}"), change.clone())).collect();
            let mut other: Vec<_> = pods.iter().cloned().zip(changes.iter().map(|(_, shuffle)| *shuffle)).collect();
            other.sort_by_key(|(_, shuffle)| *shuffle);
            let other: Vec<_> = other.into_iter().map(|(pod, _)| pod).collect();
            let all = victims(&pods, pods.len(), now());
            for surplus in 0..=pods.len() {
                let chosen = victims(&other, surplus, now());
                prop_assert_eq!(names(&chosen), names(&all[..surplus]));
            }
            // An active Pod is never deleted before an inactive one.
            for pair in all.windows(2) {
                let (first, next) = (node(&pair[0]).is_empty(), node(&pair[1]).is_empty());
                prop_assert!(first || !next);
                prop_assert!(first != next || phase(&pair[0]) != phase(&pair[1]) || !is_ready(&pair[0]) || is_ready(&pair[1]));
            }
        }
    }
}
