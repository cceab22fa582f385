//! Changes of a project: a kind joins, a kind leaves. Whatever Kubernetes or Rust would refuse later is refused here, with the reason.

use super::listed::{replace_inputs, unknown};
use super::{
    Api, ControllerName, Definition, Group, Kind, Origin, Pattern, Plural, Project, ShortName, Version, pattern,
};
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
    /// The plural, if neither another version nor the rules of English give it.
    pub plural: Option<Plural>,
    /// What kubectl takes in place of the plural, if another version does not say.
    pub short_names: Option<Vec<ShortName>>,
    /// Whether its objects live outside of namespaces, if another version does not say.
    pub cluster: Option<bool>,
    /// Whether its type says that it is the version that is stored; the first version is, if it is not said.
    pub storage: Option<bool>,
    /// Whose kind it is.
    pub origin: Origin,
    /// The CRD of a kind that others own.
    pub definition: Option<Definition>,
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
    /// An internal kind of this one, with a controller unless that of another version serves it.
    fn internal(&self, kind: &Kind, project: &Project) -> Self {
        let served = project.served_by(&self.group, &self.version, kind).is_some();
        let known = !project.other_versions(&self.group, &self.version, kind).is_empty();
        let maker = project.api(&self.group, &self.version, &self.kind);
        Self {
            kind: kind.clone(),
            plural: None,
            short_names: None,
            cluster: maker.filter(|_| !known).map(|maker| maker.cluster),
            resource: true,
            controller: (!served).then_some(NewController {
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
            project = project.joined(&new.internal(kind, &project))?;
        }
        project.patterns_fit()?;
        self.types_stay(&project, new)?;
        Ok(project)
    }

    /// A type that is there is the user's: it does not get the fields that another pattern needs. Versions share theirs.
    fn types_stay(&self, project: &Self, new: &NewApi) -> Result<()> {
        let afresh = |api: &&Api| !(new.replace && api.is(&new.group, &new.version, &new.kind));
        for api in self.apis.iter().filter(afresh) {
            if (&api.group, &api.kind) == (&new.group, &new.kind) && self.scales(api) != project.scales(api) {
                bail!(
                    "`{}` exists already in version `{}`, without the `replicas` that this pattern needs in its spec and status\n\n\
                     hint: start that version afresh with `--force`, which shows what is lost; or choose another kind",
                    api.kind,
                    api.version
                );
            }
        }
        Ok(())
    }

    /// The same, for a kind whose type is of one piece with its controllers.
    pub(super) fn joined(&self, new: &NewApi) -> Result<Self> {
        let mut project = self.clone();
        let at = project
            .apis
            .iter()
            .position(|api| api.is(&new.group, &new.version, &new.kind));
        let at = match (at, new.resource) {
            (Some(at), _) if new.resource && project.apis[at].origin != new.origin => bail!(
                "`{}` of `{}/{}` exists already, and is {}",
                new.kind,
                new.group,
                new.version,
                project.apis[at].origin.owner()
            ),
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
            (None, false) => bail!(unknown(new)),
        };
        if let Some(controller) = &new.controller {
            pattern::fits(controller.pattern.name(), &new.kind, project.apis[at].origin)?;
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
}
