//! The webhooks of an operator: registered by authors, served, kept certified, and written by `make manifests`.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kubewright_runtime::{
    BindAddress, Error, Manager, Result,
    component::{
        Component, ComponentManifests, Drain, ManifestFolder, Process, StorageVersion,
        certificates::{self, Converting, Keeper, RenewalTiming, ServerIdentity, Settings, WebhookAddress},
        http::Held,
    },
};
use kubewright_schema::webhook::{SECRET, SERVICE};
use serde_json::Value;
use tracing::info;

use super::component;
use crate::server::{Endpoint, Webhooks};

/// The names of the webhook server. Kustomize puts a prefix before them.
pub(crate) const IDENTITY: ServerIdentity = ServerIdentity {
    name: "the webhook server",
    secret: SECRET,
    service: SERVICE,
    authorities: None,
    component: "../webhook",
    metric: "kubewright_webhook_certificate_expiry_seconds",
};

/// A webhook that has been registered.
#[derive(Clone)]
pub(crate) struct Hooked {
    pub(crate) endpoint: Arc<dyn Endpoint>,
    pub(crate) purpose: Purpose,
}

/// The purpose of a webhook.
#[derive(Clone)]
pub(crate) enum Purpose {
    /// To allow or change writes.
    Admission {
        /// Whether it may change objects.
        mutating: bool,
        /// Its entry in a MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
        entry: Value,
    },
    /// To convert the objects of the kind that this CustomResourceDefinition defines.
    Conversion {
        /// Its name.
        definition: String,
        /// One of the kind's versions, with its group.
        api_version: String,
        /// Set by whoever watches the definition.
        stored: StorageVersion,
    },
}

/// The webhooks that are registered with a manager, in the order in which they were added.
#[derive(Default)]
struct RegisteredWebhooks(Mutex<Vec<Hooked>>);

impl RegisteredWebhooks {
    fn all(&self) -> MutexGuard<'_, Vec<Hooked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Component for RegisteredWebhooks {
    /// The permissions are those of the certificates.
    fn declare(&self, operator: &str) -> ComponentManifests {
        let hooks = self.all();
        ComponentManifests {
            rules: component::rules(&hooks),
            folder: ManifestFolder::Webhook,
            files: component::files(&hooks, operator),
        }
    }

    fn is_called(&self) -> bool {
        !self.all().is_empty()
    }

    /// Serves the webhooks, if there are any.
    fn run(&self, process: &Process<'_>) -> Result<Option<Drain>> {
        let (hooks, options) = (self.all().clone(), process.options);
        if hooks.is_empty() || options.webhook_bind_address == BindAddress::Off {
            return Ok(None);
        }
        let held = Held::default();
        let endpoints = hooks.iter().map(|hook| hook.endpoint.clone()).collect();
        let server = Webhooks::start(options, endpoints, process.manager.metrics(), &held)?;
        if let Some(server) = &server {
            info!(address = %server.address(), "serving webhooks");
        }
        let converting = component::converting(&hooks);
        for it in &converting {
            process.manager.converts(&it.definition, it.named.subscribe());
        }
        // Without a keeper, somebody else has written the definitions.
        if options.webhook_cert_path.is_none() {
            keep_certificates(
                process,
                &hooks,
                converting,
                held,
                server.as_ref().map(Webhooks::address),
            )?;
        }
        let ready = process.manager.readyz().clone();
        Ok(server.map(|server| -> Drain {
            Box::new(move || {
                ready.add("webhook", || Err("the process is stopping".to_owned()));
                server.drain();
            })
        }))
    }
}

/// Makes and renews the certificates of the webhook server, as a task of every replica.
fn keep_certificates(
    process: &Process<'_>,
    hooks: &[Hooked],
    converting: Vec<Converting>,
    held: Held,
    address: Option<SocketAddr>,
) -> Result<()> {
    if process.namespaced {
        let text = "an operator of named namespaces may not write webhook configurations and \
                    CustomResourceDefinitions, which are cluster-scoped";
        let hint = "pass --webhook-cert-path FOLDER, or --webhook-bind-address=0 to serve no webhooks";
        return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
    }
    let settings = Settings {
        hosts: process.options.webhook_hosts(),
        configured: component::configured(hooks),
        converting,
        reach: WebhookAddress {
            address: address.map(local),
            url: process.options.webhook_url.clone(),
            in_cluster: process.in_cluster,
        },
        ..Settings::of(process, IDENTITY, RenewalTiming::DEFAULT)?
    };
    let keeper = Keeper::new(settings, held, process.manager.metrics());
    let standing = keeper.standing();
    process.manager.readyz().add("webhook", move || standing.check());
    certificates::keep(process.manager, "certificates", keeper);
    Ok(())
}

/// The address at which this process reaches a server that listens on `address`; the loopback address, if the server listens on all.
fn local(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Adds a webhook.
///
/// # Errors
///
/// [`Error::Setup`] if there is one with its path.
pub(crate) fn hook(manager: &Manager, hook: Hooked) -> Result<()> {
    let registered = manager.component::<RegisteredWebhooks>();
    let mut hooks = registered.all();
    let path = hook.endpoint.path();
    if hooks.iter().any(|known| known.endpoint.path() == path) {
        return Err(Error::Setup(format!(
            "two webhooks have the path `{path}`\n\nhint: join them in one type"
        )));
    }
    hooks.push(hook);
    Ok(())
}

/// The webhooks of a manager, in the order in which they were added.
#[cfg(test)]
pub(crate) fn hooks(manager: &Manager) -> Vec<Hooked> {
    manager.component::<RegisteredWebhooks>().all().clone()
}
