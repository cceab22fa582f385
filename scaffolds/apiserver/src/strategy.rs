//! The differences between kinds: the decoding, defaulting, preparation and validation of objects. The registry does all
//! else in the same way for every kind. Built-in kinds and kinds that CRDs define implement the trait.

use std::{borrow::Cow, sync::Arc};

use kubewright_machinery::{Cause, cause::Objections};
use kubewright_schema::typed::Schema;
use serde_json::Value;
use tokio::sync::watch;

use crate::{allocation::Held, conversion::Conversion, status::Status, user::User};

/// The errors of strict decoding, in the server's words: `unknown field "spec.foo"`, `duplicate field "spec.a"`.
pub type StrictErrors = Vec<String>;

/// The empty lists and maps of a built-in kind's object that are kept. See [`Strategy::empties`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Empties {
    /// The empty values that Go's encoder writes, and those that the kind's rules distinguish from absent ones.
    Meaningful,
    /// The empty values that Go's encoder writes, whose fields can be owned, and those in atomic lists, which differ from absent ones
    /// when upstream compares such lists.
    Encoded,
    /// No empty values, as in objects that are read from the store.
    Stored,
}

/// The properties that all objects of a kind in one version share. The defaults are those of most built-in kinds.
#[derive(Clone)]
pub struct Rules {
    /// The format of `metadata.name`.
    pub name: NameRule,
    /// Whether it is one of Kubernetes' own kinds, which have a Go type upstream, rather than a custom one. Only these
    /// support strategic merge patches; the others answer 415.
    pub is_built_in: bool,
    /// Whether `spec` and `status` have endpoints of their own.
    pub has_status: bool,
    /// The JSON paths of the scale subresource.
    pub scale: Option<Scale>,
    /// Whether `metadata.generation` counts changes of everything but metadata (and status, if that is a subresource).
    /// True for custom kinds and for those built-in kinds that have a generation.
    pub counts_generation: bool,
    /// The field of the metadata whose changes also increment the generation: `annotations` of Deployments, `labels` of EndpointSlices.
    pub counts_metadata: Option<&'static str>,
    /// Whether replacing an absent list or map by an empty one increments the generation.
    pub counts_empty: bool,
    /// Whether a PUT creates an object that does not exist (Leases, Services' endpoints, …).
    pub creates_on_update: bool,
    /// Whether a PUT without `resourceVersion` overwrites any present state.
    pub updates_unconditionally: bool,
    /// The kind's own checks of the metadata in an update of the object, after the registry's.
    pub metadata_passes: &'static [MetadataPass],
    /// The same in an update of the status, or of a namespace's `finalize`.
    pub status_metadata_passes: &'static [MetadataPass],
    /// The fields that an update of the object does not change if status is a subresource, so it does not own them.
    pub reset_by_update: &'static [&'static str],
    /// The fields that a write of the status does not change, so it does not own them.
    pub reset_by_status: &'static [&'static str],
    /// Further subresources that write a part of the object, and the fields that they do not own.
    pub parts: Vec<(&'static str, &'static [&'static str])>,
    /// Writes the user who creates an object into it.
    pub records_user: Option<fn(&mut Value, &User)>,
    /// Writes the time into fields that have it as default, given the object and the time.
    pub dates_default: Option<fn(&mut Value, &str)>,
    /// Writes the time into an update of the object or of a subresource, given the new object, the old one and the time.
    pub dates_update: Option<fn(&mut Value, &Value, &str)>,
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
    /// The resource's name in the store's keys, if it is not its own `group/plural`: the Events of `events.k8s.io` are
    /// stored as those of the core group, `/events`.
    pub stored_as: Option<&'static str>,
    /// Whether the real server has no watch cache of the kind, as of Events: its continue tokens have another form.
    pub is_uncached: bool,
    /// The directory in the real server's etcd keys, which some answers quote, if it is not the plural (for custom
    /// kinds, with the group). Recorded from answers to a PUT with another uid.
    pub etcd_directory: Option<&'static str>,
    /// The package of upstream's internal Go type, if it is not named after the group.
    pub go_package: Option<&'static str>,
    /// The revision after which stored objects are read unchanged in this version. Older objects, or all if this is
    /// `None`, go through [`Strategy::read`] first. Built-in kinds never change.
    pub verbatim_after: Option<u64>,
    /// The columns of `kubectl get`, without those that the registry adds before them.
    pub columns: Vec<Column>,
    /// Annotations that are fields of upstream's internal type, so that metadata alone lacks them.
    pub field_annotations: &'static [&'static str],
    /// The phases in which an object is complete, and the messages about it in the rows of a Table.
    pub complete_in: &'static [[&'static str; 2]],
    /// The JSON pointer to the number by which rows of a Table are sorted; by default they have the order of the list.
    pub rows_by: Option<&'static str>,
    /// The OpenAPI v3 definitions of the kind and of its list, for kinds whose definitions are not recorded.
    pub published: Option<[Value; 2]>,
    /// The deprecation warning, which every answer in this version has as a header `Warning: 299`.
    pub deprecation: Option<Cow<'static, str>>,
    /// The reason that no object may be created now, not even by an apply: the end of the message of a 403, after `is forbidden: `.
    /// Discovery then omits `create`, `update` and `patch`; the latter two still work.
    pub forbids_creation: Option<&'static str>,
    /// The converter between the kind's versions, if a webhook converts objects. [`Strategy::read`] and [`Strategy::write`]
    /// are then not called for objects in another version than the one that is wanted.
    pub conversion: Option<Arc<Conversion>>,
    /// For kinds that can be removed: the channel closes when this strategy is replaced or its kind removed, which ends
    /// watches of the resource.
    pub ends: Option<watch::Receiver<()>>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            name: NameRule::Subdomain,
            is_built_in: true,
            has_status: false,
            scale: None,
            counts_generation: false,
            counts_metadata: None,
            counts_empty: false,
            creates_on_update: false,
            updates_unconditionally: true,
            metadata_passes: MetadataPass::USUAL,
            status_metadata_passes: MetadataPass::USUAL,
            reset_by_update: &["status"],
            reset_by_status: &["spec"],
            parts: Vec::new(),
            records_user: None,
            dates_default: None,
            dates_update: None,
            has_spec_finalizers: false,
            also_read_as: None,
            deletion: Deletion::default(),
            grants: None,
            held: None,
            stored_as: None,
            is_uncached: false,
            etcd_directory: None,
            go_package: None,
            verbatim_after: Some(0),
            columns: Vec::new(),
            field_annotations: &[],
            complete_in: &[],
            rows_by: None,
            published: None,
            deprecation: None,
            forbids_creation: None,
            conversion: None,
            ends: None,
        }
    }
}

impl Rules {
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
    /// ConfigMaps and others.
    pub const UPDATE_THEN_VALIDATE: &'static [Self] =
        &[Self::Update, Self::FinalizerNames, Self::Validate, Self::FinalizerNames];
    /// Nodes and others.
    pub const VALIDATE_THEN_UPDATE: &'static [Self] =
        &[Self::Validate, Self::FinalizerNames, Self::Update, Self::FinalizerNames];
    /// PersistentVolumes.
    pub const VALIDATE_TWICE: &'static [Self] = &[
        Self::Validate,
        Self::FinalizerNames,
        Self::Validate,
        Self::FinalizerNames,
    ];
    /// LimitRanges and EndpointSlices.
    pub const VALIDATE: &'static [Self] = &[Self::Validate, Self::FinalizerNames];
    /// Custom kinds and Leases.
    pub const UPDATE: &'static [Self] = &[Self::Update];
    /// Kinds that leave these checks to the registry.
    pub const NONE: &'static [Self] = &[];
}

/// Implements one kind in one version.
///
/// Objects are complete (`apiVersion`, `kind`, `metadata`, …) and in the version of the resource. Unless stated
/// otherwise, the registry processes `metadata`, and a strategy only the rest.
pub trait Strategy: Send + Sync + 'static {
    /// The properties that all its objects share.
    fn rules(&self) -> &Rules;

    /// Decodes an object that a client sent. Values must be of the right types (otherwise 400 or 422, as the real
    /// server answers for this kind). Unknown fields are removed and returned, and nulls are removed where the server
    /// removes them.
    ///
    /// # Errors
    /// The Status for a body that is not an object of this kind.
    fn decode(&self, object: &mut Value) -> Result<StrictErrors, Status>;

    /// Sets defaults; also in objects from the store.
    fn default(&self, object: &mut Value);

    /// Like [`Strategy::decode`], for an object that the server has produced by an apply or a patch. The server
    /// converts these differently: whole numbers may be written as floats, and messages about wrong types differ.
    ///
    /// # Errors
    /// The Status for an object that is not of this kind.
    fn convert(&self, object: &mut Value) -> Result<StrictErrors, Status> {
        self.decode(object)
    }

    /// Removes those empty lists and maps from a decoded object that `form` does not keep, and returns whether there
    /// were any. Custom kinds keep them all.
    fn empties(&self, _object: &mut Value, _form: Empties) -> bool {
        false
    }

    /// Warnings about a new object before it is prepared, which clients get even if the object is refused.
    fn early_warnings(&self, _object: &Value) -> Vec<String> {
        Vec::new()
    }

    /// Before a create: clears the fields that clients may not set (`status`) and allocates what the server assigns
    /// (clusterIP). A create through a `subresource` skips this, as upstream. Name, namespace and uid are set already.
    fn prepare_for_create(&self, subresource: &str, object: &mut Value);

    /// Before an update of the object (`subresource` empty) or of `status`: takes over from `old` what this endpoint
    /// must not change. `metadata.generation` is the registry's, see `Rules::counts_generation`.
    fn prepare_for_update(&self, subresource: &str, new: &mut Value, old: &Value);

    /// Whether an object has the kind and the version of this strategy. A custom object of another kind or version is decoded,
    /// and validation refuses it.
    fn is_of_type(&self, _object: &Value) -> bool {
        true
    }

    /// The validation errors of a new object, except those of its metadata, which are in `found`. Fields are paths as the
    /// server writes them (`spec.target`).
    fn validate(&self, object: &Value, found: &[Cause]) -> Vec<Cause>;

    /// The validation errors of the change from `old` to `new`, including those of [`Strategy::validate`], and the
    /// warnings for errors that are tolerated, which the server sends whether it refuses the change or not. `found` has
    /// the errors in the metadata.
    fn validate_update(&self, subresource: &str, new: &Value, old: &Value, found: &[Cause]) -> Objections;

    /// Warnings for an accepted object, which become `Warning: 299` headers.
    fn warnings(&self, object: &Value) -> Vec<String>;

    /// Like [`Strategy::warnings`], for a change: some kinds warn only about fields that are new.
    fn update_warnings(&self, subresource: &str, new: &Value, old: &Value) -> Vec<String>;

    /// For kinds whose first deletion only marks an object (with a `deletionTimestamp`, and possibly a finalizer)
    /// because a controller has to clean up: sets the marks and returns true. The registry then stores `object` without
    /// changing its generation, and answers with it. `now` has the format of `creationTimestamp`.
    fn begin_deletion(&self, _object: &mut Value, _now: &str) -> bool {
        false
    }

    /// Converts an object, which may have been stored in another version and under an older schema, to this version:
    /// sets the defaults of the version in which it was stored and this version's `apiVersion`, and removes the fields
    /// that this version does not have.
    fn read(&self, _object: &mut Value) {}

    /// The first step of [`Strategy::read`] where a webhook converts: sets the defaults of the version in which an
    /// object was stored, and removes the fields that this one does not have.
    fn read_stored(&self, _object: &mut Value) {}

    /// The last step, after the webhook: removes the fields that the object's version does not have.
    ///
    /// # Errors
    /// 500 for metadata of an embedded resource that is not of the right type.
    fn read_converted(&self, _object: &mut Value) -> Result<(), Status> {
        Ok(())
    }

    /// Converts an object of this version, ready to be stored, to the storage version.
    fn write(&self, _object: &mut Value) {}

    /// Whether two values of a top-level field are equal, so that replacing one by the other leaves the generation.
    fn is_equal(&self, _field: &str, one: &Value, other: &Value) -> bool {
        one == other
    }

    /// The schema for server-side apply and strategic merge patches.
    fn schema(&self) -> &Schema;

    /// The schema of a version (`group/version`) that the kind has and that is not served: `managedFields` may name it.
    fn unserved(&self, _api_version: &str) -> Option<&Schema> {
        None
    }

    /// The value of a selectable field other than `metadata.name` and `metadata.namespace`; `None` if the kind does not
    /// support it. An absent value is empty.
    fn field(&self, object: &Value, path: &str) -> Option<String>;

    /// The cells of an object, one for each column. `now` is the time for ages, in seconds since 1970.
    fn cells(&self, object: &Value, now: i64) -> Vec<Value>;
}

/// The format of a kind's names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NameRule {
    /// DNS-1123 subdomain, 253 characters: most kinds.
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
