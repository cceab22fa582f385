//! The storage version of a kind: it changes with `create api --storage`, or with the CRD from which a kind is adopted,
//! and is not deleted while clusters may have objects that are stored in it.

use super::adopted::FROM_COPY;
use super::{Group, Kind, KindName, Project, Version};
use anyhow::{Result, bail};

impl Kind {
    /// Makes this version the stored one, in place of the present one.
    pub(super) fn store(&mut self, name: &Version) {
        for version in &mut self.versions {
            version.former_storage |= version.storage;
            version.storage = version.name == *name;
            version.former_storage &= !version.storage;
        }
    }
}

impl Project {
    /// Refuses to delete a version in which objects are stored, or may be stored unless they are `migrated`; and refuses `migrated` for
    /// a version that needs no migration. The last version is deleted with its kind and all objects. What clusters have is not known
    /// here; an API server refuses a CRD without a version that its `status.storedVersions` names.
    pub fn may_drop(&self, group: &Group, version: &Version, name: &KindName, migrated: bool) -> Result<()> {
        let kind = self.kind(group, name).filter(|kind| kind.origin.is_project());
        let others = kind.and_then(|kind| kind.versions.iter().rfind(|other| other.name != *version));
        let (Some(kind), Some(other)) = (kind, others) else {
            return needs_no_migration(version, name, migrated);
        };
        let Some(dropped) = kind.version(version) else {
            return Ok(());
        };
        if dropped.storage {
            let other = &other.name;
            let how = match kind.adopted {
                true => format!("`storage: true` at `{other}` in a copy of the CRD, and {FROM_COPY}"),
                false => format!("`kubewright create api --group {group} --version {other} --kind {name} --storage`"),
            };
            bail!(
                "`{version}` is the storage version of `{name}`\n\n\
                 hint: choose another storage version first, with {how}; or delete the whole kind with `--all-versions`"
            );
        }
        match dropped.former_storage {
            true if !migrated => bail!(
                "objects of `{name}` were stored in `{version}`, and a cluster may still have some\n\n\
                 hint: run `make migrate-storage` on every cluster; where that is done, add `--migrated`"
            ),
            true => Ok(()),
            false => needs_no_migration(version, name, migrated),
        }
    }
}

/// Refuses `migrated`, which has no effect on such a version.
fn needs_no_migration(version: &Version, name: &KindName, migrated: bool) -> Result<()> {
    match migrated {
        false => Ok(()),
        true => bail!(
            "`--migrated` has no effect on `{version}`: no objects of `{name}` have to be migrated before it is deleted\n\n\
             hint: leave out `--migrated`"
        ),
    }
}
