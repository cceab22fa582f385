//! Kinds that the project takes over with their CRD: from kubebuilder, say. They are its own from then on; what is generated for them
//! assumes no field of their spec.

use super::change::NewApi;
use super::pattern::Name;
use super::printable::printable;
use super::{Controller, Definition, Group, Kind, Project, Version};
use anyhow::{Result, anyhow, bail};
use serde_json::Value;
use std::collections::BTreeSet;

impl Project {
    /// The group of a CRD that the project takes over, without the domain: all groups of its own kinds end with that. The domain itself
    /// is a group too.
    pub fn group_within(&self, definition: &Definition) -> Result<Group> {
        let full = definition.group()?;
        if full.as_str() == self.domain.as_str() {
            return Ok(full);
        }
        let within = full.as_str().strip_suffix(self.domain.as_str());
        let Some(group) = within.and_then(|rest| rest.strip_suffix('.')) else {
            // Of a group such as `argoproj.io`, the rest would be a domain of everybody.
            let rest = full.as_str().split_once('.').map(|(_, rest)| rest);
            let domain = rest.filter(|rest| rest.contains('.')).unwrap_or(full.as_str());
            bail!(
                "the group `{full}` is not one of this project: its groups are `{0}` and those that end with `.{0}`\n\n\
                 hint: take it over in a project of that domain: `kubewright init --domain {domain}`; \
                 without `--own` its owner keeps the kind",
                self.domain
            );
        };
        group
            .parse()
            .map_err(|refused| anyhow!("the CRD's group without the domain, `{}`, {refused}", printable(group)))
    }

    /// Refuses controllers that use fields which the spec of a kind that was taken over may not have.
    pub(super) fn fits_adopted(&self, kind: &Kind, controller: &Controller) -> Result<()> {
        let pattern = controller.pattern.name();
        if kind.adopted && pattern != Name::Minimal {
            bail!(
                "pattern `{}` uses fields that the spec of `{}` may not have: its types are made from a CRD\n\n\
                 hint: leave out `--pattern`; the pattern for such kinds is `minimal`",
                pattern.as_str(),
                kind.name
            );
        }
        let made = controller.pattern.internal_kind();
        if let Some(made) = made
            .and_then(|name| self.kind(&kind.group, name))
            .filter(|made| made.adopted)
        {
            bail!(
                "pattern `internal` uses fields that the spec of `{}` may not have: its types are made from a CRD\n\n\
                 hint: choose another `--internal-kind`",
                made.name
            );
        }
        Ok(())
    }

    /// Refuses to replace the CRD of a kind that was taken over by one that does not serve all of its versions: their types would stay,
    /// with what the former CRD said.
    pub(super) fn adopted_versions_stay(&self, new: &NewApi) -> Result<()> {
        let kind = self.kind(&new.kind.group, &new.kind.name).filter(|kind| kind.adopted);
        let Some(kind) = kind.filter(|_| new.kind.adopted && new.replace) else {
            return Ok(());
        };
        let served = |version: &Version| *version == new.kind.version || new.kind.others.contains(version);
        match kind.versions.iter().find(|version| !served(&version.name)) {
            None => Ok(()),
            Some(gone) => bail!(
                "`{name}` has version `{version}`, which this CRD does not serve\n\n\
                 hint: serve it in the CRD; or delete it first, with \
                 `kubewright delete api --group {group} --version {version} --kind {name}`",
                name = kind.name,
                version = gone.name,
                group = kind.group
            ),
        }
    }
}

impl Definition {
    /// The versions that are served, first the one that is stored.
    ///
    /// # Errors
    /// If two versions have one name or several are stored; if the stored version is not served, or a version has no name
    /// that a module can have, or no schema with fields.
    pub fn versions_to_adopt(&self) -> Result<(Version, Vec<Version>)> {
        self.check_versions()?;
        let mut stored = None;
        let mut others = Vec::new();
        for version in self.versions().filter(|version| version["served"] == true) {
            let name = self.described(version)?;
            match version["storage"] == true {
                true => stored = Some(name),
                false => others.push(name),
            }
        }
        let Some(stored) = stored else {
            bail!(
                "the CRD serves none of its versions in which objects are stored\n\n\
                 hint: store a version that is served in the CRD first"
            );
        };
        Ok((stored, others))
    }

    /// Refuses versions that API servers refuse: two of one name, and several that are stored.
    fn check_versions(&self) -> Result<()> {
        let name = |version: &Value| printable(version["name"].as_str().unwrap_or_default());
        let mut names = BTreeSet::new();
        if let Some(twice) = self.versions().map(name).find(|name| !names.insert(name.clone())) {
            bail!("the CRD has version `{twice}` twice\n\nhint: leave out one of the two in the CRD first");
        }
        let stored = self.versions().filter(|version| version["storage"] == true);
        let stored: Vec<_> = stored.map(|version| format!("`{}`", name(version))).collect();
        if stored.len() > 1 {
            bail!(
                "the CRD stores objects in several versions: {}\n\n\
                 hint: leave `storage: true` at one of them in the CRD first, which `kubectl get crd -o yaml` shows in a cluster",
                stored.join(", ")
            );
        }
        Ok(())
    }

    /// The names of the versions that are not served.
    pub fn unserved(&self) -> Vec<String> {
        let unserved = self.versions().filter(|version| version["served"] != true);
        unserved
            .map(|version| printable(version["name"].as_str().unwrap_or_default()))
            .collect()
    }
}

/// The command that takes a kind over again, with another CRD.
pub(super) const FROM_COPY: &str = "`kubewright create api --from-crd FILE --own --force`";

/// Refuses to take over a kind that the project has, and to add a version to one that was taken over.
pub(super) fn adopted_stays(kind: &Kind, new: &NewApi) -> Result<()> {
    match (kind.adopted, new.kind.adopted) {
        (false, true) => bail!(
            "`{}` of `{}` is a kind of this project already, with types that were not made from a CRD\n\n\
             hint: delete it first, with `kubewright delete api`",
            kind.name,
            kind.group
        ),
        (true, false) if kind.version(&new.kind.version).is_some() && new.storage => bail!(
            "`{0}` was taken over from a CRD, which selects the storage version\n\n\
             hint: move `storage: true` to `{1}` in a copy of the CRD (`make manifests` wrote one), and name that: {FROM_COPY}",
            kind.name,
            new.kind.version
        ),
        (true, false) => bail!(
            "`{0}` was taken over from a CRD, and a generated type would have other fields\n\n\
             hint: add the version to a copy of the CRD (`make manifests` wrote one), and name that: {FROM_COPY}; \
             for a controller, add `--resource=false`",
            kind.name
        ),
        _ => Ok(()),
    }
}
