//! Admission: members may refuse or change a write between authorization and the store. All members are in one list,
//! [`ORDER`], which the registry's pipeline calls for the writes of every verb.

mod certificates;
mod claim_resize;
mod default_class;
mod escalation;
mod lifecycle;
mod limit_ranges;
mod pod_resize;
mod pod_security;
mod policies;
mod priority;
#[cfg(test)]
pub(crate) mod probe;
mod rounds;
mod runtime_class;
mod termination;
mod tolerations;
mod topology;
mod webhooks;

use serde_json::Value;

use crate::{
    call::Call,
    meta,
    state::Core,
    status::{Status, Subject},
};
use rounds::Rounds;
#[cfg(feature = "testing")]
pub use tolerations::tolerate;

/// When a member is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// Before the object is prepared. Members may change it; as upstream, the fields that they set have no owner yet.
    Mutating,
    /// The point at which upstream's storage of a kind checks: after all mutating members, before the object is prepared.
    Storage,
    /// After validation, right before the object is stored. Members must not change it.
    Validating,
}

/// A member of admission, by its name upstream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Member {
    /// `forbidCreateAdmission` of the handler of custom resources: no new objects while the definition terminates.
    ForbidCreate,
    /// The plugin of this name: no new objects in a terminating namespace; some namespaces cannot be deleted.
    NamespaceLifecycle,
    /// The plugin of this name: Pods get default requests and limits; they and claims keep to limits.
    LimitRanger,
    /// The plugin of this name: Pods meet the Pod Security Standard that the labels of their namespace name.
    PodSecurity,
    /// The plugin `Priority`, for Pods: a Pod gets the priority of its class.
    PodPriority,
    /// The plugin `Priority`, for PriorityClasses: at most one is the default.
    DefaultPriority,
    /// The plugin of this name: a Pod tolerates a failing node for five minutes.
    DefaultTolerationSeconds,
    /// The plugin of this name: a PersistentVolumeClaim without a class gets the default one.
    DefaultStorageClass,
    /// The plugin of this name: a bound PersistentVolumeClaim grows if its class allows it.
    PersistentVolumeClaimResize,
    /// The plugin of this name: a Pod gets the overhead and scheduling of its class.
    RuntimeClass,
    /// The plugin of this name: who may approve CertificateSigningRequests.
    CertificateApproval,
    /// The plugin of this name: who may sign them.
    CertificateSigning,
    /// The plugin of this name: who may attest ClusterTrustBundles.
    ClusterTrustBundleAttest,
    /// The plugin of this name: which subjects they must not have.
    CertificateSubjectRestriction,
    /// The plugin of this name: an Ingress without a class gets the default one.
    DefaultIngressClass,
    /// The plugin of this name: a Pod gets the labels of its node's zone and region.
    PodTopologyLabels,
    /// The plugin of this name: a Pod is resized only in ways that its node supports.
    NodeDeclaredFeatureValidator,
    /// The plugin of this name: a resized Pod fits on its node.
    PodResizeValidator,
    /// The plugin `MutatingAdmissionPolicy`: policies may change objects.
    MutatingPolicies,
    /// The plugin `MutatingAdmissionWebhook`: webhooks may change objects.
    MutatingWebhooks,
    /// The storage of admission policies and their bindings: users must be able to read the parameters.
    ParameterAccess,
    /// The storage of PodCertificateRequests: who may sign them.
    PodCertificateSigning,
    /// The plugin `ValidatingAdmissionPolicy`: policies may refuse a write.
    ValidatingPolicies,
    /// The plugin `ValidatingAdmissionWebhook`: webhooks may refuse a write.
    ValidatingWebhooks,
    /// The policy-based storage of RBAC: users cannot grant permissions that they do not have.
    RoleEscalation,
    /// Records writes in tests.
    #[cfg(test)]
    Probe(Phase),
}

/// All members in the order of their calls, which is that of kube-apiserver 1.37:
///
/// 1. Around all plugins: `ForbidCreate`.
/// 2. `AllOrderedPlugins` of `pkg/kubeapiserver/options/plugins.go`: NamespaceAutoProvision, NamespaceLifecycle,
///    NamespaceExists, LimitRanger, ServiceAccount, NodeRestriction, TaintNodesByCondition, AlwaysPullImages,
///    ImagePolicyWebhook, PodSecurity, PodNodeSelector, Priority, DefaultTolerationSeconds, PodTolerationRestriction,
///    EventRateLimit, ExtendedResourceToleration, DefaultStorageClass, StorageObjectInUseProtection,
///    OwnerReferencesPermissionEnforcement, PersistentVolumeClaimResize, RuntimeClass, CertificateApproval,
///    CertificateSigning, ClusterTrustBundleAttest, CertificateSubjectRestriction, DefaultIngressClass,
///    DenyServiceExternalIPs, PodTopologyLabels, NodeDeclaredFeatureValidator, PodResizeValidator, MutatingAdmissionPolicy,
///    MutatingAdmissionWebhook, ValidatingAdmissionPolicy, ValidatingAdmissionWebhook, ResourceQuota, AlwaysDeny.
/// 3. In the storage of a kind: `RoleEscalation`; `ParameterAccess` and `PodCertificateSigning`, after all other validation.
pub const ORDER: &[(Phase, Member)] = &[
    (Phase::Mutating, Member::ForbidCreate),
    (Phase::Mutating, Member::NamespaceLifecycle),
    (Phase::Mutating, Member::LimitRanger),
    (Phase::Mutating, Member::PodPriority),
    (Phase::Mutating, Member::DefaultTolerationSeconds),
    (Phase::Mutating, Member::DefaultStorageClass),
    (Phase::Mutating, Member::RuntimeClass),
    (Phase::Mutating, Member::DefaultIngressClass),
    (Phase::Mutating, Member::PodTopologyLabels),
    (Phase::Mutating, Member::MutatingPolicies),
    (Phase::Mutating, Member::MutatingWebhooks),
    #[cfg(test)]
    (Phase::Mutating, Member::Probe(Phase::Mutating)),
    (Phase::Storage, Member::RoleEscalation),
    (Phase::Validating, Member::ParameterAccess),
    (Phase::Validating, Member::PodCertificateSigning),
    (Phase::Validating, Member::LimitRanger),
    (Phase::Validating, Member::PodSecurity),
    (Phase::Validating, Member::DefaultPriority),
    (Phase::Validating, Member::PersistentVolumeClaimResize),
    (Phase::Validating, Member::RuntimeClass),
    (Phase::Validating, Member::CertificateApproval),
    (Phase::Validating, Member::CertificateSigning),
    (Phase::Validating, Member::ClusterTrustBundleAttest),
    (Phase::Validating, Member::CertificateSubjectRestriction),
    (Phase::Validating, Member::NodeDeclaredFeatureValidator),
    (Phase::Validating, Member::PodResizeValidator),
    (Phase::Validating, Member::ValidatingPolicies),
    (Phase::Validating, Member::ValidatingWebhooks),
    #[cfg(test)]
    (Phase::Validating, Member::Probe(Phase::Validating)),
];

/// The admission plugins of this server, by their names in kube-apiserver. All are always on.
pub fn admission_plugins() -> impl Iterator<Item = &'static str> {
    // Charged by the pipeline itself, after all members.
    let members = ORDER.iter().filter_map(|(_, member)| member.plugin());
    members.chain(["ResourceQuota"])
}

impl Member {
    /// The plugin that is this member, or a part of it.
    fn plugin(self) -> Option<&'static str> {
        Some(match self {
            Self::NamespaceLifecycle => "NamespaceLifecycle",
            Self::LimitRanger => "LimitRanger",
            Self::PodSecurity => "PodSecurity",
            Self::PodPriority | Self::DefaultPriority => "Priority",
            Self::DefaultTolerationSeconds => "DefaultTolerationSeconds",
            Self::DefaultStorageClass => "DefaultStorageClass",
            Self::PersistentVolumeClaimResize => "PersistentVolumeClaimResize",
            Self::RuntimeClass => "RuntimeClass",
            Self::CertificateApproval => "CertificateApproval",
            Self::CertificateSigning => "CertificateSigning",
            Self::ClusterTrustBundleAttest => "ClusterTrustBundleAttest",
            Self::CertificateSubjectRestriction => "CertificateSubjectRestriction",
            Self::DefaultIngressClass => "DefaultIngressClass",
            Self::PodTopologyLabels => "PodTopologyLabels",
            Self::NodeDeclaredFeatureValidator => "NodeDeclaredFeatureValidator",
            Self::PodResizeValidator => "PodResizeValidator",
            Self::MutatingPolicies => "MutatingAdmissionPolicy",
            Self::MutatingWebhooks => "MutatingAdmissionWebhook",
            Self::ValidatingPolicies => "ValidatingAdmissionPolicy",
            Self::ValidatingWebhooks => "ValidatingAdmissionWebhook",
            Self::ForbidCreate | Self::ParameterAccess | Self::PodCertificateSigning | Self::RoleEscalation => {
                return None;
            }
            #[cfg(test)]
            Self::Probe(_) => return None,
        })
    }
}

/// The effect of a write on an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// Creates it. Apply requests and updates may create too.
    Create,
    /// Changes it.
    Update,
    /// Deletes it, or marks it as deleting.
    Delete,
    /// Connects to a container of it; the object is the options of the connection.
    Connect,
}

/// The attributes of a write.
pub struct Attributes<'a> {
    /// The operation.
    pub operation: Operation,
    /// The request: resource and subresource, namespace, user, and the options as they were sent.
    pub call: &'a Call,
    /// Whether nothing is stored.
    pub dry_run: bool,
}

impl Attributes<'_> {
    /// Whether the write is to the resource itself, not to a subresource.
    fn is_about(&self, subject: Subject<'_>) -> bool {
        self.call.subject() == subject && self.call.subresource.is_empty()
    }

    /// The 403 of a member.
    pub fn forbid(&self, objects: &Objects<'_>, why: &str) -> Status {
        Status::forbidden(self.call.subject(), objects.given_name(), why)
    }
}

/// The states of the written object. For a subresource with a kind of its own (`scale`), they are objects of that kind.
pub struct Objects<'a> {
    /// The next state; none for a deletion.
    pub new: Option<&'a mut Value>,
    /// The present state; none for a creation.
    pub old: Option<&'a Value>,
}

impl Objects<'_> {
    /// The next state; null for a deletion.
    fn present(&self) -> &Value {
        self.new.as_deref().unwrap_or(&Value::Null)
    }

    /// The object's name; empty until the server has generated it.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// The object's name for error messages, or its `generateName` if it has no name yet.
    pub fn given_name(&self) -> &str {
        let given = [self.name(), self.text("generateName")];
        given.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown")
    }

    fn text(&self, field: &str) -> &str {
        let object = self.new.as_deref().or(self.old);
        object.map(|object| meta::text(object, field)).unwrap_or_default()
    }
}

/// Calls all members of a phase in their order. Members may await, because no lock is held. Returns whether a policy or a webhook
/// has changed the object.
///
/// # Errors
/// The Status of the first member that refuses.
pub async fn admit(
    phase: Phase,
    core: &Core,
    attributes: &Attributes<'_>,
    objects: &mut Objects<'_>,
) -> Result<bool, Status> {
    let mut rounds = Rounds::default();
    loop {
        let asked = |member: &Member| attributes.operation != Operation::Connect || member.handles_connections();
        for (_, member) in ORDER.iter().filter(|(its, member)| *its == phase && asked(member)) {
            match member {
                Member::MutatingPolicies => policies::mutate(core, attributes, objects, &mut rounds).await?,
                Member::MutatingWebhooks => webhooks::mutate(core, attributes, objects, &mut rounds).await?,
                member => member.admit(phase, core, attributes, objects).await?,
            }
        }
        if !rounds.again() {
            break;
        }
    }
    let has_changed = rounds.has_changed();
    if has_changed {
        webhooks::check_managers(attributes, rounds.managers(), objects);
    }
    Ok(has_changed)
}

impl Member {
    /// As upstream, where the other plugins do not handle `CONNECT`.
    fn handles_connections(self) -> bool {
        matches!(
            self,
            Self::MutatingPolicies | Self::MutatingWebhooks | Self::ValidatingPolicies | Self::ValidatingWebhooks
        )
    }

    async fn admit(
        self,
        phase: Phase,
        core: &Core,
        attributes: &Attributes<'_>,
        objects: &mut Objects<'_>,
    ) -> Result<(), Status> {
        match self {
            Self::ForbidCreate => termination::admit(attributes, objects),
            Self::NamespaceLifecycle => lifecycle::admit(core, attributes, objects),
            Self::LimitRanger if phase == Phase::Mutating => limit_ranges::admit(core, attributes, objects),
            Self::LimitRanger => limit_ranges::validate(core, attributes, objects),
            Self::PodSecurity => pod_security::validate(core, attributes, objects),
            Self::PodPriority => priority::admit(core, attributes, objects),
            Self::DefaultPriority => priority::only_default(core, attributes, objects),
            Self::DefaultStorageClass => default_class::STORAGE.admit(core, attributes, objects),
            Self::PersistentVolumeClaimResize => claim_resize::validate(core, attributes, objects),
            Self::RuntimeClass if phase == Phase::Mutating => runtime_class::admit(core, attributes, objects),
            Self::RuntimeClass => runtime_class::validate(core, attributes, objects),
            Self::CertificateApproval => certificates::approval(core, attributes, objects),
            Self::CertificateSigning => certificates::signing(core, attributes, objects),
            Self::ClusterTrustBundleAttest => certificates::attest(core, attributes, objects),
            Self::CertificateSubjectRestriction => certificates::subject(attributes, objects),
            Self::DefaultIngressClass => default_class::INGRESS.admit(core, attributes, objects),
            Self::DefaultTolerationSeconds => {
                tolerations::admit(attributes, objects);
                Ok(())
            }
            Self::PodTopologyLabels => {
                topology::admit(core, attributes, objects);
                Ok(())
            }
            Self::NodeDeclaredFeatureValidator => pod_resize::supported(core, attributes, objects),
            Self::PodResizeValidator => pod_resize::fits(core, attributes, objects),
            // They have rounds, see `admit`.
            Self::MutatingPolicies | Self::MutatingWebhooks => Ok(()),
            Self::ParameterAccess => policies::access::admit(core, attributes, objects),
            Self::PodCertificateSigning => certificates::pod_signing(core, attributes, objects),
            Self::ValidatingPolicies => policies::validate(core, attributes, objects).await,
            Self::ValidatingWebhooks => webhooks::validate(core, attributes, objects).await,
            Self::RoleEscalation => escalation::admit(core, attributes, objects),
            #[cfg(test)]
            Self::Probe(phase) => probe::admit(phase, attributes, objects).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_the_order_of_the_real_server() {
        let members = ORDER.iter().filter(|(_, member)| !matches!(member, Member::Probe(_)));
        let members: Vec<_> = members.copied().collect();
        let expected = [
            (Phase::Mutating, Member::ForbidCreate),
            (Phase::Mutating, Member::NamespaceLifecycle),
            (Phase::Mutating, Member::LimitRanger),
            (Phase::Mutating, Member::PodPriority),
            (Phase::Mutating, Member::DefaultTolerationSeconds),
            (Phase::Mutating, Member::DefaultStorageClass),
            (Phase::Mutating, Member::RuntimeClass),
            (Phase::Mutating, Member::DefaultIngressClass),
            (Phase::Mutating, Member::PodTopologyLabels),
            (Phase::Mutating, Member::MutatingPolicies),
            (Phase::Mutating, Member::MutatingWebhooks),
            (Phase::Storage, Member::RoleEscalation),
            (Phase::Validating, Member::ParameterAccess),
            (Phase::Validating, Member::PodCertificateSigning),
            (Phase::Validating, Member::LimitRanger),
            (Phase::Validating, Member::PodSecurity),
            (Phase::Validating, Member::DefaultPriority),
            (Phase::Validating, Member::PersistentVolumeClaimResize),
            (Phase::Validating, Member::RuntimeClass),
            (Phase::Validating, Member::CertificateApproval),
            (Phase::Validating, Member::CertificateSigning),
            (Phase::Validating, Member::ClusterTrustBundleAttest),
            (Phase::Validating, Member::CertificateSubjectRestriction),
            (Phase::Validating, Member::NodeDeclaredFeatureValidator),
            (Phase::Validating, Member::PodResizeValidator),
            (Phase::Validating, Member::ValidatingPolicies),
            (Phase::Validating, Member::ValidatingWebhooks),
        ];
        assert_eq!(members, expected);
    }
}
