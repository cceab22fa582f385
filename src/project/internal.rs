//! What patterns ask of the kinds: that an internal kind is there and fits, and that one controller alone counts replicas.

use super::{Api, Controller, Project};
use anyhow::{Result, bail};

impl Project {
    /// Refuses what the controllers of different patterns could not live with.
    pub(super) fn patterns_fit(&self) -> Result<()> {
        for api in &self.apis {
            for controller in &api.controllers {
                self.internal_kind_fits(api, controller)?;
            }
        }
        self.apis.iter().try_for_each(|api| self.one_scales(api))
    }

    /// The kind that a controller of this one makes objects of.
    pub fn internal(&self, api: &Api, controller: &Controller) -> Option<&Api> {
        self.api(&api.group, &api.version, controller.pattern.internal_kind()?)
    }

    /// The controllers of other kinds that make objects of this one.
    pub(super) fn makers(&self, of: &Api) -> Vec<&Api> {
        let makes = |api: &&Api| {
            api.controllers
                .iter()
                .any(|controller| self.internal(api, controller) == Some(of))
        };
        self.apis.iter().filter(makes).collect()
    }

    fn internal_kind_fits(&self, api: &Api, controller: &Controller) -> Result<()> {
        let Some(kind) = controller.pattern.internal_kind() else {
            return Ok(());
        };
        let (name, own) = (&controller.name, &api.kind);
        let Some(internal) = self.internal(api, controller) else {
            bail!(
                "controller `{name}` makes `{kind}`, which is not a kind of `{}/{}`",
                self.full_group(&api.group),
                api.version
            );
        };
        if self.leads_to(internal, api, self.apis.len()) {
            bail!(
                "`{own}` would be made of `{kind}`, and `{kind}` of `{own}`\n\nhint: choose another `--internal-kind`"
            );
        }
        if internal.cluster && !api.cluster {
            bail!(
                "`{own}` lives in namespaces and `{kind}` does not, so the one cannot own the other\n\n\
                 hint: choose another `--internal-kind`, or make `{own}` with `--cluster`"
            );
        }
        let same = |other: &&Controller| other.name != *name && other.pattern == controller.pattern;
        let mut all = self.controllers_of(api).map(|(_, controller)| controller);
        if let Some(other) = all.find(same) {
            bail!(
                "controllers `{name}` and `{}` of `{own}` would both make its `{kind}`\n\nhint: choose another `--internal-kind`",
                other.name
            );
        }
        Ok(())
    }

    /// Whether objects of `from` are turned, over at most so many steps, into objects of `to`.
    fn leads_to(&self, from: &Api, to: &Api, steps: usize) -> bool {
        let controllers = self.controllers_of(from);
        let mut made = controllers.filter_map(|(api, controller)| self.internal(api, controller));
        (&from.group, &from.kind) == (&to.group, &to.kind)
            || steps > 0 && made.any(|next| self.leads_to(next, to, steps - 1))
    }

    fn one_scales(&self, api: &Api) -> Result<()> {
        let names: Vec<_> = self
            .controllers_of(api)
            .filter(|(api, controller)| self.counts(api, controller))
            .map(|(_, controller)| &controller.name)
            .collect();
        match names[..] {
            [one, other, ..] => bail!(
                "controllers `{one}` and `{other}` of `{}` would both write its `status.replicas`\n\n\
                 hint: choose another `--pattern` for one of them",
                api.kind
            ),
            _ => Ok(()),
        }
    }
}
