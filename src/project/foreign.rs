//! Webhooks for kinds of other owners: the kinds that may have webhooks, and kinds of Kubernetes that PROJECT does not list yet.

use super::change::NewApi;
use super::check::near;
use super::{Group, Kind, KindName, Origin, Project, RequestedKind, Version, kubernetes};
use anyhow::{Result, bail};

/// API groups that a broken webhook must never block, because they are needed to repair the cluster. The groups of reviews have no
/// kinds that can be listed; the runtime refuses them.
const UNTOUCHABLE: [(&str, &str); 2] = [
    (
        "coordination.k8s.io",
        "every controller of the cluster needs its leases",
    ),
    (
        "admissionregistration.k8s.io",
        "the API server calls no webhooks for webhook configurations",
    ),
];

impl Project {
    /// The kind of the project that gets admission webhooks; `None` for one of Kubernetes that the project does not have
    /// yet.
    pub fn admitted_kind(&self, group: &Group, name: &KindName) -> Result<Option<&Kind>> {
        if self.kind(group, name).is_none() && kubernetes::newest(group, name).is_some() {
            return Ok(None);
        }
        self.listed_kind(group, name).map(Some)
    }

    /// A kind that `PROJECT` lists.
    pub fn listed_kind(&self, group: &Group, name: &KindName) -> Result<&Kind> {
        let Some(kind) = self.kind(group, name) else {
            let kubernetes = match near(group, name).as_slice() {
                [] => String::new(),
                near => format!(", and Kubernetes has {}", near.join(", ")),
            };
            bail!(
                "`{name}` of `{group}` is not a kind of this project\n\n\
                 hint: {}{kubernetes}; for a kind of another operator, run `kubewright create api --from-crd FILE` first",
                self.listed()
            );
        };
        Ok(kind)
    }

    /// A kind whose CRD is the project's.
    pub fn own_kind(&self, group: &Group, name: &KindName) -> Result<&Kind> {
        let origin = match self.admitted_kind(group, name)? {
            Some(kind) if kind.origin.is_project() => return Ok(kind),
            Some(kind) => kind.origin,
            None => Origin::Kubernetes,
        };
        bail!(
            "`{name}` is {}, and the operator converts only the project's own kinds\n\nhint: leave out `--conversion`",
            origin.owner()
        )
    }

    /// The project with a kind of Kubernetes in that version, unless it has the kind.
    pub(super) fn with_kubernetes(&self, group: &Group, version: &Version, name: &KindName) -> Result<Self> {
        let known = kubernetes::find(group, version, name);
        let Some(known) = known.filter(|_| self.kind(group, name).is_none()) else {
            return Ok(self.clone());
        };
        self.with_api(&NewApi {
            kind: RequestedKind {
                plural: known.plural.parse().ok(),
                cluster: Some(known.cluster),
                origin: Origin::Kubernetes,
                ..RequestedKind::own(group.clone(), version.clone(), name.clone())
            },
            storage: false,
            resource: true,
            controller: None,
            replace: false,
        })
    }

    /// The project without kinds of Kubernetes of which it has neither a controller nor a webhook.
    pub(super) fn without_unused(mut self) -> Self {
        let unused =
            |kind: &Kind| kind.origin == Origin::Kubernetes && kind.controllers.is_empty() && kind.webhooks.is_none();
        self.kinds.retain(|kind| !unused(kind));
        self
    }
}

/// Refuses webhooks for a kind without which the cluster could not be repaired.
pub(super) fn harmless(kind: &Kind) -> Result<()> {
    let group = kind.group.as_str();
    if let Some((_, why)) = UNTOUCHABLE.iter().find(|(untouchable, _)| *untouchable == group) {
        bail!(
            "`{}` cannot have webhooks, like all kinds of `{group}`: {why}",
            kind.name
        );
    }
    Ok(())
}
