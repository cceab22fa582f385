//! Whether a project is valid as a whole: after a change, and when PROJECT is read, because it may have been edited or
//! merged by hand.

use super::clash::clash;
use super::controllers::same_module;
use super::names::RANKED;
use super::{Group, Kind, KindName, Origin, Project, Version, kubernetes, pattern};
use anyhow::{Result, bail};

impl Project {
    /// Refuses kinds and controllers that Kubernetes, Rust or the generated code would not accept.
    pub(super) fn check(&self) -> Result<()> {
        for (at, kind) in self.kinds.iter().enumerate() {
            self.check_kind(kind)?;
            for other in &self.kinds[..at] {
                clash(kind, other)?;
                self.has_one_owner(kind, other)?;
            }
        }
        self.check_controllers()?;
        self.check_webhooks()?;
        self.check_conversions()?;
        self.check_policies()?;
        self.patterns_fit()
    }

    /// Refuses a kind of the project that is one of another owner too.
    fn has_one_owner(&self, kind: &Kind, other: &Kind) -> Result<()> {
        let is_same = kind.name == other.name && self.group_of(kind) == self.group_of(other);
        if is_same && kind.origin != other.origin {
            bail!(
                "`{}` of `{}` cannot be a kind of the project and one of another owner\n\n\
                 hint: use the one that is there, or take it out first: `kubewright delete api`",
                kind.name,
                self.group_of(kind)
            );
        }
        Ok(())
    }

    fn check_kind(&self, kind: &Kind) -> Result<()> {
        check_versions(kind)?;
        if kind.cluster && self.namespaced {
            let hint = match kind.origin {
                Origin::Project => "leave out `--cluster` or `--namespaced=false`",
                Origin::Kubernetes | Origin::Crd => "use a project without `--namespaced` for it",
            };
            bail!(
                "`{}` cannot be cluster-scoped: the operator of a `--namespaced` project works only in its own namespace\n\n\
                 hint: {hint}",
                kind.name
            );
        }
        self.check_lengths(kind)
    }

    fn check_controllers(&self) -> Result<()> {
        let all = self.controllers();
        for (at, (kind, controller)) in all.iter().enumerate() {
            let name = &controller.name;
            // Sorted by their files.
            if let Some((_, other)) = all.get(at + 1).filter(|(_, other)| same_module(name, &other.name)) {
                bail!("controllers `{name}` and `{}` would share one file", other.name);
            }
            if kind.version(&controller.version).is_none() {
                bail!(
                    "controller `{name}` uses version `{}` of `{}`, which has only {}",
                    controller.version,
                    kind.name,
                    kind.version_names()
                );
            }
            pattern::fits(controller.pattern.name(), &kind.name, kind.origin)?;
            self.fits_adopted(kind, controller)?;
        }
        Ok(())
    }
}

fn check_versions(kind: &Kind) -> Result<()> {
    let name = &kind.name;
    if kind.versions.is_empty() {
        bail!("`{name}` of `{}` has no version", kind.group);
    }
    let is_ours = kind.origin.is_project() && !kind.adopted;
    for (at, version) in kind.versions.iter().enumerate() {
        if is_ours && !version.name.is_ranked() {
            bail!("version `{}` of `{name}` {RANKED}", version.name);
        }
        let rest = &kind.versions[at + 1..];
        if rest.iter().any(|other| other.name == version.name) {
            bail!(
                "`{name}` of `{}/{}` is listed twice\n\nhint: remove one of them",
                kind.group,
                version.name
            );
        }
        if let Some(other) = rest
            .iter()
            .find(|other| version.storage && other.storage && kind.origin.is_project())
        {
            bail!(
                "versions `{}` and `{}` of `{name}` are both marked as the storage version\n\n\
                 hint: write `storage: false` in one of them, and `#[kube(storage = false)]` on its type",
                version.name,
                other.name
            );
        }
        if kind.origin == Origin::Kubernetes && kubernetes::find(&kind.group, &version.name, name).is_none() {
            bail!(unknown(&kind.group, &version.name, name));
        }
    }
    Ok(())
}

/// The error for a kind that does not exist, with similar ones as a hint.
pub(super) fn unknown(group: &Group, version: &Version, kind: &KindName) -> String {
    let hint = match near(group, kind).as_slice() {
        [] => "leave out `--resource=false` to create the kind here, or use its CRD with `--from-crd FILE`".to_owned(),
        near => format!("Kubernetes has {}", near.join(", ")),
    };
    format!("`{kind}` of `{group}/{version}` is neither a kind of this project nor one of Kubernetes\n\nhint: {hint}")
}

/// The flags for similar kinds of Kubernetes.
pub(super) fn near(group: &Group, kind: &KindName) -> Vec<String> {
    let flags = |known: &kubernetes::Known| {
        let (group, version) = (known.project_group(), known.version);
        format!("`--group {group} --version {version} --kind {}`", known.kind)
    };
    kubernetes::near(group, kind).iter().map(flags).collect()
}
