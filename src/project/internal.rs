//! Requirements of patterns: an internal kind exists and fits, and only one controller of a kind counts replicas.

use super::{Api, Controller, Kind, Pattern, Project, Version};
use anyhow::{Result, bail};

impl Project {
    /// Refuses controllers whose patterns exclude each other.
    pub(super) fn patterns_fit(&self) -> Result<()> {
        for kind in &self.kinds {
            for controller in &kind.controllers {
                self.internal_kind_fits(kind, controller)?;
                self.backups_fit(kind, controller)?;
            }
        }
        self.kinds
            .iter()
            .try_for_each(|kind| self.one_scales(kind).and_then(|()| one_writes(kind)))
    }

    /// The internal kind whose objects the controller creates, in the version that the controller uses.
    pub fn internal(&self, kind: &Kind, controller: &Controller) -> Option<Api<'_>> {
        self.api(&kind.group, &controller.version, controller.pattern.internal_kind()?)
    }

    /// The kinds whose controllers create objects of this one, in that version or in any.
    pub(super) fn makers(&self, of: &Kind, version: Option<&Version>) -> Vec<&Kind> {
        let makes = |kind: &&Kind| {
            kind.controllers.iter().any(|controller| {
                self.internal(kind, controller)
                    .is_some_and(|made| made.kind == of && version.is_none_or(|version| made.version.name == *version))
            })
        };
        self.kinds.iter().filter(makes).collect()
    }

    fn internal_kind_fits(&self, kind: &Kind, controller: &Controller) -> Result<()> {
        let Some(made) = controller.pattern.internal_kind() else {
            return Ok(());
        };
        let (name, own) = (&controller.name, &kind.name);
        let Some(internal) = self.internal(kind, controller) else {
            bail!(
                "controller `{name}` makes `{made}`, which is not a kind of `{0}/{1}`\n\n\
                 hint: add it with `kubewright create api --group {2} --version {1} --kind {made}`",
                self.full_group(&kind.group),
                controller.version,
                kind.group
            );
        };
        if self.leads_to(internal.kind, kind, self.kinds.len()) {
            let way = match own == made {
                true => String::new(),
                false => format!(", by way of `{made}`"),
            };
            bail!(
                "the controller of `{own}` would create objects of `{own}`{way}\n\nhint: choose another `--internal-kind`"
            );
        }
        if self.runs(internal.kind) {
            bail!(
                "objects of `{made}` run once to completion, and pattern `internal` needs a kind whose objects keep running\n\n\
                 hint: choose another `--internal-kind`"
            );
        }
        if self.is_stateful(internal.kind) {
            bail!(
                "objects of `{made}` have members with storage, and `{own}` has no such fields\n\n\
                 hint: choose another `--internal-kind`"
            );
        }
        if self.is_scheduled(internal.kind) {
            bail!(
                "objects of `{made}` have a schedule, and `{own}` has no such fields\n\n\
                 hint: choose another `--internal-kind`"
            );
        }
        if internal.kind.of().is_some() {
            bail!(
                "objects of `{made}` are one backup or restore, and pattern `internal` needs a kind whose objects keep running\n\n\
                 hint: choose another `--internal-kind`"
            );
        }
        if internal.kind.cluster && !kind.cluster {
            bail!(
                "`{own}` is namespaced and `{made}` is cluster-scoped, so objects of `{own}` cannot own objects of `{made}`\n\n\
                 hint: choose another `--internal-kind`, or make `{own}` with `--cluster`"
            );
        }
        let same = |other: &&Controller| other.name != *name && other.pattern == controller.pattern;
        if let Some(other) = kind.controllers.iter().find(same) {
            bail!(
                "controllers `{name}` and `{}` of `{own}` would both make its `{made}`\n\nhint: choose another `--internal-kind`",
                other.name
            );
        }
        Ok(())
    }

    /// Whether controllers of `from` create objects of `to`, directly or through at most so many other kinds.
    fn leads_to(&self, from: &Kind, to: &Kind, steps: usize) -> bool {
        let controllers = from.controllers.iter();
        let mut made = controllers.filter_map(|controller| self.internal(from, controller));
        from.is(&to.group, &to.name) || steps > 0 && made.any(|next| self.leads_to(next.kind, to, steps - 1))
    }

    fn one_scales(&self, kind: &Kind) -> Result<()> {
        let counts = |controller: &&Controller| self.counts(kind, controller);
        let names: Vec<_> = kind.controllers.iter().filter(counts).map(|it| &it.name).collect();
        match names[..] {
            [one, other, ..] => bail!(
                "controllers `{one}` and `{other}` of `{}` would both write its `status.replicas`\n\n\
                 hint: choose another `--pattern` for one of them",
                kind.name
            ),
            _ => Ok(()),
        }
    }
}

fn one_writes(kind: &Kind) -> Result<()> {
    only_one(kind, "its result", Pattern::runs)?;
    only_one(kind, "its `status.lastScheduleTime`", Pattern::is_scheduled)?;
    only_one(kind, "its `status.members`", Pattern::is_stateful)?;
    only_one(kind, "its `status.completionTime`", |pattern| pattern.of().is_some())
}

/// Refuses two controllers of a kind that write the same part of its status.
fn only_one(kind: &Kind, what: &str, writes: impl Fn(&Pattern) -> bool) -> Result<()> {
    let controllers = kind.controllers.iter().filter(|controller| writes(&controller.pattern));
    match controllers.collect::<Vec<_>>()[..] {
        [one, other, ..] => bail!(
            "controllers `{}` and `{}` of `{}` would both write {what}\n\n\
             hint: choose another `--pattern` for one of them",
            one.name,
            other.name,
            kind.name
        ),
        _ => Ok(()),
    }
}
