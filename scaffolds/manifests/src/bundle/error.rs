//! The reasons that there is no bundle.

use crate::chart::ChartError;

/// The reasons that there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The objects are not the objects of an operator's project.
    #[error(transparent)]
    Project(#[from] ChartError),
    /// OLM does not accept the version, or the name that contains it.
    #[error(
        "`{name}` cannot be the name of a ClusterServiceVersion: {why}\n\nhint: pass BUNDLE_VERSION=1.2.3, or set `version` in Cargo.toml"
    )]
    Version {
        /// The name with the version.
        name: String,
        /// The reason.
        why: String,
    },
    /// A channel with a name that cannot stand in labels.
    #[error("`{0}` cannot be the name of a channel\n\nhint: pass CHANNELS=stable,fast")]
    ChannelName(String),
    /// The default channel is not among the channels.
    #[error("the default channel `{0}` is not among the channels\n\nhint: pass CHANNELS={0} as well")]
    Channel(String),
    /// OLM applies no objects of this kind.
    #[error("OLM bundles cannot contain `{0}`: OLM applies no objects of its kind\n\nhint: {LEAVE_OUT}")]
    Kind(String),
    /// OLM creates all objects in the operator's namespace.
    #[error(
        "`{object}` is in the namespace `{namespace}`, and OLM creates every object in the operator's own\n\nhint: {LEAVE_OUT}"
    )]
    Namespace {
        /// Kind and name of the object.
        object: String,
        /// Its namespace.
        namespace: String,
    },
    /// OLM makes this object itself, without this field.
    #[error("OLM makes `{object}` itself, and cannot give it `{field}`\n\nhint: {LEAVE_OUT}")]
    Field {
        /// Kind and name of the object.
        object: String,
        /// The field.
        field: String,
    },
    /// A binding of the operator's ServiceAccount and of others.
    #[error("`{0}` binds the operator's ServiceAccount and others\n\nhint: write two bindings")]
    Mixed(String),
    /// The permissions of the operator's ServiceAccount are not in the output.
    #[error(
        "`{binding}` binds the operator's ServiceAccount to `{role}`, whose rules are not part of the output\n\nhint: add a role with these rules to config/rbac"
    )]
    Role {
        /// Kind and name of the binding.
        binding: String,
        /// Kind and name of the role.
        role: String,
    },
    /// A property of a webhook that OLM has no place for.
    #[error(
        "OLM cannot carry `{field}` of the webhook `{webhook}`: it sets namespaceSelector from the OperatorGroup, and knows no match conditions\n\nhint: {LEAVE_OUT}; an objectSelector is carried"
    )]
    Webhook {
        /// The name of the webhook.
        webhook: String,
        /// The field.
        field: String,
    },
    /// OLM refuses webhooks for this group.
    #[error(
        "OLM accepts no webhook for the API group `{group}`, and `{webhook}` has a rule for it\n\nhint: {LEAVE_OUT}"
    )]
    Group {
        /// The name of the webhook.
        webhook: String,
        /// The group.
        group: String,
    },
    /// The name of a webhook is the value of a label under OLM.
    #[error(
        "`{webhook}` cannot be the name of a webhook under OLM, where it is the value of a label: {why}\n\nhint: {LEAVE_OUT}"
    )]
    WebhookName {
        /// The name.
        webhook: String,
        /// The reason.
        why: String,
    },
    /// OLM makes the Service of webhooks itself, in front of a Deployment.
    #[error(
        "`{0}` is not served through a Service of the output that selects the operator's Pods\n\nhint: see config/webhook/service.yaml"
    )]
    Service(String),
    /// The name of the Service that OLM makes is too long.
    #[error(
        "under OLM the name of the Service of the webhooks would be `{0}`, which is longer than 63 characters\n\nhint: choose a shorter `namePrefix` in config/default/kustomization.yaml"
    )]
    ServiceName(String),
    /// OLM mounts its certificates in one folder.
    #[error(
        "the operator has the flag `{flag}`, but OLM mounts its certificates as tls.crt and tls.key in {folder}\n\nhint: {LEAVE_OUT}"
    )]
    Certificates {
        /// The flag, with its value.
        flag: String,
        /// The folder.
        folder: &'static str,
    },
    /// OLM selects the namespaces that the operator watches.
    #[error("`{0}` selects the namespaces to watch, and under OLM an OperatorGroup selects them\n\nhint: {LEAVE_OUT}")]
    Watched(String),
    /// OLM demands that an operator with converters watches all namespaces.
    #[error(
        "a kind has a conversion webhook, which OLM accepts only if the operator watches all namespaces, and this operator watches its own"
    )]
    Conversion,
    /// Two objects have one file.
    #[error("two objects would be written to `{0}`")]
    Twice(String),
    /// The author describes a kind, or a version of it, that the project does not have.
    #[error(
        "config/bundle/csv.yaml describes a kind in `owned` of which the project has no such name and version: {0}\n\nhint: the names are those of config/crd/bases, such as foobars.test.example.com"
    )]
    Owned(String),
    /// The file of the author is not a mapping.
    #[error("config/bundle/csv.yaml is not a mapping of fields of a ClusterServiceVersion")]
    Base,
}

/// A remedy for an object, or a field, that OLM does not accept.
const LEAVE_OUT: &str =
    "patch it in config/bundle/kustomization.yaml, which `make bundle` reads in place of config/default";
