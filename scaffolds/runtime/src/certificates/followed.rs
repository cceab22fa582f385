//! The objects in which API servers look for the authorities of the webhook server, and the names that manifests share with it.

use std::sync::Arc;

use tokio::sync::watch;

use crate::manager::StorageVersion;

/// One of the two kinds of configurations, under kubebuilder's names.
#[derive(Clone, Copy)]
pub struct Configured {
    /// The plural of the kind.
    pub plural: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The name, without the prefix and suffix that kustomize adds.
    pub name: &'static str,
    /// Whether its webhooks may change objects.
    pub mutating: bool,
}

/// Both kinds.
pub const CONFIGURATIONS: [Configured; 2] = [
    Configured {
        plural: "mutatingwebhookconfigurations",
        kind: "MutatingWebhookConfiguration",
        name: "mutating-webhook-configuration",
        mutating: true,
    },
    Configured {
        plural: "validatingwebhookconfigurations",
        kind: "ValidatingWebhookConfiguration",
        name: "validating-webhook-configuration",
        mutating: false,
    },
];

/// A conversion webhook, as certificates and permissions need it.
#[derive(Clone)]
pub struct Converting {
    /// The name of the CustomResourceDefinition.
    pub definition: String,
    /// One of the versions that it converts, with its group.
    pub api_version: String,
    /// The path of the webhook.
    pub path: String,
    /// The storage version, set from the definition.
    pub stored: StorageVersion,
    /// Set to true once API servers convert objects by the webhook.
    pub named: Arc<watch::Sender<bool>>,
}
