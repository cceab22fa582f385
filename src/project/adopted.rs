//! Kinds that the project takes over with their CRD: from kubebuilder, say. They are its own from then on; what is generated for them
//! assumes no field of their spec.

use super::change::NewApi;
use super::pattern::Name;
use super::printable::printable;
use super::{Controller, Definition, Group, Kind, Project, Version};
use anyhow::{Result, anyhow, bail};

impl Project {
    /// The group of a CRD that the project takes over, without the domain: all groups of its own kinds end with that.
    pub fn group_within(&self, definition: &Definition) -> Result<Group> {
        let full = definition.group()?;
        let within = full.as_str().strip_suffix(self.domain.as_str());
        let Some(group) = within.and_then(|rest| rest.strip_suffix('.')) else {
            let domain = full
                .as_str()
                .split_once('.')
                .map_or(full.as_str(), |(_, domain)| domain);
            bail!(
                "the group `{full}` is not one of this project: its groups end with `.{}`\n\n\
                 hint: take it over in a project of that domain: `kubewright init --domain {domain}`; \
                 without `--own` the kind stays that of its owner",
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
                 hint: leave out `--pattern`; for such kinds there is `minimal`",
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
}

impl Definition {
    /// The versions that are served, first the one that is stored.
    ///
    /// # Errors
    /// If the stored version is not served, or a version has no name that a module can have, or no schema with fields.
    pub fn versions_to_adopt(&self) -> Result<(Version, Vec<Version>)> {
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

    /// The names of the versions that are not served.
    pub fn unserved(&self) -> Vec<String> {
        let unserved = self.versions().filter(|version| version["served"] != true);
        unserved
            .map(|version| printable(version["name"].as_str().unwrap_or_default()))
            .collect()
    }
}

/// Refuses to take over a kind that the project has, and to add a version to one that was taken over.
pub(super) fn adopted_stays(kind: &Kind, new: &NewApi) -> Result<()> {
    match (kind.adopted, new.adopted) {
        (false, true) => bail!(
            "`{}` of `{}` is a kind of this project already, with types that were not made from a CRD\n\n\
             hint: delete it first, with `kubewright delete api`",
            kind.name,
            kind.group
        ),
        (true, false) => bail!(
            "`{0}` was taken over from a CRD, and a generated type would have other fields\n\n\
             hint: add the version to a copy of the CRD (`make manifests` wrote one), and name that: \
             `kubewright create api --from-crd FILE --own --force`; for a controller, add `--resource=false`",
            kind.name
        ),
        _ => Ok(()),
    }
}
