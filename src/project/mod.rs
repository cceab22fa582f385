//! What a project is: its inputs, as PROJECT records them, and the changes that commands make to them. Pure, but for `file`.

pub mod change;
pub mod file;
mod internal;
mod names;
mod pattern;
mod plural;
pub mod rust;

pub use names::{ControllerName, Domain, Group, Image, Kind, Plural, ProjectName, Refused, ShortName, Version};
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
    pub owner: String,
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
    pub path: String,
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
    /// Its group without the domain.
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

    /// The kind of that group and version.
    pub fn api(&self, group: &Group, version: &Version, kind: &Kind) -> Option<&Api> {
        self.apis.iter().find(|api| api.is(group, version, kind))
    }

    /// Whether objects of this kind have a number of replicas, and so the scale subresource: for a controller of theirs, or for the
    /// internal kind that they are turned into.
    pub fn scales(&self, api: &Api) -> bool {
        api.controllers.iter().any(|controller| {
            let internal = |kind| self.api(&api.group, &api.version, kind);
            controller.pattern.scales()
                || controller
                    .pattern
                    .internal_kind()
                    .and_then(internal)
                    .is_some_and(|api| self.scales(api))
        })
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
