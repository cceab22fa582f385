//! Controllers of a kind: each with a name, and a file, of its own in the whole project.

use super::change::NewController;
use super::{Api, Controller, ControllerName, Project, rust};
use anyhow::{Result, bail};

impl Project {
    /// Takes a controller to the kind at that place, or changes the one of that name where it may be replaced.
    pub(super) fn add_controller(&mut self, at: usize, new: &NewController, replace: bool) -> Result<()> {
        let name = match &new.name {
            Some(name) => name.clone(),
            // Run again without a name, the command means the controller that is there.
            None => match self.apis[at].controllers.first() {
                Some(first) => first.name.clone(),
                None => self.free_controller_name(at)?,
            },
        };
        if let Some(owner) = self.controller_owner(&name)
            && !owner.is(&self.apis[at].group, &self.apis[at].version, &self.apis[at].kind)
        {
            bail!(
                "controller `{name}` exists already, for `{}` of group `{}`\n\nhint: choose another `--controller-name`",
                owner.kind,
                owner.group
            );
        }
        let controllers = &mut self.apis[at].controllers;
        match controllers.iter_mut().find(|c| same_module(&c.name, &name)) {
            Some(existing) if existing.name != name => {
                bail!(
                    "controllers `{}` and `{name}` would share one file\n\nhint: choose another `--controller-name`",
                    existing.name
                )
            }
            Some(existing) if existing.pattern == new.pattern || replace => existing.pattern = new.pattern.clone(),
            Some(existing) => bail!(
                "controller `{name}` exists already, with {}\n\nhint: choose another `--controller-name`, or start it afresh with `--force`",
                existing.pattern
            ),
            None => {
                controllers.push(Controller {
                    name,
                    pattern: new.pattern.clone(),
                });
                controllers.sort_by(|a, b| a.name.cmp(&b.name));
            }
        }
        Ok(())
    }

    /// `foobar`, or `test_foobar` when another group's kind has that.
    fn free_controller_name(&self, at: usize) -> Result<ControllerName> {
        let api = &self.apis[at];
        let kind = api.kind.as_str().to_ascii_lowercase();
        let group = rust::module_file(api.group.as_str());
        let group = group.trim_matches('_');
        // The last is for groups that start with a digit.
        for name in [kind.clone(), format!("{group}_{kind}"), format!("{kind}_{group}")] {
            if let Ok(name) = name.parse()
                && self.controller_owner(&name).is_none()
            {
                return Ok(name);
            }
        }
        bail!(
            "no free name for the controller of `{}`\n\nhint: choose one with `--controller-name`",
            api.kind
        )
    }

    fn controller_owner(&self, name: &ControllerName) -> Option<&Api> {
        self.apis
            .iter()
            .find(|api| api.controllers.iter().any(|c| same_module(&c.name, name)))
    }
}

fn same_module(a: &ControllerName, b: &ControllerName) -> bool {
    rust::module_file(a.as_str()) == rust::module_file(b.as_str())
}
