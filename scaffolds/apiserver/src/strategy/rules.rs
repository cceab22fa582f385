//! The properties that all objects of a kind in one version share.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;
use tokio::sync::watch;

#[cfg(doc)]
use super::Versions;
use crate::{allocation::Held, conversion::Conversion, user::User};

/// The properties that all objects of a kind in one version share. The defaults are those of most built-in kinds.
#[derive(Clone, Default)]
pub struct Rules {
    /// The format of `metadata.name`.
    pub name: NameRule,
    /// Whether `spec` and `status` have endpoints of their own.
    pub has_status: bool,
    /// The JSON paths of the scale subresource.
    pub scale: Option<Scale>,
    /// The changes that `metadata.generation` counts.
    pub generation: Generation,
    /// PUT requests.
    pub put: Put,
    /// The kind's own checks of the metadata in an update, after the registry's.
    pub passes: Passes,
    /// The fields that a write does not change, so it does not own them.
    pub resets: Resets,
    /// Values that the server writes into objects.
    pub stamps: Stamps,
    /// Whether `spec.finalizers` keep an object until the subresource `finalize` has removed them, as those of Namespaces.
    pub has_spec_finalizers: bool,
    /// Another version in which bodies of the same shape are taken.
    pub also_read_as: Option<&'static str>,
    /// The deletion of objects.
    pub deletion: Deletion,
    /// The permissions that objects grant, if any: their writers need those permissions themselves.
    pub grants: Option<Grants>,
    /// The objects' reservations of a cluster's limited values, such as addresses and ports.
    pub held: Option<Arc<Held>>,
    /// The objects in the store.
    pub storage: Storage,
    /// Upstream's internal Go type.
    pub internal: Internal,
    /// The rows of `kubectl get`.
    pub table: TableRules,
    /// The deprecation warning, which every answer in this version has as a header `Warning: 299`.
    pub deprecation: Option<Cow<'static, str>>,
    /// The reason that no object may be created now, not even by an apply: the end of the message of a 403, after `is forbidden: `.
    /// Discovery then omits `create`, `update` and `patch`; the latter two still work.
    pub forbids_creation: Option<&'static str>,
    /// The rules of a custom kind; `None` for Kubernetes' own kinds.
    pub custom: Option<CustomRules>,
}

impl Rules {
    /// Whether it is one of Kubernetes' own kinds, which have a Go type upstream, rather than a custom one. Only these
    /// support strategic merge patches; the others answer 415.
    pub fn is_built_in(&self) -> bool {
        self.custom.is_none()
    }

    /// The converter between the kind's versions, if a webhook converts objects. [`Versions::read`] and [`Versions::write`] are then not
    /// called for objects in another version than the one that is wanted.
    pub fn conversion(&self) -> Option<&Arc<Conversion>> {
        self.custom.as_ref()?.conversion.as_ref()
    }

    /// Releases what `object` holds of the server's limited values (clusterIP, nodePort), because it was deleted, or
    /// because its create or update failed after preparation. In the latter case, `kept` is the object that remains stored, if any.
    pub fn release(&self, object: &Value, kept: Option<&Value>) {
        if let Some(held) = &self.held {
            held.release(object, kept);
        }
    }

    /// Reserves what an object holds that was stored when the server started.
    pub fn hold(&self, object: &Value) {
        if let Some(held) = &self.held {
            held.hold(object);
        }
    }
}

/// The rules that only custom kinds have.
#[derive(Clone)]
pub struct CustomRules {
    /// The OpenAPI v3 definitions of the kind and of its list.
    pub published: [Value; 2],
    /// See [`Rules::conversion`].
    pub conversion: Option<Arc<Conversion>>,
    /// A channel that closes when this strategy is replaced or its kind removed, which ends watches of the resource. `None` if neither
    /// happens.
    pub ends: Option<watch::Receiver<()>>,
}

/// The changes that `metadata.generation` counts. By default the kind has no generation.
#[derive(Clone, Copy, Default)]
pub struct Generation {
    /// Whether changes of everything but metadata (and status, if that is a subresource) count.
    pub is_counted: bool,
    /// The field of the metadata whose changes count too: `annotations` of Deployments, `labels` of EndpointSlices.
    pub metadata: Option<&'static str>,
    /// Whether replacing an absent list or map by an empty one counts.
    pub counts_empty: bool,
}

impl Generation {
    /// Custom kinds and those built-in kinds that have a generation.
    pub const COUNTED: Self = Self {
        is_counted: true,
        metadata: None,
        counts_empty: false,
    };
}

/// PUT requests to a kind.
#[derive(Clone, Copy)]
pub struct Put {
    /// Whether one creates an object that does not exist (Leases, Services' endpoints, …).
    pub creates: bool,
    /// Whether one without `resourceVersion` overwrites any present state.
    pub is_unconditional: bool,
}

impl Put {
    /// Custom kinds and some built-in ones.
    pub const CONDITIONAL: Self = Self {
        creates: false,
        is_unconditional: false,
    };
    /// Services and others.
    pub const CREATES: Self = Self {
        creates: true,
        is_unconditional: true,
    };
    /// Leases and RuntimeClasses.
    pub const CREATES_CONDITIONALLY: Self = Self {
        creates: true,
        is_unconditional: false,
    };
}

/// Most built-in kinds.
impl Default for Put {
    fn default() -> Self {
        Self {
            creates: false,
            is_unconditional: true,
        }
    }
}

/// The fields that a write does not change, so it does not own them.
#[derive(Clone)]
pub struct Resets {
    /// By an update of the object, if status is a subresource.
    pub object: &'static [&'static str],
    /// By a write of the status.
    pub status: &'static [&'static str],
    /// Further subresources that write a part of the object, and the fields that they do not change.
    pub parts: Vec<(&'static str, &'static [&'static str])>,
}

impl Default for Resets {
    fn default() -> Self {
        Self {
            object: &["status"],
            status: &["spec"],
            parts: Vec::new(),
        }
    }
}

/// Values that the server writes into objects.
#[derive(Clone, Copy, Default)]
pub struct Stamps {
    /// Writes the user who creates an object into it.
    pub user: Option<fn(&mut Value, &User)>,
    /// Writes the time into fields that have it as default, given the object and the time.
    pub default: Option<fn(&mut Value, &str)>,
    /// Writes the time into an update of the object or of a subresource, given the new object, the old one and the time.
    pub update: Option<fn(&mut Value, &Value, &str)>,
}

/// The objects of a kind in the store.
#[derive(Clone, Copy)]
pub struct Storage {
    /// The resource's name in the store's keys, if it is not its own `group/plural`: the Events of `events.k8s.io` are
    /// stored as those of the core group, `/events`.
    pub name: Option<&'static str>,
    /// Whether the real server has no watch cache of the kind, as of Events: its continue tokens have another form.
    pub is_uncached: bool,
    /// The directory in the real server's etcd keys, which some answers quote, if it is not the plural (for custom
    /// kinds, with the group). Recorded from answers to a PUT with another uid.
    pub etcd_directory: Option<&'static str>,
    /// The revision after which stored objects are read unchanged in this version. Older objects, or all if this is
    /// `None`, go through [`Versions::read`] first. Built-in kinds never change.
    pub verbatim_after: Option<u64>,
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            name: None,
            is_uncached: false,
            etcd_directory: None,
            verbatim_after: Some(0),
        }
    }
}

/// Upstream's internal Go type of a kind.
#[derive(Clone, Copy, Default)]
pub struct Internal {
    /// Its package, if it is not named after the group.
    pub go_package: Option<&'static str>,
    /// Annotations that are fields of it, so that metadata alone lacks them.
    pub field_annotations: &'static [&'static str],
}

/// The rows of `kubectl get`.
#[derive(Clone, Default)]
pub struct TableRules {
    /// The columns, without those that the registry adds before them.
    pub columns: Vec<Column>,
    /// The phases in which an object is complete, and the messages about it in the rows.
    pub complete_in: &'static [[&'static str; 2]],
    /// The JSON pointer to the number by which rows are sorted; by default they have the order of the list.
    pub rows_by: Option<&'static str>,
}

/// The deletion of objects of a kind. By default they are removed at once, and the garbage collector deletes their dependents.
#[derive(Clone, Copy, Default)]
pub struct Deletion {
    /// Whether the answer is the deleted object and not a Status. Recorded.
    pub returns_object: bool,
    /// Whether dependents are orphaned unless the request has a propagation policy.
    pub orphans_dependents: bool,
    /// Whether dependents are left alone whatever the request asks for.
    pub leaves_dependents: bool,
    /// Whether a request cannot ask for the deletion of an object that the storage cannot read.
    pub only_readable: bool,
    /// The warning for a request without a propagation policy.
    pub warning: Option<&'static str>,
    /// For kinds with graceful deletion: the grace period of an object in seconds, given the one in the request. With 0
    /// the object is removed at once.
    pub grace_seconds: Option<fn(&Value, Option<i64>) -> i64>,
    /// For kinds some of whose objects cannot be deleted one by one: why not the object of this name.
    pub forbids: Option<fn(&str) -> Option<&'static str>>,
}

/// The way in which an object grants permissions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Grants {
    /// It lists permissions: roles.
    Rules,
    /// It refers to a role: bindings.
    Role,
}

/// One pass of checks on metadata. Upstream, both the registry and the validation of each kind check it. Clients see a
/// repeated error once for each pass in `details.causes`, but only once in the message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MetadataPass {
    /// The rules for changes.
    Update,
    /// All other rules.
    Validate,
    /// The rule that finalizers without a domain must be Kubernetes' own.
    FinalizerNames,
}

impl MetadataPass {
    /// Most built-in kinds.
    pub const USUAL: &'static [Self] = &[Self::Update, Self::FinalizerNames];
    /// Nodes and others.
    pub const VALIDATE_THEN_UPDATE: &'static [Self] =
        &[Self::Validate, Self::FinalizerNames, Self::Update, Self::FinalizerNames];
    /// Custom kinds and Leases.
    pub const UPDATE: &'static [Self] = &[Self::Update];
    /// Kinds that leave these checks to the registry.
    pub const NONE: &'static [Self] = &[];
}

/// The passes of a kind's own checks of metadata.
#[derive(Clone, Copy)]
pub struct Passes {
    /// In an update of the object.
    pub object: &'static [MetadataPass],
    /// In an update of the status, or of a namespace's `finalize`.
    pub status: &'static [MetadataPass],
}

impl Passes {
    /// Most built-in kinds.
    pub const USUAL: Self = Self {
        object: MetadataPass::USUAL,
        status: MetadataPass::USUAL,
    };
    /// ConfigMaps and others.
    pub const UPDATE_THEN_VALIDATE: Self = Self {
        object: &[
            MetadataPass::Update,
            MetadataPass::FinalizerNames,
            MetadataPass::Validate,
            MetadataPass::FinalizerNames,
        ],
        status: MetadataPass::USUAL,
    };
    /// Nodes and others.
    pub const VALIDATE_THEN_UPDATE: Self = Self {
        object: MetadataPass::VALIDATE_THEN_UPDATE,
        status: MetadataPass::USUAL,
    };
    /// PersistentVolumes.
    pub const VALIDATE_TWICE: Self = Self {
        object: &[
            MetadataPass::Validate,
            MetadataPass::FinalizerNames,
            MetadataPass::Validate,
            MetadataPass::FinalizerNames,
        ],
        status: MetadataPass::USUAL,
    };
    /// LimitRanges and EndpointSlices.
    pub const VALIDATE: Self = Self {
        object: &[MetadataPass::Validate, MetadataPass::FinalizerNames],
        status: MetadataPass::USUAL,
    };
    /// Custom kinds and Leases.
    pub const UPDATE: Self = Self {
        object: MetadataPass::UPDATE,
        status: MetadataPass::UPDATE,
    };
    /// Kinds that leave these checks to the registry.
    pub const NONE: Self = Self {
        object: MetadataPass::NONE,
        status: MetadataPass::NONE,
    };
}

impl Default for Passes {
    fn default() -> Self {
        Self::USUAL
    }
}

/// The format of a kind's names.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum NameRule {
    /// DNS-1123 subdomain, 253 characters: most kinds.
    #[default]
    Subdomain,
    /// DNS-1123 label, 63 characters: Namespaces.
    Label,
    /// Any single segment of a path: RBAC.
    PathSegment,
    /// An IP address in its canonical form, which no name is generated from: IPAddresses.
    Address,
}

/// Upstream's description of `metadata.creationTimestamp`, which columns with ages or times of creation have.
pub const CREATED: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. \
    It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this \
    value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. \
    More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The paths of the scale subresource in an object, for example `.spec.replicas`.
#[derive(Clone, Debug, Default)]
pub struct Scale {
    /// The desired replicas.
    pub spec_replicas: Cow<'static, str>,
    /// The observed replicas.
    pub status_replicas: Cow<'static, str>,
    /// The selector of the replicas, as text; built-in kinds have a LabelSelector instead.
    pub label_selector: Option<Cow<'static, str>>,
}

/// A column of a Table.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean`, `date`.
    pub r#type: String,
    /// `name` for the first column, otherwise for example `int64`.
    pub format: String,
    /// The description for users.
    pub description: String,
    /// 0 always shows the column, 1 only with `-o wide`.
    pub priority: i64,
}
