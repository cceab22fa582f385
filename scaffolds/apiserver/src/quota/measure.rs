//! The measure of the objects of a resource, and the names by which a quota limits them.

use serde_json::Value;

use super::{amounts::Amounts, claims, pods, scopes};

/// The measure of a resource's objects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Measure<'a> {
    /// Pods: their number, requests and limits.
    Pods,
    /// Services: their number, node ports and load balancers.
    Services,
    /// PersistentVolumeClaims: their number and storage.
    VolumeClaims,
    /// ResourceClaims: their number and devices.
    DeviceClaims,
    /// Other objects: their number.
    Objects {
        /// The group of the resource.
        group: &'a str,
        /// The plural of the resource.
        plural: &'a str,
    },
}

impl<'a> Measure<'a> {
    /// The measure of a resource; `None` for Events, which quotas do not count.
    pub fn of(group: &'a str, plural: &'a str) -> Option<Self> {
        match (group, plural) {
            ("" | "events.k8s.io", "events") => None,
            ("", "pods") => Some(Self::Pods),
            ("", "services") => Some(Self::Services),
            ("", "persistentvolumeclaims") => Some(Self::VolumeClaims),
            ("resource.k8s.io", "resourceclaims") => Some(Self::DeviceClaims),
            _ => Some(Self::Objects { group, plural }),
        }
    }

    /// The measure of a resource by its name in the store.
    pub fn of_stored(name: &'a str) -> Option<Self> {
        let (group, plural) = name.split_once('/')?;
        Self::of(group, plural)
    }

    /// Whether the objects use a resource of quotas.
    pub fn concerns(self, name: &str) -> bool {
        match self {
            Self::Pods => pods::concerns(name),
            Self::Services => matches!(
                name,
                "count/services" | "services" | "services.nodeports" | "services.loadbalancers"
            ),
            Self::VolumeClaims => claims::concerns_volumes(name),
            Self::DeviceClaims => claims::concerns_devices(name),
            Self::Objects { group, plural } => {
                let is_alias = group.is_empty() && name == plural && ALIASED.contains(&plural);
                let counted = name.strip_prefix("count/").and_then(|name| name.strip_prefix(plural));
                let is_group = |rest: &str| rest == group || rest.strip_prefix('.') == Some(group) && !group.is_empty();
                is_alias || counted.is_some_and(is_group)
            }
        }
    }

    /// Whether an update can raise the usage: of Pods, only one that moves the Pod into another scope.
    pub fn follows_update(self, new: &Value, old: &Value) -> bool {
        match self {
            Self::Pods => scopes::is_terminating(new) != scopes::is_terminating(old),
            Self::Services | Self::VolumeClaims | Self::DeviceClaims => true,
            Self::Objects { .. } => false,
        }
    }

    /// The usage of an object.
    pub fn usage(self, object: &Value) -> Amounts {
        match self {
            Self::Pods => pods::usage(object),
            Self::Services => service_usage(object),
            Self::VolumeClaims => claims::volume_usage(object),
            Self::DeviceClaims => claims::device_usage(object),
            Self::Objects { group, plural } => {
                let mut usage = Amounts::default();
                let dot = if group.is_empty() { "" } else { "." };
                usage.count(&format!("count/{plural}{dot}{group}"), 1);
                if group.is_empty() && ALIASED.contains(&plural) {
                    usage.count(plural, 1);
                }
                usage
            }
        }
    }

    /// The limited resources that a Pod has to set and does not.
    pub(super) fn missing(self, limited: &[&str], object: &Value) -> Option<String> {
        match self {
            Self::Pods => pods::missing(limited, object),
            _ => None,
        }
    }
}

/// The resources of the core group that quotas also count by their plural alone.
const ALIASED: [&str; 4] = ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];

fn service_usage(service: &Value) -> Amounts {
    let text = |at: &str| service.pointer(at).and_then(Value::as_str).unwrap_or_default();
    let ports = service.pointer("/spec/ports").and_then(Value::as_array);
    let ports = ports.map_or(&[][..], Vec::as_slice);
    let is_balanced = text("/spec/type") == "LoadBalancer";
    let allocates = service.pointer("/spec/allocateLoadBalancerNodePorts") != Some(&Value::Bool(false));
    let node_ports = match text("/spec/type") {
        "NodePort" => ports.len(),
        "LoadBalancer" if allocates => ports.len(),
        "LoadBalancer" => ports
            .iter()
            .filter(|port| port["nodePort"].as_i64().unwrap_or_default() != 0)
            .count(),
        _ => 0,
    };
    let mut usage = Amounts::default();
    usage.count("count/services", 1);
    usage.count("services", 1);
    usage.count("services.nodeports", node_ports);
    usage.count("services.loadbalancers", usize::from(is_balanced));
    usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted_by_resource_and_group() {
        let of = |name| Measure::of_stored(name).unwrap();
        assert!(of("/configmaps").concerns("count/configmaps") && of("/configmaps").concerns("configmaps"));
        assert!(of("apps/deployments").concerns("count/deployments.apps"));
        for other in [
            "count/deployments",
            "count/deployments.",
            "count/deployments.app",
            "deployments",
        ] {
            assert!(!of("apps/deployments").concerns(other), "{other}");
        }
        assert!(!of("/endpoints").concerns("endpoints"));
        assert!(!of("/endpoints").concerns("count/endpoints."));
        assert_eq!(
            of("apps/deployments").usage(&Value::Null).shown(),
            "count/deployments.apps=1"
        );
        assert_eq!(Measure::of_stored("/events"), None);
    }
}
