//! The objects in which API servers look for the authorities of the webhook server, and the names that manifests share with it.

use crate::manager::StorageVersion;

/// One of the two kinds of configurations, under kubebuilder's names.
#[derive(Clone, Copy)]
pub(crate) struct Configured {
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    /// Whether its webhooks may change objects.
    #[cfg(feature = "webhooks")]
    pub(crate) mutating: bool,
}

/// Both kinds.
#[cfg(any(feature = "testing", feature = "webhooks"))]
pub(crate) const CONFIGURATIONS: [Configured; 2] = [
    Configured {
        plural: "mutatingwebhookconfigurations",
        kind: "MutatingWebhookConfiguration",
        name: "mutating-webhook-configuration",
        #[cfg(feature = "webhooks")]
        mutating: true,
    },
    Configured {
        plural: "validatingwebhookconfigurations",
        kind: "ValidatingWebhookConfiguration",
        name: "validating-webhook-configuration",
        #[cfg(feature = "webhooks")]
        mutating: false,
    },
];

/// A conversion webhook, as certificates and permissions need it.
#[derive(Clone)]
pub(crate) struct Converting {
    /// The name of the CustomResourceDefinition.
    pub(crate) definition: String,
    /// One of the versions that it converts, with its group.
    pub(crate) api_version: String,
    pub(crate) path: String,
    pub(crate) stored: StorageVersion,
}
