//! Changes of a project: a kind or a version is added or deleted. Changes that Kubernetes or Rust would refuse later
//! are refused here, with the reason.

use super::adopted::adopted_stays;
use super::check::unknown;
use super::controllers::NewController;
use super::policies::PolicyForm;
use super::{Group, Kind, KindName, KindVersion, Pattern, Project, RequestedKind, Version, pattern};
use anyhow::{Result, bail};

/// The arguments of `create api`.
#[derive(Clone, Debug)]
pub struct NewApi {
    /// The kind, in the version to add.
    pub kind: RequestedKind,
    /// Whether objects are stored in this version from now on. The first version of a kind is stored anyway.
    pub storage: bool,
    /// Whether to create the type; otherwise the kind has to exist in that version.
    pub resource: bool,
    /// The controller to create, if any.
    pub controller: Option<NewController>,
    /// Whether an existing kind or controller gets these inputs in place of its own.
    pub replace: bool,
}

impl NewApi {
    /// The same for another kind of its group, with a controller of this pattern unless it has one.
    pub(super) fn another(&self, name: &KindName, pattern: Pattern, project: &Project) -> Self {
        let (group, version) = (&self.kind.group, &self.kind.version);
        let known = project.kind(group, name);
        let served = known.is_some_and(|kind| !kind.controllers.is_empty());
        let maker = project.kind(group, &self.kind.name);
        Self {
            kind: RequestedKind {
                cluster: maker.filter(|_| known.is_none()).map(|maker| maker.cluster),
                origin: self.kind.origin,
                ..RequestedKind::own(group.clone(), version.clone(), name.clone())
            },
            resource: true,
            controller: (!served).then_some(NewController {
                name: None,
                pattern,
                finalizer: false,
            }),
            storage: false,
            replace: false,
        }
    }
}

impl Project {
    /// The project with that kind, version and controller; unchanged if it has them already.
    pub fn with_api(&self, new: &NewApi) -> Result<Self> {
        self.adopted_versions_stay(new)?;
        let mut project = self.joined(new)?;
        let pattern = new.controller.as_ref().map(|controller| &controller.pattern);
        if let Some(kind) = pattern.and_then(Pattern::internal_kind)
            && project.api(&new.kind.group, &new.kind.version, kind).is_none()
        {
            project = project.joined(&new.another(kind, Pattern::Child, &project))?;
        }
        if pattern.is_some_and(Pattern::has_backups) {
            project = project.with_backups(new)?;
        }
        project.check()?;
        self.types_stay(&project, new)?;
        Ok(project)
    }

    /// Adds the kind, the version and the controller that are missing, without checking the result.
    pub(super) fn joined(&self, new: &NewApi) -> Result<Self> {
        let mut project = self.clone();
        match project
            .kinds
            .iter_mut()
            .find(|kind| kind.is(&new.kind.group, &new.kind.name))
        {
            Some(kind) if new.resource => extend(kind, new, self)?,
            Some(kind) if kind.version(&new.kind.version).is_some() => {}
            None if new.resource => {
                project.kinds.push(new.kind.alone());
                project.sort();
            }
            _ => bail!(unknown(&new.kind.group, &new.kind.version, &new.kind.name)),
        }
        for version in &new.kind.others {
            let other = NewApi {
                kind: RequestedKind {
                    version: version.clone(),
                    others: Vec::new(),
                    ..new.kind.clone()
                },
                controller: None,
                storage: false,
                ..new.clone()
            };
            project = project.joined(&other)?;
        }
        if let Some(controller) = &new.controller {
            pattern::fits(controller.pattern.name(), &new.kind.name, new.kind.origin)?;
            project.add_controller(new, controller)?;
        }
        Ok(project)
    }

    /// The project without that version of a kind, or without the whole kind and its controllers.
    pub fn without(&self, group: &Group, version: Option<&Version>, name: &KindName) -> Result<Self> {
        let kind = self.kind(group, name);
        let found = kind.filter(|kind| version.is_none_or(|version| kind.version(version).is_some()));
        let Some(kind) = found else {
            let of = version.map_or(self.full_group(group), |it| format!("{}/{it}", self.full_group(group)));
            bail!(
                "`{name}` of `{of}` is not a kind of this project\n\nhint: {}",
                self.listed()
            );
        };
        let rest = version.filter(|version| !kind.has_only(version));
        if let (None, Some(of)) = (rest, kind.of()) {
            bail!(
                "objects of `{of}` are backed up and restored by those of `{name}`\n\n\
                 hint: delete `{of}`, which deletes `{name}` too"
            );
        }
        if let Some(maker) = self.makers(kind, version).first() {
            bail!(
                "the controller of `{0}` makes objects of `{name}`\n\n\
                 hint: delete `{0}` first, or give it another pattern with `create api --force`",
                maker.name
            );
        }
        if let Some(version) = rest
            && let Some(controller) = kind.controllers.iter().find(|it| it.version == *version)
        {
            let other = kind.versions.iter().find(|other| other.name != *version);
            bail!(
                "controller `{0}` uses version `{version}` of `{name}`\n\n\
                 hint: move it first, with `kubewright edit controller {0} --version {1}`; or delete the whole kind with `--all-versions`",
                controller.name,
                other.map_or("", |other| other.name.as_str())
            );
        }
        if let Some(version) = rest {
            unused(kind, version)?;
        }
        let mut project = match version {
            Some(version) => self.forgetting(group, version, name),
            None => self.clone(),
        };
        if rest.is_none() {
            let of = |other: &Kind| other.group == *group && other.of() == Some(name);
            project.kinds.retain(|kind| !kind.is(group, name) && !of(kind));
        }
        Ok(project)
    }

    /// The flags for every kind of the project, for a hint.
    pub fn listed(&self) -> String {
        let flags: Vec<_> = self
            .apis()
            .map(|api| {
                let (kind, version) = (api.kind, &api.version.name);
                format!("--group {} --version {version} --kind {}", kind.group, kind.name)
            })
            .collect();
        match flags.is_empty() {
            true => "the project has no kinds".to_owned(),
            false => format!("the project has {}", flags.join(", ")),
        }
    }

    /// The project without that version of a kind and the controllers, webhooks, conversions and policies that use it; without the kind if that was its only version.
    pub fn forgetting(&self, group: &Group, version: &Version, name: &KindName) -> Self {
        let mut project = self.clone();
        for kind in project.kinds.iter_mut().filter(|kind| kind.is(group, name)) {
            kind.versions.retain(|own| own.name != *version);
            kind.controllers.retain(|controller| controller.version != *version);
            kind.webhooks = kind.webhooks.take().filter(|webhooks| webhooks.version != *version);
            kind.conversion = kind
                .conversion
                .take()
                .and_then(|conversion| conversion.without(version));
            for form in PolicyForm::ALL {
                let policy = kind.policy_mut(form);
                *policy = policy.take().filter(|policy| policy.version != *version);
            }
        }
        project.kinds.retain(|kind| !kind.versions.is_empty());
        project
    }

    /// Sorts kinds, versions and controllers, as PROJECT and managed files list them.
    pub(super) fn sort(&mut self) {
        self.kinds.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)));
        for kind in &mut self.kinds {
            kind.versions.sort_by(|a, b| a.name.cmp(&b.name));
            kind.controllers.sort_by(|a, b| a.name.cmp(&b.name));
        }
    }
}

/// Refuses a version that the kind's webhooks, its conversion or its policy use.
fn unused(kind: &Kind, version: &Version) -> Result<()> {
    let Kind { group, name, .. } = kind;
    let delete = format!("kubewright delete webhook --group {group} --kind {name}");
    if kind
        .webhooks
        .as_ref()
        .is_some_and(|webhooks| webhooks.version == *version)
    {
        bail!(
            "the webhooks of `{name}` use version `{version}`\n\n\
             hint: delete them first, with `{delete}`; or delete the whole kind with `--all-versions`"
        );
    }
    if let Some(conversion) = kind.conversion.as_ref().filter(|it| it.has(version)) {
        let spoke = match conversion.hub == *version {
            true => String::new(),
            false => format!(" --spoke {version}"),
        };
        bail!(
            "the operator converts objects of `{name}` to and from `{version}`\n\n\
             hint: delete that first, with `{delete} --conversion{spoke}`; or delete the whole kind with `--all-versions`"
        );
    }
    if let Some((form, _)) = kind.policies().find(|(_, policy)| policy.version == *version) {
        bail!(
            "the {what} of `{name}` uses version `{version}`\n\n\
             hint: delete it first, with `{delete} {flag}`; or delete the whole kind with `--all-versions`",
            what = form.noun(),
            flag = form.flag()
        );
    }
    Ok(())
}

/// Adds a version to an existing kind, unless it has it. Properties that versions share do not change, except with
/// `replace` if this is the only version.
fn extend(kind: &mut Kind, new: &NewApi, project: &Project) -> Result<()> {
    if kind.origin != new.kind.origin {
        bail!(
            "the project has `{}` of `{}` already, as {}: PROJECT names a kind by group and name\n\nhint: choose another `--group` or `--kind`",
            kind.name,
            kind.group,
            kind.origin.owner()
        );
    }
    adopted_stays(kind, new)?;
    if new.replace && kind.has_only(&new.kind.version) {
        *kind = Kind {
            controllers: std::mem::take(&mut kind.controllers),
            webhooks: kind.webhooks.take(),
            conversion: kind.conversion.take(),
            policy: kind.policy.take(),
            mutating_policy: kind.mutating_policy.take(),
            ..new.kind.alone()
        };
        return Ok(());
    }
    if let (true, true, Some(names)) = (new.kind.adopted, new.replace, &new.kind.short_names) {
        kind.short_names = names.clone();
    }
    shared_stays(kind, new)?;
    for version in kind
        .versions
        .iter_mut()
        .filter(|it| new.replace && it.name == new.kind.version)
    {
        version.types = None;
    }
    definition_stays(kind, new, project)?;
    if kind.version(&new.kind.version).is_none() {
        let storage = !new.kind.origin.is_project() || !kind.versions.iter().any(|version| version.storage);
        kind.versions.push(KindVersion::new(new.kind.version.clone(), storage));
        kind.versions.sort_by(|a, b| a.name.cmp(&b.name));
    }
    if new.storage {
        kind.store(&new.kind.version);
    }
    Ok(())
}

/// Refuses another CRD than the one that the types were made from.
fn definition_stays(kind: &mut Kind, new: &NewApi, project: &Project) -> Result<()> {
    let (Some(there), Some(given)) = (&kind.definition, &new.kind.definition) else {
        return Ok(());
    };
    if there.text == given.text || (new.kind.adopted && new.replace) {
        kind.definition = Some(given.clone());
        return Ok(());
    }
    let (path, name) = (project.crd_path(kind), &kind.name);
    match new.kind.adopted {
        true => bail!(
            "`{name}` was taken over from another CRD, which is in `{path}`\n\n\
             hint: its types are yours: change them, and run `make manifests`; or start afresh with `--force`, which shows what is lost"
        ),
        false => bail!(
            "the CRD of `{name}` exists already, with other contents\n\n\
             hint: put the new text into `{path}` and run `kubewright sync`, which makes its types again"
        ),
    }
}

/// Refuses a plural, short names or a scope that differ from the kind's.
fn shared_stays(kind: &Kind, new: &NewApi) -> Result<()> {
    let names: Vec<_> = kind.short_names.iter().map(|name| format!("`{name}`")).collect();
    let other = [
        (
            "--plural",
            new.kind.plural.as_ref().is_some_and(|given| *given != kind.plural),
            format!("the plural `{}`", kind.plural),
        ),
        (
            "--short-name",
            new.kind
                .short_names
                .as_ref()
                .is_some_and(|given| *given != kind.short_names),
            match names.as_slice() {
                [] => "no short name".to_owned(),
                names => format!("the short name {}", names.join(", ")),
            },
        ),
        (
            kind.other_scope(),
            new.kind.cluster.is_some_and(|given| given != kind.cluster),
            format!("{} objects", if kind.cluster { "cluster-scoped" } else { "namespaced" }),
        ),
    ];
    match other.iter().find(|(_, differs, _)| *differs) {
        None => Ok(()),
        Some((_, _, there)) if new.kind.definition.is_some() => bail!(
            "`{0}` exists already, with {there}, and this CRD differs\n\n\
             hint: change the CRD; or delete the kind first, with `kubewright delete api --group {1} --kind {0} --all-versions`",
            kind.name,
            kind.group
        ),
        Some((flag, _, there)) if kind.has_only(&new.kind.version) => bail!(
            "`{}` exists already, with {there}\n\nhint: leave out `{flag}`, or start the kind afresh with `--force`",
            kind.name
        ),
        Some((flag, _, there)) => bail!(
            "`{}` exists already, with {there} in all its versions\n\nhint: leave out `{flag}`",
            kind.name
        ),
    }
}
