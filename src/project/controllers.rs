//! Controllers of a kind. The name of each is unique in the project, and so is its file; each uses one version of the kind.

use super::change::NewApi;
use super::{ChildSuffix, ControllerName, Kind, Origin, Pattern, Project, Version, pattern, rust};
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
    /// The reconciler that it starts from.
    pub pattern: Pattern,
    /// Whether it starts with a finalizer and a cleanup function.
    pub finalizer: bool,
    /// The suffix of the names of its children, if it is not the default one.
    pub child_suffix: Option<ChildSuffix>,
}

impl Controller {
    /// Whether it has the default name of the first controller of its `kind`.
    pub fn is_first_of(&self, kind: &Kind) -> bool {
        is_first(kind, &self.name)
    }

    /// The suffix of the names of its children: the name of its `kind` for the first controller, and its own name for others.
    pub fn suffix(&self, kind: &Kind) -> String {
        match &self.child_suffix {
            Some(suffix) => suffix.to_string(),
            None => default_suffix(kind, &self.name),
        }
    }
}

/// The controller that `create api` adds.
#[derive(Clone, Debug)]
pub struct NewController {
    /// Its name; by default made from the kind.
    pub name: Option<ControllerName>,
    /// The reconciler it starts from.
    pub pattern: Pattern,
    /// Whether it starts with a finalizer. An existing controller that is not replaced keeps its own setting.
    pub finalizer: bool,
}

impl Project {
    /// Adds a controller to the kind of `api`, or replaces the controller of that name if `api` requires it.
    pub(super) fn add_controller(&mut self, api: &NewApi, new: &NewController) -> Result<()> {
        let Some(at) = self
            .kinds
            .iter()
            .position(|kind| kind.is(&api.kind.group, &api.kind.name))
        else {
            return Ok(());
        };
        let kind = &self.kinds[at];
        let name = match &new.name {
            Some(name) => name.clone(),
            // A second run without a name means the existing controller.
            None => match kind.main_controller(&api.kind.version) {
                // `--force` would overwrite a controller that the user has not named.
                Some(other) if api.replace && !other.is_first_of(kind) => bail!(
                    "`{}` has no controller of its own name in version `{}`, only `{}`, which `--force` would overwrite\n\n\
                     hint: name the controller with `--controller-name`",
                    kind.name,
                    api.kind.version,
                    other.name
                ),
                Some(main) => main.name.clone(),
                None => self.free_controller_name(kind)?,
            },
        };
        let mut finalizer = new.finalizer;
        let child_suffix = if let Some((owner, existing)) = self.controller_of_module(&name) {
            if !owner.is(&api.kind.group, &api.kind.name) {
                bail!(
                    "controller `{name}` exists already, for `{}` of group `{}`\n\nhint: choose another `--controller-name`",
                    owner.name,
                    owner.group
                );
            }
            may_replace(existing, &name, api, new)?;
            finalizer |= existing.finalizer && !api.replace;
            // Its children keep their names.
            existing.child_suffix.clone()
        } else {
            self.free_suffix(kind, &name)?
        };
        let controllers = &mut self.kinds[at].controllers;
        controllers.retain(|other| other.name != name);
        controllers.push(Controller {
            name,
            version: api.kind.version.clone(),
            pattern: new.pattern.clone(),
            finalizer,
            child_suffix,
        });
        controllers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    /// The project without the controller that `api` replaces.
    pub fn without_controller(&self, api: &NewApi) -> Self {
        let mut project = self.clone();
        let mut kinds = project.kinds.iter_mut();
        if let Some(kind) = kinds.find(|kind| kind.is(&api.kind.group, &api.kind.name)) {
            let main = kind.main_controller(&api.kind.version).map(|it| it.name.clone());
            let named = api.controller.as_ref().and_then(|it| it.name.clone());
            let gone = named.or(main);
            kind.controllers.retain(|it| Some(&it.name) != gone.as_ref());
        }
        project
    }

    /// `foobar`, or `test_foobar` if a kind of another group has that name.
    fn free_controller_name(&self, kind: &Kind) -> Result<ControllerName> {
        let is_free = |name: &ControllerName| self.controller_of_module(name).is_none();
        match names_of(kind).into_iter().find(is_free) {
            Some(name) => Ok(name),
            None => bail!(
                "no free name for the controller of `{}`\n\nhint: choose one with `--controller-name`",
                kind.name
            ),
        }
    }

    /// A suffix that no other controller has, because children of two kinds may have one kind and owners of one name; `None` for the
    /// default one.
    fn free_suffix(&self, kind: &Kind, name: &ControllerName) -> Result<Option<ChildSuffix>> {
        let taken: Vec<_> = self
            .controllers()
            .into_iter()
            .map(|(kind, other)| other.suffix(kind))
            .collect();
        let default = default_suffix(kind, name);
        let own = name.as_str().replace('_', "-");
        let with_kind = format!("{}-{own}", kind.name.as_str().to_ascii_lowercase());
        let free = |suffix: &String| suffix.parse::<ChildSuffix>().is_ok() && !taken.contains(suffix);
        match [default.clone(), own, with_kind].into_iter().find(free) {
            Some(suffix) if suffix == default => Ok(None),
            Some(suffix) => Ok(suffix.parse().ok()),
            None => bail!(
                "no free suffix for the names of the children of controller `{name}`\n\nhint: choose another `--controller-name`"
            ),
        }
    }

    /// Two controllers whose children have one suffix, as a merge can leave them. It is not an error, because running operators of 0.1.0 have such.
    pub fn same_suffix(&self) -> Option<[ControllerName; 2]> {
        let all = self.controllers();
        let pair = |(at, (kind, first)): (usize, &(&Kind, &Controller))| {
            let mut rest = all[at + 1..].iter();
            let (_, second) = rest.find(|(of, other)| other.suffix(of) == first.suffix(kind))?;
            Some([first.name.clone(), second.name.clone()])
        };
        all.iter().enumerate().find_map(pair)
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
            let flag = match kind.origin {
                Origin::Project => String::new(),
                Origin::Kubernetes => " --resource=false".to_owned(),
                Origin::Crd => format!(" --from-crd {}", self.crd_path(kind)),
            };
            bail!(
                "`{0}` has no version `{version}`, only {1}\n\n\
                 hint: add it with `kubewright create api --group {2} --version {version} --kind {0}{flag}`",
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

/// Refuses a controller that differs from the existing one of its name, unless it replaces that one.
fn may_replace(existing: &Controller, name: &ControllerName, api: &NewApi, new: &NewController) -> Result<()> {
    if existing.name != *name {
        bail!(
            "controllers `{}` and `{name}` would share one file\n\nhint: choose another `--controller-name`",
            existing.name
        );
    }
    if existing.version != api.kind.version {
        bail!(
            "controller `{name}` exists already, and uses version `{}` of `{}`\n\n\
             hint: move it with `kubewright edit controller {name} --version {}`, or choose another `--controller-name`",
            existing.version,
            api.kind.name,
            api.kind.version
        );
    }
    if existing.pattern != new.pattern && !api.replace {
        bail!(
            "controller `{name}` exists already, with {}\n\nhint: choose another `--controller-name`, or start it afresh with `--force`",
            existing.pattern
        );
    }
    if new.finalizer && !existing.finalizer && !api.replace {
        bail!(
            "controller `{name}` exists already, without a finalizer\n\n\
             hint: write `finalizer` and `cleanup` into its reconciler, or start it afresh with `--force`"
        );
    }
    Ok(())
}

/// The names to choose from for what is generated for a kind, the best first.
pub(super) fn names_of(kind: &Kind) -> Vec<ControllerName> {
    let lower = kind.name.as_str().to_ascii_lowercase();
    let group = rust::module_file(kind.group.as_str());
    let group = group.trim_matches('_');
    // The last one is for groups that start with a digit.
    let names = [lower.clone(), format!("{group}_{lower}"), format!("{lower}_{group}")];
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn is_first(kind: &Kind, name: &ControllerName) -> bool {
    let (file, lower) = (rust::module_file(name.as_str()), rust::module_file(kind.name.as_str()));
    file == lower || file == format!("{}_{lower}", rust::module_file(kind.group.as_str()))
}

fn default_suffix(kind: &Kind, name: &ControllerName) -> String {
    match is_first(kind, name) {
        true => kind.name.as_str().to_ascii_lowercase(),
        false => name.to_string(),
    }
}

/// Whether two controllers would have one file.
pub(super) fn same_module(a: &ControllerName, b: &ControllerName) -> bool {
    rust::module_file(a.as_str()) == rust::module_file(b.as_str())
}
