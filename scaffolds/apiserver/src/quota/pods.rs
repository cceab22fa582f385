//! The usage of a Pod under a quota: the sum of its containers, as a scheduler counts it.

use serde_json::{Value, json};

use super::amounts::Amounts;

/// `requests` or `limits`.
#[derive(Clone, Copy, Eq, PartialEq)]
enum ResourceSide {
    Requests,
    Limits,
}

/// The usage of a Pod. One that has ended uses only `count/pods`.
pub(super) fn usage(pod: &Value) -> Amounts {
    let mut usage = Amounts::default();
    usage.count("count/pods", 1);
    if !has_ended(pod) {
        usage.add(&named(
            &total(pod, ResourceSide::Requests),
            &total(pod, ResourceSide::Limits),
        ));
        usage.count("pods", 1);
    }
    usage
}

fn has_ended(pod: &Value) -> bool {
    let phase = pod.pointer("/status/phase").and_then(Value::as_str);
    matches!(phase, Some("Failed" | "Succeeded"))
}

/// Requests and limits under the names by which quotas limit them.
fn named(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut named = Amounts::default();
    for (name, amount) in requests.iter() {
        let is_basic = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
        if is_basic {
            named.set(name, amount.clone());
        }
        if is_basic || is_extended(name) {
            named.set(&format!("requests.{name}"), amount.clone());
        }
    }
    for (name, amount) in limits.iter() {
        if matches!(name, "cpu" | "memory" | "ephemeral-storage") {
            named.set(&format!("limits.{name}"), amount.clone());
        }
    }
    named
}

/// Whether it is the name of an extended resource, or a resource that a device class implies.
pub(super) fn is_extended(name: &str) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    !is_native || name.starts_with("deviceclass.resource.kubernetes.io/")
}

/// The names of resources that a Pod can use.
pub(super) fn concerns(name: &str) -> bool {
    let is_listed = matches!(
        name,
        "count/pods"
            | "pods"
            | "cpu"
            | "memory"
            | "ephemeral-storage"
            | "requests.cpu"
            | "requests.memory"
            | "requests.ephemeral-storage"
            | "limits.cpu"
            | "limits.memory"
            | "limits.ephemeral-storage"
    );
    let is_huge = name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
    is_listed || is_huge || name.strip_prefix("requests.").is_some_and(is_extended)
}

/// The resources that a quota limits and some container does not set, with the containers: `cpu for: a,b; memory for: a`.
pub(super) fn missing(limited: &[&str], pod: &Value) -> Option<String> {
    if has_own_resources(pod) {
        return None;
    }
    let lists = [pod.pointer("/spec/containers"), pod.pointer("/spec/initContainers")];
    let containers = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
    let containers: Vec<(&str, Amounts)> = containers
        .map(|container| {
            let [requests, limits] =
                [ResourceSide::Requests, ResourceSide::Limits].map(|side| side.of(&container["resources"]));
            (
                container["name"].as_str().unwrap_or_default(),
                named(&requests, &limits),
            )
        })
        .collect();
    let mut required: Vec<&str> = limited.iter().copied().filter(|name| is_required(name)).collect();
    required.sort_unstable();
    let sentences = required.into_iter().filter_map(|name| {
        let without = containers.iter().filter(|(_, set)| set.get(name).is_none());
        let mut without: Vec<&str> = without.map(|(container, _)| *container).collect();
        without.sort_unstable();
        (!without.is_empty()).then(|| format!("{name} for: {}", without.join(",")))
    });
    let sentences: Vec<String> = sentences.collect();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

fn is_required(name: &str) -> bool {
    let plain = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits."));
    matches!(plain.unwrap_or(name), "cpu" | "memory")
}

fn has_own_resources(pod: &Value) -> bool {
    let resources = pod.pointer("/spec/resources").unwrap_or(&Value::Null);
    let sides = [ResourceSide::Requests, ResourceSide::Limits].map(|side| side.of(resources));
    sides.iter().any(|side| side.names().any(is_for_pods))
}

/// Whether a Pod, not only its containers, can request the resource.
fn is_for_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// The requests and the limits in a Pod's spec, without those of its status and its overhead.
pub fn specified(pod: &Value) -> [Amounts; 2] {
    let pod = json!({"spec": pod["spec"]});
    [ResourceSide::Requests, ResourceSide::Limits].map(|side| sum(&pod, side, |name| matches!(name, "cpu" | "memory")))
}

/// The requests in a Pod's spec and its overhead, without those of its status.
pub fn requested(pod: &Value) -> Amounts {
    total(&json!({"spec": pod["spec"]}), ResourceSide::Requests)
}

fn total(pod: &Value, side: ResourceSide) -> Amounts {
    let mut total = sum(pod, side, is_for_pods);
    let overhead = Amounts::of(pod.pointer("/spec/overhead"));
    match side {
        ResourceSide::Requests => total.add(&overhead),
        ResourceSide::Limits => {
            let limited = total.positive();
            total.add(&overhead.only(|name| limited.get(name).is_some()));
        }
    }
    total
}

/// The amounts of a Pod's containers, and in their place those of the Pod itself of the resources that `overrides` accepts.
fn sum(pod: &Value, side: ResourceSide, overrides: fn(&str) -> bool) -> Amounts {
    let list = |at: &str| pod.pointer(at).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut total = Amounts::default();
    for container in list("/spec/containers") {
        total.add(&side.effective(pod, container, "containerStatuses"));
    }
    // A sidecar runs beside the containers and beside every init container after it.
    let (mut sidecars, mut most) = (Amounts::default(), Amounts::default());
    for container in list("/spec/initContainers") {
        let mut needed = sidecars.clone();
        if container["restartPolicy"] == "Always" {
            let own = side.effective(pod, container, "initContainerStatuses");
            total.add(&own);
            needed.add(&own);
            sidecars = needed.clone();
        } else {
            needed.add(&side.of(&container["resources"]));
        }
        most.raise(&needed);
    }
    total.raise(&most);
    let own = side.of(pod.pointer("/spec/resources").unwrap_or(&Value::Null));
    for (name, amount) in own.iter().filter(|(name, _)| overrides(name)) {
        total.set(name, amount.clone());
    }
    total
}

impl ResourceSide {
    fn of(self, resources: &Value) -> Amounts {
        let field = match self {
            Self::Requests => "requests",
            Self::Limits => "limits",
        };
        Amounts::of(resources.get(field))
    }

    /// The amounts of a container: while a resize is not done, the larger ones.
    fn effective(self, pod: &Value, container: &Value, statuses: &str) -> Amounts {
        let mut wanted = self.of(&container["resources"]);
        let statuses = pod.pointer(&format!("/status/{statuses}")).and_then(Value::as_array);
        let mut statuses = statuses.into_iter().flatten();
        let status = statuses.find(|status| status["name"] == container["name"]);
        let Some(status) = status.filter(|status| status["resources"].is_object()) else {
            return wanted;
        };
        if is_infeasible(pod) {
            wanted = Amounts::default();
        }
        wanted.raise(&self.of(&status["resources"]));
        if self == Self::Requests {
            wanted.raise(&Amounts::of(status.get("allocatedResources")));
        }
        wanted
    }
}

fn is_infeasible(pod: &Value) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    let pending = conditions
        .into_iter()
        .flatten()
        .find(|it| it["type"] == "PodResizePending");
    pending.is_some_and(|it| it["reason"] == "Infeasible")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(name: &str, cpu: &str) -> Value {
        json!({"name": name, "resources": {"requests": {"cpu": cpu}, "limits": {"memory": "1Gi"}}})
    }

    #[test]
    fn containers_are_added_and_init_containers_need_the_most_at_one_time() {
        let mut sidecar = container("sidecar", "100m");
        sidecar["restartPolicy"] = json!("Always");
        let pod = json!({"spec": {
            "containers": [container("a", "1"), container("b", "500m")],
            "initContainers": [container("before", "3"), sidecar, container("after", "1900m")],
            "overhead": {"cpu": "1m", "memory": "1Mi"},
        }});
        assert_eq!(
            usage(&pod).shown(),
            "count/pods=1,cpu=3001m,limits.memory=3073Mi,memory=1Mi,pods=1,requests.cpu=3001m,requests.memory=1Mi"
        );
    }

    #[test]
    fn a_resize_uses_the_larger_amounts_until_it_is_done() {
        let status = json!({"name": "a", "allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "2"}}});
        let mut pod = json!({"spec": {"containers": [container("a", "1")]}, "status": {"containerStatuses": [status]}});
        assert_eq!(usage(&pod).get("cpu").unwrap().canonical(), "3");
        pod["spec"]["containers"] = json!([container("a", "9")]);
        pod["status"]["conditions"] = json!([{"type": "PodResizePending", "reason": "Infeasible"}]);
        assert_eq!(usage(&pod).get("cpu").unwrap().canonical(), "3");
    }

    #[test]
    fn resources_of_the_pod_replace_those_of_its_containers() {
        let pod = json!({"spec": {"containers": [container("a", "1")], "resources": {"requests": {"cpu": "2"}}}});
        assert_eq!(usage(&pod).get("requests.cpu").unwrap().canonical(), "2");
        assert_eq!(missing(&["requests.memory"], &pod), None);
    }

    #[test]
    fn a_pod_that_has_ended_is_only_an_object() {
        let pod = json!({"spec": {"containers": [container("a", "1")]}, "status": {"phase": "Succeeded"}});
        assert_eq!(usage(&pod).shown(), "count/pods=1");
    }

    #[test]
    fn extended_resources_and_huge_pages_are_requests() {
        let requests = json!({"example.com/gpu": "2", "hugepages-2Mi": "4Mi", "kubernetes.io/odd": "1"});
        let pod = json!({"spec": {"containers": [{"name": "a", "resources": {"requests": requests}}]}});
        assert_eq!(
            usage(&pod).shown(),
            "count/pods=1,hugepages-2Mi=4Mi,pods=1,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi"
        );
        assert!(concerns("requests.example.com/gpu") && !concerns("example.com/gpu"));
    }
}
