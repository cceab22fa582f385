//! The kinds beside a stateful one that back up and restore its objects.

use super::change::NewApi;
use super::{Api, Controller, Kind, KindName, Pattern, Project};
use anyhow::{Result, bail};

/// The kinds that `--backups` adds to a stateful kind, each with its pattern.
pub(super) fn beside(kind: &KindName) -> Result<[(KindName, Pattern); 2]> {
    Ok([
        (format!("{kind}Backup").parse()?, Pattern::Backup(kind.clone())),
        (format!("{kind}Restore").parse()?, Pattern::Restore(kind.clone())),
    ])
}

impl Kind {
    /// The stateful kind of the same group that this kind backs up or restores.
    pub fn of(&self) -> Option<&KindName> {
        self.controllers.iter().find_map(|controller| controller.pattern.of())
    }

    /// The pattern by which it does.
    pub fn about(&self) -> Option<&'static str> {
        let mut controllers = self.controllers.iter();
        let own = controllers.find(|controller| controller.pattern.of().is_some())?;
        Some(own.pattern.as_str())
    }
}

impl Project {
    /// The stateful kind that a controller backs up or restores, with its own controller.
    pub fn backed_up(&self, kind: &Kind, controller: &Controller) -> Option<(&Kind, &Controller)> {
        let kind = self.kind(&kind.group, controller.pattern.of()?)?;
        let mut controllers = kind.controllers.iter();
        Some((kind, controllers.find(|own| own.pattern.has_backups())?))
    }

    /// The kinds for the backups and for the restores of a kind, in the versions that their controllers use.
    pub fn backup_kinds(&self, kind: &Kind) -> [Option<Api<'_>>; 2] {
        [Pattern::Backup(kind.name.clone()), Pattern::Restore(kind.name.clone())].map(|pattern| {
            let group = self.kinds.iter().filter(|other| other.group == kind.group);
            let mut all = group.flat_map(|kind| kind.controllers.iter().map(move |controller| (kind, controller)));
            let (kind, controller) = all.find(|(_, controller)| controller.pattern == pattern)?;
            let version = kind.version(&controller.version)?;
            Some(Api { kind, version })
        })
    }

    /// The project with the kinds for backups that a stateful kind of `new` asks for.
    pub(super) fn with_backups(mut self, new: &NewApi) -> Result<Self> {
        for (name, pattern) in beside(&new.kind.name)? {
            let before = self.clone();
            let beside = new.another(&name, pattern, &self);
            self = self.joined(&beside)?;
            before.types_stay(&self, &beside)?;
        }
        Ok(self)
    }

    /// Refuses a stateful kind with backups without their kinds, and these kinds without it.
    pub(super) fn backups_fit(&self, kind: &Kind, controller: &Controller) -> Result<()> {
        if let Some(of) = controller.pattern.of()
            && self.backed_up(kind, controller).is_none()
        {
            bail!(
                "objects of `{0}` are about `{of}`, which is not a kind with backups\n\n\
                 hint: keep `--backups`, or delete `{of}` first, with `kubewright delete api --group {1} --kind {of} --all-versions`, \
                 which deletes `{0}` too",
                kind.name,
                kind.group
            );
        }
        if controller.pattern.has_backups() {
            for ((name, pattern), found) in beside(&kind.name)?.into_iter().zip(self.backup_kinds(kind)) {
                if found.is_none() {
                    bail!(
                        "`{0}` needs a kind `{name}` whose controller has {pattern}, and the existing one has another\n\n\
                         hint: choose another kind, or leave out `--backups`",
                        kind.name
                    );
                }
            }
        }
        Ok(())
    }
}
