//! Which files a project consists of: each with its kind and the template it comes from. A pure function of the project and the
//! catalogue of templates.

mod catalogue;
mod path;

pub use catalogue::{Catalogue, Template, Unit};
pub use path::RelPath;

use crate::project::{Api, Controller, License, Origin, Project, rust};
use anyhow::{Result, bail};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Who owns a file, and so who may write it when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// A function of PROJECT: rewritten while its hash holds.
    Managed,
    /// A crate of kubewright under `crates/`: one unit with one hash.
    Vendored,
    /// A function of the Rust code: written by `make manifests` alone.
    Derived,
    /// Written once, then the user's.
    Seeded,
}

impl FileKind {
    /// The word for it.
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
    /// Who owns it.
    pub kind: FileKind,
    /// Where its text comes from.
    pub source: Source,
}

/// Where the text of a file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A template, rendered about a subject.
    Template(String, Subject),
    /// A file of `scaffolds/project`, as it is.
    Verbatim(String),
    /// A vendored crate: its folder's name in `scaffolds/`.
    Crate(String),
    /// The generated project's own programs.
    Manifests,
}

impl Source {
    /// The template's name, or what stands in its place.
    pub fn name(&self) -> &str {
        match self {
            Self::Template(name, _) | Self::Verbatim(name) | Self::Crate(name) => name,
            Self::Manifests => "make manifests",
        }
    }
}

/// What a file is about; indices are those of [`Project::apis`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The project as a whole.
    Project,
    /// The group of this kind.
    Group(usize),
    /// The version of this kind.
    Version(usize),
    /// This kind.
    Api(usize),
    /// A controller of a kind.
    Controller(usize, usize),
}

/// The files of a project by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order of their paths.
    pub entries: BTreeMap<RelPath, Entry>,
}

impl Plan {
    /// The part of the plan that `keep` says.
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
    for path in &catalogue.verbatim {
        plan.add(
            path.parse()?,
            Entry {
                kind: FileKind::Seeded,
                source: Source::Verbatim(path.clone()),
            },
        )?;
    }
    for name in &catalogue.crates {
        let path = format!("crates/{name}").parse()?;
        plan.add(
            path,
            Entry {
                kind: FileKind::Vendored,
                source: Source::Crate(name.clone()),
            },
        )?;
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

/// The units a project takes, each with what it is about.
fn units(project: &Project) -> Vec<(Unit, Subject)> {
    let scope = |on: bool, yes: &'static str, no: &'static str| if on { yes } else { no };
    let mut units = vec![
        (Unit::new("project"), Subject::Project),
        (
            Unit::new(scope(project.namespaced, "project-namespaced", "project-clusterwide")),
            Subject::Project,
        ),
    ];
    match project.license {
        License::Apache2 => units.push((Unit::new("licence-apache2"), Subject::Project)),
        License::Mit => units.push((Unit::new("licence-mit"), Subject::Project)),
        License::None => {}
    }
    for (at, api) in project.apis.iter().enumerate() {
        if api.origin != Origin::Kubernetes {
            units.extend(typed(project, at));
        }
        for (nth, controller) in api.controllers.iter().enumerate() {
            units.push((Unit::new("controller"), Subject::Controller(at, nth)));
            units.push((
                Unit::new(&format!("controller-{}", controller.pattern.as_str())),
                Subject::Controller(at, nth),
            ));
        }
    }
    units
}

/// The units of a kind whose type is in the project.
fn typed(project: &Project, at: usize) -> Vec<(Unit, Subject)> {
    let api = &project.apis[at];
    let mut units = Vec::new();
    let first = |same: &dyn Fn(&Api) -> bool| {
        let here = |other: &Api| other.origin != Origin::Kubernetes && same(other);
        project.apis.iter().position(here) == Some(at)
    };
    if first(&|other| other.group == api.group) {
        units.push((Unit::new("group"), Subject::Group(at)));
    }
    if first(&|other| (&other.group, &other.version) == (&api.group, &api.version)) {
        units.push((Unit::new("version"), Subject::Version(at)));
    }
    if api.origin == Origin::Crd {
        units.push((Unit::new("api-crd"), Subject::Api(at)));
        if first(&|other| (&other.group, &other.plural) == (&api.group, &api.plural)) {
            units.push((Unit::new("crd"), Subject::Api(at)));
        }
        return units;
    }
    let scope = if api.cluster { "api-cluster" } else { "api-namespaced" };
    units.push((Unit::new("api"), Subject::Api(at)));
    units.push((Unit::new(scope), Subject::Api(at)));
    if !api.storage && project.served_by(&api.group, &api.version, &api.kind).is_some() {
        units.push((Unit::new("another-version"), Subject::Api(at)));
    }
    units
}

/// What the placeholders of a template's path stand for.
fn placeholders(project: &Project, subject: Subject) -> Vec<(&'static str, String)> {
    let group = |api: &Api| {
        vec![
            ("__group__", rust::module_file(api.group.as_str())),
            ("__group_full__", project.group_of(api)),
        ]
    };
    let version = |api: &Api| [group(api), vec![("__version__", api.version.to_string())]].concat();
    let kind = |api: &Api| {
        let kind = vec![
            ("__kind__", rust::module_file(api.kind.as_str())),
            ("__plural__", api.plural.to_string()),
        ];
        [version(api), kind].concat()
    };
    let name = |controller: &Controller| vec![("__name__", rust::module_file(controller.name.as_str()))];
    match subject {
        Subject::Project => Vec::new(),
        Subject::Group(api) => group(&project.apis[api]),
        Subject::Version(api) => version(&project.apis[api]),
        Subject::Api(api) => kind(&project.apis[api]),
        Subject::Controller(api, nth) => [kind(&project.apis[api]), name(&project.apis[api].controllers[nth])].concat(),
    }
}

/// What `make manifests` writes: one CRD for all versions of a kind.
fn derived(project: &Project) -> BTreeSet<String> {
    let own = project.apis.iter().filter(|api| api.origin.is_project());
    let crds = own.map(|api| format!("config/crd/bases/{}_{}.yaml", project.group_of(api), api.plural));
    crds.chain([String::from("config/rbac/role.yaml")]).collect()
}
