//! The kinds that every cluster has, from the types of `k8s-openapi`, in stable versions only, because others change with releases.

use super::{Group, KindName, Version};
use k8s_openapi::{ClusterResourceScope, ListableResource, Metadata, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use std::any::TypeId;

/// The name of the core group, whose API name is empty, on the command line and in PROJECT.
pub const CORE: &str = "core";

/// A kind of Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its group in full; empty for the core.
    pub group: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// Its plural.
    pub plural: &'static str,
    /// Whether its objects are cluster-scoped.
    pub cluster: bool,
    /// The module of its type, below `k8s_openapi::api`.
    pub module: &'static str,
}

macro_rules! kinds {
    ($($group:ident :: $version:ident :: { $($kind:ident),* $(,)? },)*) => {
        /// All kinds, except Event, because a controller's own events would trigger it, and ComponentStatus, which
        /// cannot be watched.
        pub fn all() -> Vec<Known> {
            vec![$($(known::<k8s_openapi::api::$group::$version::$kind>(
                concat!(stringify!($group), "::", stringify!($version)),
            )),*),*]
        }
    };
}

kinds! {
    admissionregistration::v1::{
        MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration, ValidatingAdmissionPolicy,
        ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
    },
    apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet},
    autoscaling::v1::{HorizontalPodAutoscaler},
    autoscaling::v2::{HorizontalPodAutoscaler},
    batch::v1::{CronJob, Job},
    certificates::v1::{CertificateSigningRequest, ClusterTrustBundle, PodCertificateRequest},
    coordination::v1::{Lease},
    core::v1::{
        ConfigMap, Endpoints, LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate,
        ReplicationController, ResourceQuota, Secret, Service, ServiceAccount,
    },
    discovery::v1::{EndpointSlice},
    flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration},
    networking::v1::{IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR},
    node::v1::{RuntimeClass},
    policy::v1::{PodDisruptionBudget},
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
    resource::v1::{DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice},
    scheduling::v1::{PriorityClass},
    storage::v1::{CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass},
    storagemigration::v1::{StorageVersionMigration},
}

fn known<K: ListableResource + Metadata<Ty = ObjectMeta>>(module: &'static str) -> Known
where
    K::Scope: 'static,
{
    Known {
        group: K::GROUP,
        version: K::VERSION,
        kind: K::KIND,
        plural: K::URL_PATH_SEGMENT,
        cluster: TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>(),
        module,
    }
}

impl Known {
    /// The group as PROJECT writes it: in full, and `core` for the empty name.
    pub fn project_group(&self) -> &'static str {
        if self.group.is_empty() { CORE } else { self.group }
    }

    /// Whether `group` is the name of this group: in full, or its first word, as `networking` for `networking.k8s.io`.
    fn is_of(&self, group: &Group) -> bool {
        let word = self.module.split("::").next();
        self.project_group() == group.as_str() || word == Some(group.as_str())
    }
}

/// The kind of that name.
pub fn find(group: &Group, version: &Version, kind: &KindName) -> Option<Known> {
    all()
        .into_iter()
        .find(|known| known.is_of(group) && known.version == version.as_str() && known.kind == kind.as_str())
}

/// The kind of that name in its newest version; all of them are stable, `v` and a number.
pub fn newest(group: &Group, kind: &KindName) -> Option<Known> {
    let mut known = all();
    known.retain(|known| known.is_of(group) && known.kind == kind.as_str());
    let number = |known: &Known| known.version.trim_start_matches('v').parse::<u32>().unwrap_or(0);
    known.into_iter().max_by_key(number)
}

/// Kinds of Kubernetes that no controller can be made for here: most are questions that the API server answers and does not store.
const WITHOUT_CONTROLLERS: [(&str, &[&str]); 8] = [
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    (
        "authentication.k8s.io",
        &["SelfSubjectReview", "TokenRequest", "TokenReview"],
    ),
    (
        "authorization.k8s.io",
        &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
    ),
    ("autoscaling", &["Scale"]),
    (CORE, &["Binding", "ComponentStatus", "Event"]),
    ("events.k8s.io", &["Event"]),
    ("policy", &["Eviction"]),
];

/// The domains of the Kubernetes community: API servers refuse CRDs in their groups without an approval annotation.
const COMMUNITY: [&str; 2] = ["k8s.io", "kubernetes.io"];

/// Whether CRDs in this group, in full, need the approval annotation.
pub fn needs_approval(full: &str) -> bool {
    COMMUNITY.iter().any(|domain| {
        full.strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// Whether Kubernetes itself serves this group, in full: it has no room for CRDs.
pub fn serves(full: &str) -> bool {
    all().iter().any(|known| known.group == full) || WITHOUT_CONTROLLERS.iter().any(|(group, _)| *group == full)
}

/// The group of such a kind, in full.
pub fn without_controllers(group: &Group, kind: &KindName) -> Option<&'static str> {
    let named = |full: &str| full == group.as_str() || full.split('.').next() == Some(group.as_str());
    let is_there = |kinds: &[&str]| kinds.contains(&kind.as_str());
    let found = WITHOUT_CONTROLLERS
        .iter()
        .find(|(full, kinds)| named(full) && is_there(kinds));
    found.map(|(full, _)| *full)
}

/// Similar kinds: of this name in other groups or versions, otherwise of a similar name; kinds of the group come first.
pub fn near(group: &Group, kind: &KindName) -> Vec<Known> {
    let wanted = kind.as_str().to_ascii_lowercase();
    let name = |known: &Known| known.kind.to_ascii_lowercase();
    // Short names have too many similar ones.
    let most = if wanted.len() > 5 { 2 } else { 1 };
    let (mut found, others): (Vec<_>, Vec<_>) = all()
        .into_iter()
        .partition(|known| name(known) == wanted || known.plural == wanted);
    if found.is_empty() {
        let like = |known: &Known| distance(&name(known), &wanted) <= most;
        found.extend(others.into_iter().filter(like));
    }
    found.sort_by_key(|known| (!known.is_of(group), distance(known.kind, kind.as_str())));
    found.truncate(3);
    found
}

/// The edit distance: how many letters have to be added, removed or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(group: &str, kind: &str) -> Vec<String> {
        let found = near(&group.parse().unwrap(), &kind.parse().unwrap());
        found
            .iter()
            .map(|it| format!("{}/{}", it.project_group(), it.kind))
            .collect()
    }

    #[test]
    fn groups_of_the_community_need_an_approval() {
        for group in ["k8s.io", "gateway.networking.k8s.io", "kubernetes.io"] {
            assert!(needs_approval(group), "{group}");
        }
        for group in ["x-k8s.io", "jobset.x-k8s.io", "k8s.io.example.com", "example.com"] {
            assert!(!needs_approval(group), "{group}");
        }
        assert!(serves("networking.k8s.io") && serves("events.k8s.io") && !serves("gateway.networking.k8s.io"));
    }

    #[test]
    fn kinds_are_found_by_either_name_of_their_group() {
        let find =
            |group: &str, kind: &str| find(&group.parse().unwrap(), &"v1".parse().unwrap(), &kind.parse().unwrap());
        let pod = find("core", "Pod").unwrap();
        assert_eq!(
            (pod.group, pod.plural, pod.cluster, pod.module),
            ("", "pods", false, "core::v1")
        );
        assert_eq!(
            find("networking", "Ingress").unwrap().project_group(),
            "networking.k8s.io"
        );
        assert_eq!(find("networking.k8s.io", "Ingress").unwrap().plural, "ingresses");
        assert_eq!(find("rbac", "Role").unwrap().group, "rbac.authorization.k8s.io");
        assert!(find("core", "Node").unwrap().cluster);
        assert!(find("apps", "Pod").is_none());
    }

    #[test]
    fn the_newest_of_several_versions_is_used() {
        let newest = |group: &str, kind: &str| newest(&group.parse().unwrap(), &kind.parse().unwrap());
        assert_eq!(newest("autoscaling", "HorizontalPodAutoscaler").unwrap().version, "v2");
        assert_eq!(newest("networking", "Ingress").unwrap().version, "v1");
        assert!(newest("apps", "Pod").is_none());
    }

    #[test]
    fn the_most_similar_kind_comes_first() {
        assert_eq!(names("apps", "Deploiment"), ["apps/Deployment"]);
        assert_eq!(names("apps", "Pod"), ["core/Pod"]);
        assert_eq!(names("core", "Secrets"), ["core/Secret"]);
        assert_eq!(names("core", "Nonsense"), [""; 0]);
    }

    /// An update of k8s-openapi shows here which kinds were added and removed.
    #[test]
    fn every_stable_kind_is_listed() {
        let output = std::process::Command::new(env!("CARGO"))
            .args(["metadata", "--format-version=1", "--locked"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut packages = metadata["packages"].as_array().unwrap().iter();
        let manifest = packages.find(|package| package["name"] == "k8s-openapi").unwrap()["manifest_path"]
            .as_str()
            .unwrap();
        let source = std::path::Path::new(manifest).with_file_name("src/v1_37/api");
        let mut there = Vec::new();
        let folders = |path: &std::path::Path| -> Vec<_> {
            let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            entries.filter(|path| path.is_dir()).collect()
        };
        for version in folders(&source).iter().flat_map(|group| folders(group)) {
            if version.to_string_lossy().contains("alpha") || version.to_string_lossy().contains("beta") {
                continue;
            }
            for file in std::fs::read_dir(&version).unwrap().map(|entry| entry.unwrap().path()) {
                let text = std::fs::read_to_string(&file).unwrap();
                let Some((_, rest)) = text.split_once("impl crate::ListableResource for ") else {
                    continue;
                };
                let module = version
                    .strip_prefix(&source)
                    .unwrap()
                    .to_string_lossy()
                    .replace('/', "::");
                there.push(format!("{module}::{}", rest.split(' ').next().unwrap()));
            }
        }
        let left_out = ["core::v1::ComponentStatus", "core::v1::Event", "events::v1::Event"];
        there.retain(|name| !left_out.contains(&name.as_str()));
        there.sort();
        let mut listed: Vec<_> = all().iter().map(|it| format!("{}::{}", it.module, it.kind)).collect();
        listed.sort();
        assert!(there.len() > 40);
        assert_eq!(listed, there);
    }
}
