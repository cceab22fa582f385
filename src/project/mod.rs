//! What a project is: its inputs, as PROJECT records them, and the changes that commands make to them. Pure, but for `file`.

pub mod change;
mod clash;
mod controllers;
pub mod crd;
pub mod file;
mod internal;
pub mod kubernetes;
mod listed;
mod names;
pub mod pattern;
mod plural;
pub mod printable;
pub mod rust;

pub use crd::Definition;
pub use names::{
    ControllerName, Domain, Group, Image, Kind, Owner, Plural, ProjectName, Refused, ShortName, TemplatePath, Version,
};
pub use pattern::Pattern;
pub use plural::plural;

use serde::{Deserialize, Serialize};

/// Every input of every file of a generated project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Project {
    /// The version of kubewright that wrote the project; only `upgrade` changes it.
    pub version: String,
    /// The Cargo package and the deployed objects bear it.
    pub name: ProjectName,
    /// What the API groups end with.
    pub domain: Domain,
    /// Whether the operator watches its own namespace alone, under a Role instead of a ClusterRole.
    #[serde(default)]
    pub namespaced: bool,
    /// The licence of the user's code.
    pub license: License,
    /// Whom that licence names.
    pub owner: Owner,
    /// The year that licence names.
    pub year: u16,
    /// The user's own templates, laid over the built-in ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<TemplateFolder>,
    /// The kinds, sorted by group, version and kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apis: Vec<Api>,
}

/// A folder of templates and what it held when the project was rendered from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplateFolder {
    /// Relative to the project where possible.
    pub path: TemplatePath,
    /// Over every path and text in it.
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

/// A kind of this project, with its controllers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Api {
    /// Its group: of the project's own kinds without the domain, of others' in full.
    pub group: Group,
    /// Its version.
    pub version: Version,
    /// Its kind.
    pub kind: Kind,
    /// Its plural.
    pub plural: Plural,
    /// What kubectl takes in place of the plural.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_names: Vec<ShortName>,
    /// Whether its objects live outside of namespaces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cluster: bool,
    /// Whose kind it is.
    #[serde(default, rename = "from", skip_serializing_if = "Origin::is_project")]
    pub origin: Origin,
    /// The CRD of a kind that others own. It stands in a file of its own.
    #[serde(skip)]
    pub definition: Option<Definition>,
    /// Whether its type started as the version that is stored. The type decides from then on.
    #[serde(default = "stored", skip_serializing_if = "is_stored")]
    pub storage: bool,
    /// Who acts on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<Controller>,
}

impl Api {
    /// Whether this is the kind of that group and version.
    pub fn is(&self, group: &Group, version: &Version, kind: &Kind) -> bool {
        (&self.group, &self.version, &self.kind) == (group, version, kind)
    }
}

/// Whose kind it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The project's: its types make the CRD.
    #[default]
    Project,
    /// Kubernetes': its types come with `k8s-openapi`.
    Kubernetes,
    /// Somebody else's: its CRD makes the types.
    Crd,
}

impl Origin {
    /// Whether the project owns the kind.
    pub fn is_project(&self) -> bool {
        *self == Self::Project
    }

    /// Whose kind it is, as the end of a sentence.
    pub fn owner(self) -> &'static str {
        match self {
            Self::Project => "a kind of this project",
            Self::Kubernetes => "a kind of Kubernetes",
            Self::Crd => "a kind whose CRD was brought in",
        }
    }
}

/// Most kinds have one version.
fn stored() -> bool {
    true
}

fn is_stored(storage: &bool) -> bool {
    *storage
}

/// A controller of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "pattern::Written", into = "pattern::Written")]
pub struct Controller {
    /// Unique in the project.
    pub name: ControllerName,
    /// The reconciler it starts from.
    pub pattern: Pattern,
}

impl Project {
    /// The full name of a group: `test` in the domain `example.com` is `test.example.com`.
    pub fn full_group(&self, group: &Group) -> String {
        format!("{group}.{}", self.domain)
    }

    /// The full name of a kind's group; empty for the core group of Kubernetes.
    pub fn group_of(&self, api: &Api) -> String {
        match api.origin {
            Origin::Project => self.full_group(&api.group),
            Origin::Kubernetes if api.group.as_str() == kubernetes::CORE => String::new(),
            Origin::Kubernetes | Origin::Crd => api.group.to_string(),
        }
    }

    /// Where the CRD of a kind that others own stands.
    pub fn crd_path(&self, api: &Api) -> String {
        format!("config/crd/external/{}_{}.yaml", self.group_of(api), api.plural)
    }

    /// The kind of that group and version.
    pub fn api(&self, group: &Group, version: &Version, kind: &Kind) -> Option<&Api> {
        self.apis.iter().find(|api| api.is(group, version, kind))
    }

    /// The other versions of that kind.
    pub fn other_versions(&self, group: &Group, version: &Version, kind: &Kind) -> Vec<&Api> {
        let other = |api: &&Api| (&api.group, &api.kind) == (group, kind) && api.version != *version;
        self.apis.iter().filter(other).collect()
    }

    /// The version of that kind whose controller serves the objects of this one too: none where this one has its own.
    pub fn served_by(&self, group: &Group, version: &Version, kind: &Kind) -> Option<&Api> {
        let own = self.api(group, version, kind);
        if own.is_some_and(|api| !api.controllers.is_empty()) {
            return None;
        }
        let mut others = self.other_versions(group, version, kind).into_iter();
        others.find(|api| !api.controllers.is_empty())
    }

    /// Who acts on that kind, in whichever version: the objects are the same.
    pub fn controllers_of<'a>(&'a self, of: &'a Api) -> impl Iterator<Item = (&'a Api, &'a Controller)> {
        let versions = self.apis.iter();
        versions
            .filter(move |api| (&api.group, &api.kind) == (&of.group, &of.kind))
            .flat_map(|api| api.controllers.iter().map(move |controller| (api, controller)))
    }

    /// Whether objects of this kind have a number of replicas, and so the scale subresource: for a controller of theirs, or for the
    /// internal kind that they are turned into.
    pub fn scales(&self, of: &Api) -> bool {
        self.controllers_of(of)
            .any(|(api, controller)| self.counts(api, controller))
    }

    /// Whether that controller reports a number of replicas.
    fn counts(&self, api: &Api, controller: &Controller) -> bool {
        let internal = self.internal(api, controller);
        controller.pattern.scales() || internal.is_some_and(|internal| self.scales(internal))
    }

    /// Every controller with its kind, in the order in which rustfmt lists their modules.
    pub fn controllers(&self) -> Vec<(&Api, &Controller)> {
        let mut all: Vec<_> = self
            .apis
            .iter()
            .flat_map(|api| api.controllers.iter().map(move |controller| (api, controller)))
            .collect();
        all.sort_by(|(_, a), (_, b)| {
            rust::module_order(&rust::module_file(a.name.as_str()), &rust::module_file(b.name.as_str()))
        });
        all
    }
}
