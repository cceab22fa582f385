//! `<operator> manifests`: what is written of the code that `setup` registers, without a cluster.

use std::{collections::BTreeSet, path::Path, process::ExitCode};

use kube::Config;
use kubewright_schema::files::{self, Mode};
use serde_json::Value;

use super::{Crd, Operator, assembled, webhooks};
use crate::{
    client::{self, WriteGate},
    error::Result,
    manager::Manager,
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
        let definitions = self.needed_crds(&manager)?;
        check_policies(&manager, &definitions, mode)?;
        // A Role grants no configurations, which are cluster-scoped.
        if !self.namespaced {
            webhooks::rules(&manager)
                .into_iter()
                .for_each(|rule| manager.grant(rule));
        }
        if self.chooses {
            manager.grant(Rule::new(&[""], &["namespaces"], &["list", "watch"]));
        }
        manager.grant_for_versions(&kinds_with_versions(&definitions));
        let roles = manager.roles(self.namespaced)?;
        let [configurations, policies] = webhooks::files(&manager);
        let written = [
            (out, [("role.yaml".to_owned(), roles)].into()),
            (webhook_out, configurations),
            (policy_out, policies),
        ];
        let written = written.map(|(out, files)| files::report(files::write_manifests(out, &files, mode), mode));
        let failed = written.into_iter().find(|code| *code != ExitCode::SUCCESS);
        Ok(failed.unwrap_or(ExitCode::SUCCESS))
    }

    /// The CRDs of all kinds if there are policies, which are compiled by their types, or else of kinds that may have several versions:
    /// making schemas takes time. Types of different names are different kinds.
    fn needed_crds(&self, manager: &Manager) -> Result<Vec<Value>> {
        if webhooks::has_policies(manager) {
            return super::assembled(&self.crds);
        }
        let name = |it: &Crd| it.name.rsplit("::").next().unwrap_or_default();
        let alike = |it: &&Crd| self.crds.iter().filter(|other| name(other) == name(it)).count() > 1;
        let alike: Vec<Crd> = self.crds.iter().filter(alike).cloned().collect();
        assembled(&alike)
    }
}

/// Compiles the policies by the types of the operator's own kinds.
fn check_policies(manager: &Manager, definitions: &[Value], mode: Mode) -> Result<()> {
    let notes = webhooks::check(manager, definitions)?;
    if mode == Mode::Write {
        notes.iter().for_each(|note| eprintln!("note: {note}\n"));
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
