//! Changes of a project: a kind joins, a kind leaves. Whatever Kubernetes or Rust would refuse later is refused here, with the reason.

use super::{Api, Controller, ControllerName, Group, Kind, Pattern, Plural, Project, ShortName, Version, plural, rust};
use anyhow::{Result, bail};

/// What `create api` was asked for.
#[derive(Clone, Debug)]
pub struct NewApi {
    /// The group without the domain.
    pub group: Group,
    /// The version.
    pub version: Version,
    /// The kind.
    pub kind: Kind,
    /// The plural, if the rules of English do not give it.
    pub plural: Option<Plural>,
    /// What kubectl takes in place of the plural.
    pub short_names: Vec<ShortName>,
    /// Whether its objects live outside of namespaces.
    pub cluster: bool,
    /// Whether to make the type; without it the kind has to exist.
    pub resource: bool,
    /// The controller to make, if any.
    pub controller: Option<NewController>,
    /// Whether an existing kind takes these inputs in place of its own.
    pub replace: bool,
}

/// The controller that `create api` was asked for.
#[derive(Clone, Debug)]
pub struct NewController {
    /// Its name; the kind gives one otherwise.
    pub name: Option<ControllerName>,
    /// The reconciler it starts from.
    pub pattern: Pattern,
}

impl NewApi {
    /// An internal kind of this one, with a controller of its own.
    fn internal(&self, kind: &Kind) -> Self {
        Self {
            kind: kind.clone(),
            plural: None,
            short_names: Vec::new(),
            resource: true,
            controller: Some(NewController {
                name: None,
                pattern: Pattern::Child,
            }),
            replace: false,
            ..self.clone()
        }
    }
}

impl Project {
    /// The project with that kind and controller in it; itself when it has them already.
    pub fn with_api(&self, new: &NewApi) -> Result<Self> {
        let mut project = self.joined(new)?;
        let pattern = new.controller.as_ref().map(|controller| &controller.pattern);
        if let Some(kind) = pattern.and_then(Pattern::internal_kind)
            && project.api(&new.group, &new.version, kind).is_none()
        {
            project = project.joined(&new.internal(kind))?;
        }
        project.patterns_fit()?;
        let scales = |project: &Self| {
            let api = project.api(&new.group, &new.version, &new.kind);
            api.map(|api| project.scales(api))
        };
        // A type that is there is the user's: it does not get the fields that another pattern needs.
        if !new.replace && scales(self).is_some() && scales(self) != scales(&project) {
            bail!(
                "`{}` exists already, without the `replicas` that this pattern needs in its spec and status\n\n\
                 hint: start the kind afresh with `--force`, which shows what is lost; or choose another kind",
                new.kind
            );
        }
        Ok(project)
    }

    /// The same, for a kind whose type is of one piece with its controllers.
    pub(super) fn joined(&self, new: &NewApi) -> Result<Self> {
        let mut project = self.clone();
        let at = project
            .apis
            .iter()
            .position(|api| api.is(&new.group, &new.version, &new.kind));
        let at = match (at, new.resource) {
            (Some(at), true) => {
                let wanted = self.checked_api(new)?;
                replace_inputs(&mut project.apis[at], wanted, new.replace)?;
                at
            }
            (Some(at), false) => at,
            (None, true) => {
                let api = self.checked_api(new)?;
                let order = |api: &Api| (api.group.clone(), api.version.clone(), api.kind.clone());
                let at = project.apis.partition_point(|other| order(other) < order(&api));
                project.apis.insert(at, api);
                at
            }
            (None, false) => bail!(
                "`{}` of `{}/{}` is not a kind of this project, and controllers for foreign kinds are not built yet\n\n\
                 hint: leave out `--resource=false` to make the kind here",
                new.kind,
                self.full_group(&new.group),
                new.version
            ),
        };
        if let Some(controller) = &new.controller {
            project.add_controller(at, controller, new.replace)?;
        }
        Ok(project)
    }

    /// The project without that kind and its controllers.
    pub fn without_api(&self, group: &Group, version: &Version, kind: &Kind) -> Result<Self> {
        if self.api(group, version, kind).is_none() {
            let known: Vec<_> = self
                .apis
                .iter()
                .map(|a| format!("--group {} --version {} --kind {}", a.group, a.version, a.kind))
                .collect();
            let hint = match known.is_empty() {
                true => "the project has no kinds".to_owned(),
                false => format!("the project has {}", known.join(", ")),
            };
            bail!(
                "`{kind}` of `{}/{version}` is not a kind of this project\n\nhint: {hint}",
                self.full_group(group)
            );
        }
        let makers = self
            .api(group, version, kind)
            .map(|api| self.makers(api))
            .unwrap_or_default();
        if let Some(maker) = makers.first() {
            bail!(
                "`{kind}` is what the controller of `{0}` turns its objects into\n\n\
                 hint: delete `{0}` first, or give it another pattern with `create api --force`",
                maker.kind
            );
        }
        Ok(self.forgetting(group, version, kind))
    }

    /// The project as if that kind were not in it, whoever counts on it.
    pub fn forgetting(&self, group: &Group, version: &Version, kind: &Kind) -> Self {
        let mut project = self.clone();
        project.apis.retain(|api| !api.is(group, version, kind));
        project
    }

    /// The kind that was asked for, after every check against the others.
    fn checked_api(&self, new: &NewApi) -> Result<Api> {
        let api = Api {
            group: new.group.clone(),
            version: new.version.clone(),
            kind: new.kind.clone(),
            plural: new.plural.clone().unwrap_or_else(|| plural(&new.kind)),
            short_names: new.short_names.clone(),
            cluster: new.cluster,
            controllers: Vec::new(),
        };
        if api.cluster && self.namespaced {
            bail!(
                "`{}` cannot be cluster-scoped: the operator of a `--namespaced` project sees its own namespace alone\n\n\
                 hint: leave out `--cluster`",
                api.kind
            );
        }
        let crd = format!("{}.{}", api.plural, self.full_group(&api.group));
        if crd.len() > 253 {
            bail!(
                "`{crd}` has {} characters; Kubernetes takes names of at most 253",
                crd.len()
            );
        }
        self.apis
            .iter()
            .filter(|other| !other.is(&api.group, &api.version, &api.kind))
            .try_for_each(|other| clash(&api, other))?;
        Ok(api)
    }

    fn add_controller(&mut self, at: usize, new: &NewController, replace: bool) -> Result<()> {
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

/// An existing kind keeps its inputs unless they are to be replaced.
fn replace_inputs(api: &mut Api, wanted: Api, replace: bool) -> Result<()> {
    let differs = [
        ("--plural", api.plural != wanted.plural),
        ("--short-name", api.short_names != wanted.short_names),
        ("--cluster", api.cluster != wanted.cluster),
    ];
    let differs: Vec<_> = differs
        .iter()
        .filter(|(_, differs)| *differs)
        .map(|(flag, _)| format!("`{flag}`"))
        .collect();
    if !differs.is_empty() && !replace {
        bail!(
            "`{}` exists already, with another {}\n\nhint: repeat its own flags, add a controller with `--resource=false`, or start it afresh with `--force`",
            api.kind,
            differs.join(", ")
        );
    }
    *api = Api {
        controllers: std::mem::take(&mut api.controllers),
        ..wanted
    };
    Ok(())
}

/// Refuses what Kubernetes' names or Rust's modules could not tell apart.
fn clash(api: &Api, other: &Api) -> Result<()> {
    if api.group != other.group {
        if rust::module_file(api.group.as_str()) == rust::module_file(other.group.as_str()) {
            bail!(
                "groups `{}` and `{}` would share the Rust module `{}`",
                api.group,
                other.group,
                rust::module_file(api.group.as_str())
            );
        }
        return Ok(());
    }
    if api.kind == other.kind {
        bail!(
            "`{}` exists already in version `{}`, and a second version needs a conversion between them, which is not built yet\n\n\
             hint: choose another kind, or delete the older version with `kubewright delete api --group {} --version {} --kind {}`",
            api.kind,
            other.version,
            other.group,
            other.version,
            other.kind
        );
    }
    // Within a group the API server keeps one table of plurals, singulars and short names, and one of kinds and list kinds.
    let words = |api: &Api| {
        let mut words = vec![api.plural.to_string(), api.kind.as_str().to_ascii_lowercase()];
        words.extend(api.short_names.iter().map(ToString::to_string));
        words
    };
    let theirs = words(other);
    if let Some(word) = words(api).iter().find(|word| theirs.contains(word)) {
        bail!(
            "`{}` and `{}` of group `{}` would both be called `{word}`\n\nhint: choose another `--plural`, `--short-name` or `--kind`",
            api.kind,
            other.kind,
            api.group
        );
    }
    let list = |api: &Api| format!("{}List", api.kind);
    if list(api) == other.kind.as_str() || list(other) == api.kind.as_str() {
        bail!(
            "`{}` and `{}` of group `{}`: one would be the list kind of the other",
            api.kind,
            other.kind,
            api.group
        );
    }
    Ok(())
}
