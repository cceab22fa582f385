//! The fields of types that patterns need: an existing type does not get them.

use super::change::NewApi;
use super::{KindVersion, Project};
use anyhow::{Result, bail};

impl Project {
    /// Refuses a pattern that needs other fields than the existing types have: the user owns those types. Versions have
    /// the same fields.
    pub(super) fn types_stay(&self, project: &Self, new: &NewApi) -> Result<()> {
        let Some((before, after)) = self
            .kind(&new.kind.group, &new.kind.name)
            .zip(project.kind(&new.kind.group, &new.kind.name))
        else {
            return Ok(());
        };
        let afresh = |version: &&KindVersion| new.replace && new.resource && version.name == new.kind.version;
        let mut stay = before.versions.iter().filter(|version| !afresh(version));
        let fields = if self.scales(before) != project.scales(after) {
            "the `replicas`"
        } else if self.runs(before) != project.runs(after) {
            "the `retries` and the result"
        } else if self.is_scheduled(before) != project.is_scheduled(after) {
            "the `schedule`"
        } else if self.is_stateful(before) != project.is_stateful(after) {
            "the `version`, `members` and `storage`"
        } else if self.has_backups(before) != project.has_backups(after) {
            "the `backups`"
        } else if before.of() != after.of() {
            "the `completionTime`"
        } else {
            return Ok(());
        };
        if let Some(version) = stay.next() {
            bail!(
                "`{}` exists already in version `{}`, without {fields} that this pattern needs in its spec and status\n\n\
                 hint: start that version afresh with `--force` and its type, which shows what is lost; or choose another kind",
                before.name,
                version.name
            );
        }
        Ok(())
    }
}
