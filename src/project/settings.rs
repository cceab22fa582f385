//! The settings of a project as a whole, which `edit` changes: its scope and its licence.

use super::{Kind, License, Owner, Project};
use anyhow::{Result, bail};

/// New values; those that are left out stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether the operator watches only its own namespace.
    pub namespaced: Option<bool>,
    /// The licence of the user's code.
    pub license: Option<License>,
    /// The owner that the licence names.
    pub owner: Option<Owner>,
    /// The year that the licence names.
    pub year: Option<u16>,
}

impl Project {
    /// The project with these settings. Fails if it is to be namespaced, and has what needs permissions in the whole cluster.
    pub fn with_settings(&self, new: Settings) -> Result<Self> {
        let project = Self {
            namespaced: new.namespaced.unwrap_or(self.namespaced),
            license: new.license.unwrap_or(self.license),
            owner: new.owner.unwrap_or_else(|| self.owner.clone()),
            year: new.year.unwrap_or(self.year),
            ..self.clone()
        };
        let clusterwide: Vec<_> = project.kinds.iter().flat_map(clusterwide).collect();
        if project.namespaced && !clusterwide.is_empty() {
            bail!(
                "the project cannot be namespaced: {}; a Role cannot grant access to cluster-scoped objects\n\n\
                 hint: delete these first, with `kubewright delete api` or `kubewright delete webhook`, or leave the project as it is, and \
                 let the operator watch one namespace with `--namespace`",
                clusterwide.join(", ")
            );
        }
        project.check()?;
        Ok(project)
    }
}

/// Parts of a kind that the operator of a namespaced project cannot serve.
fn clusterwide(kind: &Kind) -> Vec<String> {
    let mut found = Vec::new();
    if kind.cluster {
        found.push(format!("`{}` is cluster-scoped", kind.name));
    }
    if kind.webhooks.is_some() {
        found.push(format!("`{}` has webhooks", kind.name));
    }
    if kind.conversion.is_some() {
        found.push(format!("`{}` has a conversion", kind.name));
    }
    found
}
