//! Controllers of a kind: each with a name, and a file, of its own in the whole project, and with the version of the kind that it uses.

use super::change::NewApi;
use super::{ControllerName, Kind, Pattern, Project, Version, pattern, rust};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// A controller of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "pattern::Written", into = "pattern::Written")]
pub struct Controller {
    /// Unique in the project.
    pub name: ControllerName,
    /// The version of the kind whose type it reads.
    pub version: Version,
    /// The reconciler it starts from.
    pub pattern: Pattern,
}

/// The controller that `create api` was asked for.
#[derive(Clone, Debug)]
pub struct NewController {
    /// Its name; the kind gives one otherwise.
    pub name: Option<ControllerName>,
    /// The reconciler it starts from.
    pub pattern: Pattern,
}

impl Project {
    /// Adds a controller to the kind of `api`, or changes the one of that name where it may be replaced.
    pub(super) fn add_controller(&mut self, api: &NewApi, new: &NewController) -> Result<()> {
        let Some(at) = self.kinds.iter().position(|kind| kind.is(&api.group, &api.kind)) else {
            return Ok(());
        };
        let kind = &self.kinds[at];
        let name = match &new.name {
            Some(name) => name.clone(),
            // Run again without a name, the command means the controller that is there.
            None => match kind.controllers.iter().find(|it| it.version == api.version) {
                Some(first) => first.name.clone(),
                None => self.free_controller_name(kind)?,
            },
        };
        if let Some((owner, existing)) = self.controller_of_module(&name) {
            if !owner.is(&api.group, &api.kind) {
                bail!(
                    "controller `{name}` exists already, for `{}` of group `{}`\n\nhint: choose another `--controller-name`",
                    owner.name,
                    owner.group
                );
            }
            may_replace(existing, &name, (api, new))?;
        }
        let controllers = &mut self.kinds[at].controllers;
        controllers.retain(|other| other.name != name);
        controllers.push(Controller {
            name,
            version: api.version.clone(),
            pattern: new.pattern.clone(),
        });
        controllers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    /// `foobar`, or `test_foobar` when another group's kind has that.
    fn free_controller_name(&self, kind: &Kind) -> Result<ControllerName> {
        let lower = kind.name.as_str().to_ascii_lowercase();
        let group = rust::module_file(kind.group.as_str());
        let group = group.trim_matches('_');
        // The last is for groups that start with a digit.
        for name in [lower.clone(), format!("{group}_{lower}"), format!("{lower}_{group}")] {
            if let Ok(name) = name.parse()
                && self.controller_of_module(&name).is_none()
            {
                return Ok(name);
            }
        }
        bail!(
            "no free name for the controller of `{}`\n\nhint: choose one with `--controller-name`",
            kind.name
        )
    }

    /// The controller whose file a controller of that name would have, with its kind.
    fn controller_of_module(&self, name: &ControllerName) -> Option<(&Kind, &Controller)> {
        let mut all = self.controllers().into_iter();
        all.find(|(_, controller)| same_module(&controller.name, name))
    }

    /// The project with that controller at another version of its kind.
    pub fn with_controller_at(&self, name: &ControllerName, version: &Version) -> Result<Self> {
        let mut project = self.clone();
        let own = |kind: &&mut Kind| kind.controllers.iter().any(|controller| controller.name == *name);
        let Some(kind) = project.kinds.iter_mut().find(own) else {
            let names: Vec<_> = self
                .controllers()
                .iter()
                .map(|(_, it)| format!("`{}`", it.name))
                .collect();
            let hint = match names.is_empty() {
                true => "the project has no controllers".to_owned(),
                false => format!("the project has {}", names.join(", ")),
            };
            bail!("`{name}` is not a controller of this project\n\nhint: {hint}");
        };
        if kind.version(version).is_none() {
            bail!(
                "`{0}` has no version `{version}`, only {1}\n\n\
                 hint: add it with `kubewright create api --group {2} --version {version} --kind {0}`",
                kind.name,
                kind.version_names(),
                kind.group
            );
        }
        for controller in kind.controllers.iter_mut().filter(|it| it.name == *name) {
            controller.version = version.clone();
        }
        project.check()?;
        Ok(project)
    }
}

/// Refuses a controller in the place of one that differs, unless it replaces that.
fn may_replace(existing: &Controller, name: &ControllerName, (api, new): (&NewApi, &NewController)) -> Result<()> {
    if existing.name != *name {
        bail!(
            "controllers `{}` and `{name}` would share one file\n\nhint: choose another `--controller-name`",
            existing.name
        );
    }
    if existing.version != api.version {
        bail!(
            "controller `{name}` exists already, and uses version `{}` of `{}`\n\n\
             hint: move it with `kubewright edit controller {name} --version {}`, or choose another `--controller-name`",
            existing.version,
            api.kind,
            api.version
        );
    }
    if existing.pattern != new.pattern && !api.replace {
        bail!(
            "controller `{name}` exists already, with {}\n\nhint: choose another `--controller-name`, or start it afresh with `--force`",
            existing.pattern
        );
    }
    Ok(())
}

/// Whether two controllers would have one file.
pub(super) fn same_module(a: &ControllerName, b: &ControllerName) -> bool {
    rust::module_file(a.as_str()) == rust::module_file(b.as_str())
}
