//! The built-in kinds. All properties that can be recorded from a real server are recorded (`resources.txt`,
//! `shapes.txt`). The other rules of a kind are in its file, `<group>/<kind>.rs`, which the table `KINDS` lists. Rules
//! that several kinds share are in files named after the fields that they concern.

mod address;
mod address_form;
mod admissionregistration;
mod amounts;
mod apps;
mod authentication;
mod autoscaling;
mod batch;
mod built_in;
pub(crate) mod certificates;
mod conditions;
mod coordination;
mod core;
mod decode;
mod defaults;
mod discovery;
mod edit;
mod empties;
mod event;
mod events;
mod faults;
mod format;
mod int_or_percent;
mod internal;
mod keyed_data;
mod kind;
mod labels;
mod load_balancer;
mod located;
mod names;
mod networking;
mod node;
mod node_selector;
mod openapi;
mod pod;
mod policy;
pub mod protobuf;
mod rbac;
mod row;
mod scheduling;
mod semantic;
pub(crate) mod shapes;
mod signer;
mod storage;
mod storagemigration;
mod unsteered;
mod volume;
mod volume_source;
mod workload;

pub use openapi::{openapi_schema, openapi_schema_names};
#[cfg(feature = "testing")]
pub use shapes::name_of_kind;

use serde_json::Value;
use std::sync::{Arc, LazyLock};

use crate::{resource::Resource, strategy::Empties};
use built_in::BuiltIn;
use defaults::Defaults;
use kind::BuiltInKind;
use names::Named;

/// Group, kind, and the function that returns the kind's rules.
type Define = fn() -> BuiltInKind;
type Listed = (&'static str, &'static str, Define);

/// All kinds. Those without rules of their own are `BuiltInKind::default`.
const KINDS: [Listed; 72] = [
    ("", "Binding", BuiltInKind::default),
    ("", "ComponentStatus", unsteered::component_status),
    ("", "ConfigMap", core::config_map::kind),
    ("", "Endpoints", core::endpoints::kind),
    ("", "Event", core::event::kind),
    ("", "LimitRange", core::limit_range::kind),
    ("", "Namespace", core::namespace::kind),
    ("", "Node", core::node::kind),
    ("", "PersistentVolume", core::persistent_volume::kind),
    ("", "PersistentVolumeClaim", core::persistent_volume_claim::kind),
    ("", "Pod", core::pod::kind),
    ("", "PodTemplate", core::pod_template::kind),
    ("", "ReplicationController", core::replication_controller::kind),
    ("", "ResourceQuota", core::resource_quota::kind),
    ("", "Secret", core::secret::kind),
    ("", "Service", core::service::kind),
    ("", "ServiceAccount", core::service_account::kind),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicy",
        admissionregistration::policy::mutating,
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicyBinding",
        admissionregistration::binding::mutating,
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
        admissionregistration::configuration::mutating,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        admissionregistration::policy::validating,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        admissionregistration::binding::validating,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        admissionregistration::configuration::validating,
    ),
    ("apiregistration.k8s.io", "APIService", unsteered::api_service),
    ("apps", "ControllerRevision", apps::controller_revision::kind),
    ("apps", "DaemonSet", apps::daemon_set::kind),
    ("apps", "Deployment", apps::deployment::kind),
    ("apps", "ReplicaSet", apps::replica_set::kind),
    ("apps", "StatefulSet", apps::stateful_set::kind),
    ("authentication.k8s.io", "SelfSubjectReview", BuiltInKind::default),
    (
        "authentication.k8s.io",
        "TokenRequest",
        authentication::token_request::kind,
    ),
    ("authentication.k8s.io", "TokenReview", BuiltInKind::default),
    ("authorization.k8s.io", "LocalSubjectAccessReview", BuiltInKind::default),
    ("authorization.k8s.io", "SelfSubjectAccessReview", BuiltInKind::default),
    ("authorization.k8s.io", "SelfSubjectRulesReview", BuiltInKind::default),
    ("authorization.k8s.io", "SubjectAccessReview", BuiltInKind::default),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        autoscaling::horizontal_pod_autoscaler::kind,
    ),
    ("batch", "CronJob", batch::cron_job::kind),
    ("batch", "Job", batch::job::kind),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
        certificates::certificate_signing_request::kind,
    ),
    (
        "certificates.k8s.io",
        "ClusterTrustBundle",
        certificates::cluster_trust_bundle::kind,
    ),
    (
        "certificates.k8s.io",
        "PodCertificateRequest",
        certificates::pod_certificate_request::kind,
    ),
    ("coordination.k8s.io", "Lease", coordination::lease::kind),
    ("discovery.k8s.io", "EndpointSlice", discovery::endpoint_slice::kind),
    ("events.k8s.io", "Event", events::event::kind),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", unsteered::flow_schema),
    (
        "flowcontrol.apiserver.k8s.io",
        "PriorityLevelConfiguration",
        unsteered::priority_level,
    ),
    ("networking.k8s.io", "IPAddress", unsteered::ip_address),
    ("networking.k8s.io", "Ingress", networking::ingress::kind),
    ("networking.k8s.io", "IngressClass", networking::ingress_class::kind),
    ("networking.k8s.io", "NetworkPolicy", networking::network_policy::kind),
    ("networking.k8s.io", "ServiceCIDR", unsteered::service_cidr),
    ("node.k8s.io", "RuntimeClass", node::runtime_class::kind),
    ("policy", "Eviction", policy::eviction::kind),
    ("policy", "PodDisruptionBudget", policy::pod_disruption_budget::kind),
    ("rbac.authorization.k8s.io", "ClusterRole", rbac::cluster_role::kind),
    (
        "rbac.authorization.k8s.io",
        "ClusterRoleBinding",
        rbac::cluster_role_binding::kind,
    ),
    ("rbac.authorization.k8s.io", "Role", rbac::role::kind),
    ("rbac.authorization.k8s.io", "RoleBinding", rbac::role_binding::kind),
    ("resource.k8s.io", "DeviceClass", unsteered::devices::device_class),
    (
        "resource.k8s.io",
        "DeviceTaintRule",
        unsteered::devices::device_taint_rule,
    ),
    ("resource.k8s.io", "ResourceClaim", unsteered::devices::resource_claim),
    (
        "resource.k8s.io",
        "ResourceClaimTemplate",
        unsteered::devices::resource_claim_template,
    ),
    ("resource.k8s.io", "ResourceSlice", unsteered::devices::resource_slice),
    ("scheduling.k8s.io", "PriorityClass", scheduling::priority_class::kind),
    ("storage.k8s.io", "CSIDriver", unsteered::csi_driver),
    ("storage.k8s.io", "CSINode", unsteered::csi_node),
    ("storage.k8s.io", "CSIStorageCapacity", unsteered::csi_storage_capacity),
    ("storage.k8s.io", "StorageClass", storage::storage_class::kind),
    ("storage.k8s.io", "VolumeAttachment", unsteered::volume_attachment),
    (
        "storage.k8s.io",
        "VolumeAttributesClass",
        unsteered::volume_attributes_class,
    ),
    (
        "storagemigration.k8s.io",
        "StorageVersionMigration",
        storagemigration::storage_version_migration::kind,
    ),
];

/// Group, version, kind, storage version, and the function that returns the kind's rules in the version.
type OtherVersion = (&'static str, &'static str, &'static str, &'static str, Define);

/// The versions of a kind that are not stored.
const OTHER_VERSIONS: [OtherVersion; 1] = [(
    "autoscaling",
    "v1",
    "HorizontalPodAutoscaler",
    "v2",
    autoscaling::v1::kind,
)];

/// The default functions of all structs: an object may contain structs of another kind.
static DEFAULTS: LazyLock<Defaults> = LazyLock::new(|| {
    let kinds = KINDS.iter().flat_map(|(_, _, kind)| kind().defaults);
    let others = OTHER_VERSIONS.iter().flat_map(|(.., kind)| kind().defaults);
    kinds.chain(others).chain(pod::defaults::STRUCTS).copied().collect()
});

/// All built-in resources, in the order in which discovery lists them within each group and version.
pub fn resources() -> Vec<Resource> {
    names::all().into_iter().map(resource).collect()
}

/// [`Decoding::empties`](crate::strategy::Decoding::empties) for the metadata of a kind whose Go type is not recorded here.
pub(crate) fn empties_of_metadata(object: &mut Value, form: Empties) -> bool {
    empties::bring("~apis.meta.v1.ObjectMeta", &mut object["metadata"], form, &[])
}

/// The resource as which TokenRequests are decoded; it is not served.
pub(crate) fn token_request() -> Resource {
    resource(names::resource(
        "authentication.k8s.io/v1 TokenRequest serviceaccounts token namespaced create",
    ))
}

/// The body of `pods/NAME/binding`: also a resource of its own, of which no object is kept.
pub(crate) fn binding() -> Resource {
    resource(names::resource("v1 Binding bindings binding namespaced create"))
}

/// The body of `pods/NAME/eviction`, which is no resource of its own.
pub(crate) fn eviction() -> Resource {
    resource(names::resource("policy/v1 Eviction pods eviction namespaced create"))
}

/// Removes the annotations that the server stores in no Pod.
pub(crate) fn drop_old_annotations(pod: &mut Value) {
    pod.as_object_mut().into_iter().for_each(pod::annotations::drop_old);
}

fn resource(named: Named) -> Resource {
    let other = other_version(&named);
    let rules = other.map_or_else(|| kind(&named), |(.., kind)| kind());
    let strategy = BuiltIn::new(&named, rules, &DEFAULTS);
    Resource {
        storage_version: other.map_or(named.version.as_str(), |other| other.3).to_owned(),
        group: named.group,
        version: named.version,
        names: named.names,
        namespaced: named.namespaced,
        verbs: named.verbs,
        subresources: named.subresources,
        storage_version_hash: named.storage_version_hash,
        strategy: Arc::new(strategy),
    }
}

fn other_version(named: &Named) -> Option<&'static OtherVersion> {
    let wanted = (named.group.as_str(), named.version.as_str(), named.names.kind.as_str());
    OTHER_VERSIONS
        .iter()
        .find(|(group, version, kind, ..)| (*group, *version, *kind) == wanted)
}

fn kind(named: &Named) -> BuiltInKind {
    let wanted = (named.group.as_str(), named.names.kind.as_str());
    let found = KINDS.iter().find(|(group, kind, _)| (*group, *kind) == wanted);
    found.map(|(_, _, kind)| kind()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        fs,
        path::{Path, PathBuf},
    };

    use super::*;

    #[test]
    fn the_table_has_exactly_the_recorded_kinds() {
        let recorded = names::all().into_iter().map(|named| (named.group, named.names.kind));
        let mut recorded: BTreeSet<_> = recorded.collect();
        // The body of a subresource, which is no resource of its own.
        for (group, kind) in [("authentication.k8s.io", "TokenRequest"), ("policy", "Eviction")] {
            recorded.insert((group.to_owned(), kind.to_owned()));
        }
        let listed = KINDS
            .iter()
            .map(|(group, kind, _)| ((*group).to_owned(), (*kind).to_owned()));
        let listed: Vec<_> = listed.collect();
        assert_eq!(listed.len(), recorded.len());
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), recorded);
    }

    #[test]
    fn each_default_belongs_to_a_recorded_struct() {
        let kinds = KINDS.iter().flat_map(|(_, _, kind)| kind().defaults);
        let others = OTHER_VERSIONS.iter().flat_map(|(.., kind)| kind().defaults);
        for (definition, _) in kinds.chain(others).chain(pod::defaults::STRUCTS) {
            assert!(shapes::shape(definition).is_some(), "{definition}");
        }
    }

    /// The string literals of a source that name a kind, ignoring tests and comments.
    fn named(source: &str, names: &BTreeSet<String>) -> Vec<String> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let literals = code.flat_map(|line| line.split('"').skip(1).step_by(2));
        let literals = literals.map(|text| text.trim_start_matches('/').to_owned());
        literals.filter(|text| names.contains(text)).collect()
    }

    /// Groups, plurals and kinds of all built-in resources.
    fn names_of_kinds() -> BTreeSet<String> {
        let names = resources()
            .into_iter()
            .flat_map(|it| [it.group, it.names.plural, it.names.kind]);
        let definitions = [
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "CustomResourceDefinition",
        ];
        let names = names.chain(definitions.map(str::to_owned));
        names.filter(|name| !name.is_empty()).collect()
    }

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => sources(&path, found),
                // Other files are recordings, which contain names of kinds.
                path if path.extension().is_some_and(|it| it == "rs") => found.push(path),
                _ => {}
            }
        }
    }

    #[test]
    fn the_registry_contains_no_name_of_a_kind() {
        let (names, mut files) = (names_of_kinds(), Vec::new());
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/registry"), &mut files);
        assert!(files.len() > 10);
        for file in files {
            let found = named(&fs::read_to_string(&file).unwrap(), &names);
            assert!(found.is_empty(), "{} names {found:?}", file.display());
        }
    }

    #[test]
    fn the_search_for_names_of_kinds_finds_one() {
        let names = names_of_kinds();
        let source = "if subject == (\"\", \"pods\") {}\nmatch group { \"apps\" => {} }\nget(\"/namespaces\")";
        assert_eq!(named(source, &names), ["pods", "apps", "namespaces"]);
        assert!(named("// \"pods\"\n#[cfg(test)] \"pods\"", &names).is_empty());
        assert!(named("\"status\" => {}", &names).is_empty());
    }
}
