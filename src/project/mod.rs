//! A project: its inputs, as PROJECT records them, and the changes that commands make to them. Pure, except for the format in `file`.

mod adopted;
mod backups;
pub mod change;
mod check;
mod clash;
pub mod controllers;
pub mod conversion;
pub mod crd;
pub mod declared;
mod fields;
pub mod file;
mod flat;
mod foreign;
mod image;
mod internal;
mod kind;
pub mod kubernetes;
mod lengths;
mod names;
pub mod pattern;
mod plural;
mod policies;
pub mod printable;
mod release;
mod requested;
pub mod rust;
mod rust_type;
pub mod settings;
mod stored;
pub mod webhooks;

pub use controllers::Controller;
pub use conversion::{Between, Conversion};
pub use crd::Definition;
pub use declared::Declared;
pub use kind::{Api, Kind, KindVersion};
pub use lengths::LONGEST_PROJECT;
pub use names::{
    ChildSuffix, ControllerName, Domain, Group, Image, InvalidName, KindName, Owner, Plural, ProjectName, ShortName,
    TemplatePath, Version,
};
pub use pattern::Pattern;
pub use plural::plural;
pub use policies::{KindPolicy, PolicyForm};
pub use release::Release;
pub use requested::RequestedKind;
pub use rust_type::RustType;
pub use webhooks::{WebhookTypes, Webhooks};

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Every input of every file of a generated project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The version of kubewright that wrote the project; only `upgrade` changes it.
    pub version: String,
    /// The name of the Cargo package, and the prefix of deployed objects.
    pub name: ProjectName,
    /// The domain that the API groups end with.
    pub domain: Domain,
    /// Whether the operator watches only its own namespace, with a Role instead of a ClusterRole.
    pub namespaced: bool,
    /// The licence of the user's code.
    pub license: License,
    /// The owner that the licence names.
    pub owner: Owner,
    /// The year that the licence names.
    pub year: u16,
    /// The source of its crates of kubewright.
    #[serde(skip_serializing_if = "Crates::is_vendored")]
    pub crates: Crates,
    /// The user's own templates, which replace built-in ones of the same path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub templates: Option<TemplateFolder>,
    /// The kinds, sorted by group and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
}

/// A folder of templates, and its hash when the project was rendered from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateFolder {
    /// Relative to the project where possible.
    pub path: TemplatePath,
    /// The hash of every path and text in it.
    pub sha256: String,
}

/// The licence of the user's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum License {
    /// Apache License 2.0
    Apache2,
    /// MIT License
    Mit,
    /// no licence text and no headers
    None,
}

impl License {
    /// The SPDX identifier, if there is a licence.
    pub fn spdx(self) -> Option<&'static str> {
        match self {
            Self::Apache2 => Some("Apache-2.0"),
            Self::Mit => Some("MIT"),
            Self::None => None,
        }
    }
}

/// The source of the crates of kubewright that a project depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Crates {
    /// folders with their source in an archive, in `crates/`: two files for each crate
    Archives,
    /// folders with their source, in `crates/`
    #[default]
    Vendored,
    /// downloaded from crates.io, once this version of kubewright is released
    Registry,
}

impl Crates {
    /// Whether the project has their source, in folders.
    pub fn is_vendored(&self) -> bool {
        *self == Self::Vendored
    }

    /// Whether they are in the project, in folders or in archives.
    pub fn are_in_project(self) -> bool {
        self != Self::Registry
    }
}

/// The owner of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The project: `make manifests` writes the CRD from the types.
    #[default]
    Project,
    /// Kubernetes: the types are those of `k8s-openapi`.
    Kubernetes,
    /// Another operator: the types are generated from the CRD.
    Crd,
}

impl Origin {
    /// Whether the project owns the kind.
    pub fn is_project(&self) -> bool {
        *self == Self::Project
    }

    /// The owner, as the end of a sentence.
    pub fn owner(self) -> &'static str {
        match self {
            Self::Project => "a kind of this project",
            Self::Kubernetes => "a kind of Kubernetes",
            Self::Crd => "a kind of a CRD file",
        }
    }
}

impl Project {
    /// The full name of a group: `test` in the domain `example.com` is `test.example.com`, and `example.com` is the domain itself.
    pub fn full_group(&self, group: &Group) -> String {
        match group.as_str() == self.domain.as_str() {
            true => group.to_string(),
            false => format!("{group}.{}", self.domain),
        }
    }

    /// The full name of a kind's group; empty for the core group of Kubernetes.
    pub fn group_of(&self, kind: &Kind) -> String {
        match kind.origin {
            Origin::Project => self.full_group(&kind.group),
            Origin::Kubernetes if kind.group.as_str() == kubernetes::CORE => String::new(),
            Origin::Kubernetes | Origin::Crd => kind.group.to_string(),
        }
    }

    /// The path of the CRD of a kind of another owner, or of one that was taken over.
    pub fn crd_path(&self, kind: &Kind) -> String {
        let folder = if kind.adopted { "adopted" } else { "external" };
        format!("config/crd/{folder}/{}_{}.yaml", self.group_of(kind), kind.plural)
    }

    /// The path of the type of a kind of the project, in that version.
    pub fn type_path(&self, kind: &Kind, version: &Version) -> String {
        let [group, name] = [kind.group.as_str(), kind.name.as_str()].map(rust::module_file);
        format!("api/src/{group}/{version}/{name}.rs")
    }

    /// The kind of that group and name.
    pub fn kind(&self, group: &Group, name: &KindName) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.is(group, name))
    }

    /// The names of the kinds, in one group or in all, each once.
    pub fn kind_names(&self, group: Option<&Group>) -> Vec<KindName> {
        let kinds = self
            .kinds
            .iter()
            .filter(|kind| group.is_none_or(|group| kind.group == *group));
        let names: BTreeSet<_> = kinds.map(|kind| kind.name.clone()).collect();
        names.into_iter().collect()
    }

    /// The groups that have a kind of this name.
    pub fn groups_of(&self, name: &KindName) -> Vec<Group> {
        let kinds = self.kinds.iter().filter(|kind| kind.name == *name);
        kinds.map(|kind| kind.group.clone()).collect()
    }

    /// The kind in this version.
    pub fn api(&self, group: &Group, version: &Version, name: &KindName) -> Option<Api<'_>> {
        let kind = self.kind(group, name)?;
        let version = kind.version(version)?;
        Some(Api { kind, version })
    }

    /// Every kind in each of its versions.
    pub fn apis(&self) -> impl Iterator<Item = Api<'_>> {
        self.kinds.iter().flat_map(Kind::apis)
    }

    /// Whether objects of this kind have a number of replicas, and so the scale subresource: because a controller
    /// counts replicas, or the internal kind that it creates has them.
    pub fn scales(&self, kind: &Kind) -> bool {
        let mut controllers = kind.controllers.iter();
        controllers.any(|controller| self.counts(kind, controller))
    }

    /// Whether objects of this kind run to completion.
    pub fn runs(&self, kind: &Kind) -> bool {
        kind.any_pattern(Pattern::runs)
    }

    /// Whether objects of this kind create Jobs at the times of a schedule.
    pub fn is_scheduled(&self, kind: &Kind) -> bool {
        kind.any_pattern(Pattern::is_scheduled)
    }

    /// Whether objects of this kind have members with storage.
    pub fn is_stateful(&self, kind: &Kind) -> bool {
        kind.any_pattern(Pattern::is_stateful)
    }

    /// Whether objects of this kind are backed up and restored by objects of other kinds.
    pub fn has_backups(&self, kind: &Kind) -> bool {
        kind.any_pattern(Pattern::has_backups)
    }

    /// Whether the controller reports a number of replicas.
    fn counts(&self, kind: &Kind, controller: &Controller) -> bool {
        let internal = self.internal(kind, controller);
        controller.pattern.scales() || internal.is_some_and(|internal| self.scales(internal.kind))
    }

    /// Every controller with its kind, in the order in which rustfmt lists their modules.
    pub fn controllers(&self) -> Vec<(&Kind, &Controller)> {
        let of = |kind| move |controller| (kind, controller);
        let mut all: Vec<_> = self
            .kinds
            .iter()
            .flat_map(|kind| kind.controllers.iter().map(of(kind)))
            .collect();
        all.sort_by(|(_, a), (_, b)| {
            rust::module_order(&rust::module_file(a.name.as_str()), &rust::module_file(b.name.as_str()))
        });
        all
    }
}
