//! The webhooks and policies of an operator: served, kept certified, and written. `without_webhooks.rs` has the same functions.

use std::{collections::BTreeMap, net::SocketAddr};

use serde_json::Value;
use tracing::info;

use super::{Operator, keep};
use crate::{
    certificates::{self, Keeper, Pace, Reach, Shown},
    error::{Error, Result},
    manager::Manager,
    metrics::Metrics,
    options::BindAddress,
    policy,
    rbac::Rule,
    server::{Held, Webhooks},
    webhook::component,
};

/// The running server.
pub(super) type Server = Webhooks;

/// Whether the operator has webhooks.
pub(super) fn are_registered(manager: &Manager) -> bool {
    !manager.hooks().is_empty()
}

/// Whether the operator has policies, which are compiled with the types of its kinds.
pub(super) fn has_policies(manager: &Manager) -> bool {
    !manager.stated().is_empty()
}

/// Compiles the policies with the types of the operator's own kinds, and returns notes about them.
///
/// # Errors
///
/// [`Error::Setup`] with the first mistake, and its remedy.
pub(super) fn check(manager: &Manager, definitions: &[Value]) -> Result<Vec<String>> {
    manager.check_policies(definitions)
}

/// The permissions that the certificates of the webhooks need.
pub(super) fn rules(manager: &Manager) -> Vec<Rule> {
    component::rules(&manager.hooks())
}

/// The files of `config/webhook` and of `config/policy`.
pub(super) fn files(manager: &Manager) -> [BTreeMap<String, Vec<Value>>; 2] {
    [
        component::files(&manager.hooks(), manager.name()),
        policy::component::files(&manager.stated()),
    ]
}

/// Serves the webhooks that are registered, if there are any.
pub(super) fn serve(operator: &Operator, manager: &Manager, metrics: &Metrics) -> Result<Option<Server>> {
    let (hooks, options) = (manager.hooks(), &operator.options);
    if hooks.is_empty() || options.webhook_bind_address == BindAddress::Off {
        return Ok(None);
    }
    let held = Held::new();
    let endpoints = hooks.iter().map(|hook| hook.endpoint.clone()).collect();
    let server = Webhooks::start(options, endpoints, metrics, &held)?;
    if let Some(server) = &server {
        info!(address = %server.address(), "serving webhooks");
    }
    if options.webhook_cert_path.is_none() {
        keep_certificates(operator, manager, held, server.as_ref().map(Webhooks::address))?;
    }
    Ok(server)
}

/// Makes and renews the certificates of the webhook server, as a task of every replica.
fn keep_certificates(operator: &Operator, manager: &Manager, held: Held, address: Option<SocketAddr>) -> Result<()> {
    if operator.namespaced {
        let text = "an operator of named namespaces may not write webhook configurations and \
                    CustomResourceDefinitions, which are cluster-scoped";
        let hint = "pass --webhook-cert-path FOLDER, or --webhook-bind-address=0 to serve no webhooks";
        return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
    }
    let hooks = manager.hooks();
    let settings = certificates::Settings {
        hosts: operator.options.webhook_hosts(),
        configured: component::configured(&hooks),
        converting: component::converting(&hooks),
        reach: Reach {
            address: address.map(Reach::local),
            url: operator.options.webhook_url.clone(),
            in_cluster: operator.is_in_cluster(),
        },
        ..operator.certificates(manager, Shown::WEBHOOKS, Pace::DEFAULT)?
    };
    let keeper = Keeper::new(settings, held, manager.metrics());
    let standing = keeper.standing();
    manager.readyz().add("webhook", move || standing.check());
    keep(manager, "certificates", keeper);
    Ok(())
}
