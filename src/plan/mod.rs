//! The files of a project, each with its kind and its template. A pure function of the project and the catalogue of templates.

mod catalogue;
mod path;

pub use catalogue::{Catalogue, Template, Unit};
pub use path::RelPath;

use crate::project::{Api, Controller, Crates, Kind, License, Origin, PolicyForm, Project, Version, rust};
use anyhow::{Result, bail};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The kind of a file: which commands may write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Derived from PROJECT: rewritten unless it was edited.
    Managed,
    /// A crate of kubewright under `crates/`: one unit with one hash.
    Vendored,
    /// Generated from the Rust code: written only by `make manifests`.
    Derived,
    /// Written once; then the user owns it.
    Seeded,
}

impl FileKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Vendored => "vendored",
            Self::Derived => "derived",
            Self::Seeded => "seeded",
        }
    }
}

/// One file (or one vendored crate) of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: FileKind,
    /// The source of its text.
    pub source: Source,
}

/// The source of a file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A template, rendered for a subject.
    Template(String, Subject),
    /// A vendored crate: its folder's name in `scaffolds/`.
    Crate(String),
    /// The generated project's own programs.
    Manifests,
}

impl Source {
    /// The name of the template, or of the other source.
    pub fn name(&self) -> &str {
        match self {
            Self::Template(name, _) | Self::Crate(name) => name,
            Self::Manifests => "make manifests",
        }
    }
}

/// The part of the project that a file is rendered for. The first index is into [`Project::kinds`], the second one into [`Kind::versions`] or
/// [`Kind::controllers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The project as a whole.
    Project,
    /// The group of this kind.
    Group(usize),
    /// The version of a group in which this kind has this version.
    Version(usize, usize),
    /// This kind in this version.
    Api(usize, usize),
    /// This controller of this kind.
    Controller(usize, usize),
    /// The webhooks of this kind.
    Webhooks(usize),
    /// The policy of this kind and form.
    Policy(usize, PolicyForm),
    /// The conversion of this kind between its hub and the version with this index in [`Conversion::spokes`](crate::project::Conversion::spokes).
    Spoke(usize, usize),
}

impl Subject {
    /// The kind of [`Subject::Version`] and [`Subject::Api`], in that version.
    pub fn api(project: &Project, kind: usize, version: usize) -> Api<'_> {
        let kind = &project.kinds[kind];
        Api {
            kind,
            version: &kind.versions[version],
        }
    }
}

/// The files of a project by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Sorted by path.
    pub entries: BTreeMap<RelPath, Entry>,
}

impl Plan {
    /// The entries of the plan for which `keep` returns true.
    pub fn only(mut self, mut keep: impl FnMut(&RelPath, &Entry) -> bool) -> Self {
        self.entries.retain(|path, entry| keep(path, entry));
        self
    }

    fn add(&mut self, path: RelPath, entry: Entry) -> Result<()> {
        let name = entry.source.name().to_owned();
        match self.entries.insert(path.clone(), entry) {
            Some(other) => bail!("templates `{}` and `{name}` both make `{path}`", other.source.name()),
            None => Ok(()),
        }
    }
}

/// The crate that only projects with webhooks, conversions or policies have.
const WEBHOOKS: &str = "webhooks";

/// Plans every file of a project.
pub fn plan(project: &Project, catalogue: &Catalogue) -> Result<Plan> {
    let mut plan = Plan::default();
    for (unit, subject) in units(project) {
        for template in catalogue.unit(&unit) {
            let path = template.output(&placeholders(project, subject))?;
            let kind = if template.managed {
                FileKind::Managed
            } else {
                FileKind::Seeded
            };
            plan.add(
                path,
                Entry {
                    kind,
                    source: Source::Template(template.name.clone(), subject),
                },
            )?;
        }
    }
    let is_used = |name: &&String| *name != WEBHOOKS || project.uses_webhooks_crate();
    let embedded = catalogue.crates.iter().filter(|_| project.crates.are_in_project());
    for name in embedded.filter(is_used) {
        let (kind, source) = (FileKind::Vendored, Source::Crate(name.clone()));
        plan.add(format!("crates/{name}").parse()?, Entry { kind, source })?;
    }
    for path in derived(project) {
        plan.add(
            path.parse()?,
            Entry {
                kind: FileKind::Derived,
                source: Source::Manifests,
            },
        )?;
    }
    Ok(plan)
}

/// The units of a project, each with its subject.
fn units(project: &Project) -> Vec<(Unit, Subject)> {
    let scope = |on: bool, yes: &'static str, no: &'static str| if on { yes } else { no };
    let mut units = vec![
        (Unit::new("project"), Subject::Project),
        (
            Unit::new(scope(project.namespaced, "project-namespaced", "project-clusterwide")),
            Subject::Project,
        ),
    ];
    if project.crates.are_in_project() {
        units.push((Unit::new("project-vendored"), Subject::Project));
    }
    if project.crates == Crates::Archives {
        units.push((Unit::new("project-archives"), Subject::Project));
    }
    match project.license {
        License::Apache2 => units.push((Unit::new("licence-apache2"), Subject::Project)),
        License::Mit => units.push((Unit::new("licence-mit"), Subject::Project)),
        License::None => {}
    }
    if !project.webhooks().is_empty() {
        units.push((Unit::new("project-webhooks"), Subject::Project));
    }
    if !project.conversions().is_empty() {
        units.push((Unit::new("project-conversions"), Subject::Project));
    }
    if !project.policies().is_empty() {
        units.push((Unit::new("project-policies"), Subject::Project));
    }
    if project.serves_webhooks() {
        units.push((Unit::new("project-webhook-server"), Subject::Project));
    }
    for (at, kind) in project.kinds.iter().enumerate() {
        if kind.origin != Origin::Kubernetes {
            units.extend(typed(project, at));
        }
        for (nth, controller) in kind.controllers.iter().enumerate() {
            let subject = Subject::Controller(at, nth);
            units.push((Unit::new("controller"), subject));
            units.push((
                Unit::new(&match kind.adopted {
                    true => "controller-adopted".to_owned(),
                    false => format!("controller-{}", controller.pattern.as_str()),
                }),
                subject,
            ));
            if controller.pattern.has_backups() {
                units.push((Unit::new("controller-stateful-backups"), subject));
            }
        }
        if kind.webhooks.is_some() {
            let generic = kind.adopted || !kind.origin.is_project();
            let unit = scope(generic, "webhooks-foreign", "webhooks");
            units.push((Unit::new(unit), Subject::Webhooks(at)));
        }
        for (form, _) in kind.policies() {
            let unit = match form {
                PolicyForm::Validating => "policy",
                PolicyForm::Mutating => "policy-mutating",
            };
            units.push((Unit::new(unit), Subject::Policy(at, form)));
        }
        let spokes = kind.conversion.iter().flat_map(|it| 0..it.spokes.len());
        units.extend(spokes.map(|nth| (Unit::new("conversion"), Subject::Spoke(at, nth))));
    }
    units
}

/// The units of a kind whose types are in the project.
fn typed(project: &Project, at: usize) -> Vec<(Unit, Subject)> {
    let kind = &project.kinds[at];
    let mut units = Vec::new();
    let earlier = || {
        let kinds = project.kinds[..at].iter();
        kinds.filter(|other| other.origin != Origin::Kubernetes && other.group == kind.group)
    };
    if earlier().next().is_none() {
        units.push((Unit::new("group"), Subject::Group(at)));
    }
    if kind.has_definition() {
        units.push((
            Unit::new(if kind.adopted { "crd-adopted" } else { "crd" }),
            Subject::Api(at, 0),
        ));
    }
    for (nth, version) in kind.versions.iter().enumerate() {
        if !earlier().any(|other| other.version(&version.name).is_some()) {
            units.push((Unit::new("version"), Subject::Version(at, nth)));
        }
        let api = Subject::Api(at, nth);
        if kind.origin == Origin::Crd {
            units.push((Unit::new("api-crd"), api));
            continue;
        }
        if kind.adopted {
            units.push((Unit::new("api-adopted"), api));
            continue;
        }
        let scope = if kind.cluster { "api-cluster" } else { "api-namespaced" };
        units.push((Unit::new("api"), api));
        units.push((Unit::new(scope), api));
        if kind.served_by(&version.name).is_some() {
            units.push((Unit::new("another-version"), api));
        }
    }
    units
}

/// The values of the placeholders in a template's path.
fn placeholders(project: &Project, subject: Subject) -> Vec<(&'static str, String)> {
    let group = |kind: &Kind| {
        vec![
            ("__group__", rust::module_file(kind.group.as_str())),
            ("__group_full__", project.group_of(kind)),
        ]
    };
    let version = |api: Api| [group(api.kind), vec![("__version__", api.version.name.to_string())]].concat();
    let names = |kind: &Kind| {
        vec![
            ("__kind__", rust::module_file(kind.name.as_str())),
            ("__plural__", kind.plural.to_string()),
        ]
    };
    let name = |version: &Version, file: String| vec![("__version__", version.to_string()), ("__name__", file)];
    match subject {
        Subject::Project => Vec::new(),
        Subject::Group(at) => group(&project.kinds[at]),
        Subject::Version(at, nth) => version(Subject::api(project, at, nth)),
        Subject::Api(at, nth) => {
            let api = Subject::api(project, at, nth);
            [version(api), names(api.kind)].concat()
        }
        Subject::Controller(at, nth) => {
            let kind = &project.kinds[at];
            let Controller { name: own, version, .. } = &kind.controllers[nth];
            let name = name(version, rust::module_file(own.as_str()));
            [group(kind), names(kind), name].concat()
        }
        Subject::Webhooks(at) => {
            let kind = &project.kinds[at];
            let name = kind.webhooks.iter().flat_map(|it| name(&it.version, it.file()));
            [group(kind), names(kind), name.collect()].concat()
        }
        Subject::Policy(at, form) => {
            let kind = &project.kinds[at];
            let own = kind.policy(form).into_iter();
            let name = own.flat_map(|it| name(&it.version, it.file(form)));
            [group(kind), names(kind), name.collect()].concat()
        }
        Subject::Spoke(at, nth) => {
            let kind = &project.kinds[at];
            let own = kind.conversion.iter();
            let name = own.flat_map(|it| it.spokes.get(nth).map(|spoke| name(spoke, it.file())));
            [group(kind), names(kind), name.flatten().collect()].concat()
        }
    }
}

/// The files of `config/webhook`, which the runtime writes; for admission webhooks there is `manifests` too.
const WEBHOOK_FILES: [&str; 6] = [
    "deployment_patch",
    "kustomization",
    "kustomizeconfig",
    "pod_disruption_budget",
    "secret",
    "service",
];

/// The files of `config/policy`, which the runtime writes.
const POLICY_FILES: [&str; 3] = ["kustomization", "kustomizeconfig", "manifests"];

/// The files that `make manifests` writes: one CRD for each kind, the role, the policies, and what webhooks need.
fn derived(project: &Project) -> BTreeSet<String> {
    let own = project.kinds.iter().filter(|kind| kind.origin.is_project());
    let crds = own.map(|kind| format!("config/crd/bases/{}_{}.yaml", project.group_of(kind), kind.plural));
    let mut files: BTreeSet<_> = crds.chain([String::from("config/rbac/role.yaml")]).collect();
    let file = |name: &str| format!("config/webhook/{name}.yaml");
    if project.serves_webhooks() {
        files.extend(WEBHOOK_FILES.map(file));
    }
    if !project.webhooks().is_empty() {
        files.insert(file("manifests"));
    }
    if !project.policies().is_empty() {
        files.extend(POLICY_FILES.map(|name| format!("config/policy/{name}.yaml")));
    }
    files
}
