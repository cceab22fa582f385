//! `<operator> manifests`: what is written of the code that `setup` registers, without a cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use kube::Config;
use kubewright_schema::files::{self, Mode};
use serde_json::Value;

use super::{Crd, Operator, assembled};
use crate::{
    client::{self, WriteGate},
    error::Result,
    manager::{Component, Manager, ManifestFolder},
    metrics::Metrics,
    rbac::Rule,
};

impl Operator {
    /// Registers the controllers on a client without a server, and writes the permissions that they need, the
    /// configurations of the webhooks, and the policies.
    pub(super) async fn write_manifests(
        self,
        [out, webhook_out, policy_out]: [&Path; 3],
        mode: Mode,
        setup: impl AsyncFnOnce(&Manager) -> Result<()>,
    ) -> Result<ExitCode> {
        let nowhere = Config::new(http::Uri::from_static("http://manifests.invalid"));
        let client = client::build(nowhere, self.name, &Metrics::new(), WriteGate::new(|| false))?;
        let manager = Manager::builder(client).name(self.name).build();
        setup(&manager).await?;
        let components = manager.components();
        let definitions = self.needed_crds(&components)?;
        check(&components, &definitions, mode)?;
        let mut folders = BTreeMap::new();
        for component in components {
            let declared = component.declare(self.name);
            // A Role grants no configurations, which are cluster-scoped.
            if !self.namespaced {
                declared.rules.into_iter().for_each(|rule| manager.grant(rule));
            }
            folders.insert(declared.folder, declared.files);
        }
        if self.chooses {
            manager.grant(Rule::new(&[""], &["namespaces"], &["list", "watch"]));
        }
        manager.grant_for_versions(&kinds_with_versions(&definitions));
        let roles = manager.roles(self.namespaced)?;
        // A folder that no component has: `make manifests` removes the files that it had.
        let mut files = |folder| folders.remove(&folder).unwrap_or_default();
        let written = [
            (out, [("role.yaml".to_owned(), roles)].into()),
            (webhook_out, files(ManifestFolder::Webhook)),
            (policy_out, files(ManifestFolder::Policy)),
        ];
        let written = written.map(|(out, files)| files::report(files::write_manifests(out, &files, mode), mode));
        let failed = written.into_iter().find(|code| *code != ExitCode::SUCCESS);
        Ok(failed.unwrap_or(ExitCode::SUCCESS))
    }

    /// The CRDs of all kinds if a component uses them, as policies do, or else of kinds that may have several versions:
    /// making schemas takes time. Types of different names are different kinds.
    fn needed_crds(&self, components: &[Arc<dyn Component>]) -> Result<Vec<Value>> {
        if components.iter().any(|component| component.uses_definitions()) {
            return super::assembled(&self.crds);
        }
        let name = |it: &Crd| it.name.rsplit("::").next().unwrap_or_default();
        let alike = |it: &&Crd| self.crds.iter().filter(|other| name(other) == name(it)).count() > 1;
        let alike: Vec<Crd> = self.crds.iter().filter(alike).cloned().collect();
        assembled(&alike)
    }
}

/// Checks the components by the types of the operator's own kinds.
fn check(components: &[Arc<dyn Component>], definitions: &[Value], mode: Mode) -> Result<()> {
    for component in components {
        let notes = component.check(definitions)?;
        if mode == Mode::Write {
            notes.iter().for_each(|note| eprintln!("note: {note}\n"));
        }
    }
    Ok(())
}

/// Group and plural of the kinds with several versions.
fn kinds_with_versions(definitions: &[Value]) -> BTreeSet<[String; 2]> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let specs = definitions.iter().map(|it| &it["spec"]);
    let several = specs.filter(|it| it["versions"].as_array().is_some_and(|all| all.len() > 1));
    several
        .map(|it| [text(&it["group"]), text(&it["names"]["plural"])])
        .collect()
}
