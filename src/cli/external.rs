//! Kinds of other owners, and the names of Kubernetes' kinds in flags.

use super::ask::Usage;
use crate::project::{Group, InvalidName, KindName, Origin, Project, RequestedKind, Version, kubernetes};

/// A group as flags name it: Kubernetes' core group has no name, and is `core` in PROJECT.
pub fn group(text: &str) -> Result<Group, InvalidName> {
    let name = if text.is_empty() { kubernetes::CORE } else { text };
    name.parse()
}

/// The group as PROJECT writes it: in full for a kind of Kubernetes, unless the project has a kind of that group and name.
pub fn project_group(project: &Project, group: Group, kind: &KindName) -> Group {
    let known = kubernetes::newest(&group, kind).filter(|_| project.kind(&group, kind).is_none());
    known
        .and_then(|known| known.project_group().parse().ok())
        .unwrap_or(group)
}

/// The default version of a kind of Kubernetes: the one that the project has, or its newest stable version. `None` for other
/// kinds of the project.
pub fn version(project: &Project, group: Option<&Group>, kind: Option<&KindName>) -> Option<Version> {
    let (group, kind) = group.zip(kind)?;
    if let Some(listed) = project.kind(group, kind) {
        let listed = (listed.origin == Origin::Kubernetes).then(|| listed.versions.last());
        return listed.flatten().map(|version| version.name.clone());
    }
    kubernetes::newest(group, kind)?.version.parse().ok()
}

/// The kind of a controller without a new type: one of the project, or of Kubernetes.
pub fn kubernetes(project: &Project, asked: RequestedKind) -> RequestedKind {
    let RequestedKind {
        group, version, name, ..
    } = &asked;
    let listed = project.api(group, version, name).map(|api| api.kind.origin);
    if let Some(origin @ (Origin::Project | Origin::Crd)) = listed {
        return RequestedKind { origin, ..asked };
    }
    match kubernetes::find(group, version, name) {
        None => asked,
        Some(known) => RequestedKind {
            group: known.project_group().parse().expect("Kubernetes' groups are DNS names"),
            origin: Origin::Kubernetes,
            plural: known.plural.parse().ok(),
            cluster: Some(known.cluster),
            ..asked
        },
    }
}

/// Refuses a full group, which would have the domain twice, unless the project already has the group.
pub fn without_domain(project: &Project, group: &Group) -> anyhow::Result<()> {
    let domain = project.domain.as_str();
    let Some(part) = group.as_str().strip_suffix(&format!(".{domain}")) else {
        return Ok(());
    };
    if project.kinds.iter().any(|kind| kind.group == *group) {
        return Ok(());
    }
    Err(Usage::error(format!(
        "`--group {group}` has the project's domain, which kubewright adds: the group would be `{group}.{domain}`\n\n\
         hint: `--group {part}` makes `{group}`"
    )))
}
