//! What differs from kind to kind: how an object is decoded, defaulted, prepared and validated. The registry does the
//! rest the same way for all. Two implementors: the built-in kinds and the kinds that CRDs define.

use std::{borrow::Cow, sync::Arc};

use kubewright_schema::{Cause, cause::Objections};
use serde_json::Value;
use tokio::sync::watch;

use crate::{allocation::Held, apply::Schema, status::Status};

/// What strict decoding refuses, in the words of the server: `unknown field "spec.foo"`, `duplicate field "spec.a"`.
pub type StrictErrors = Vec<String>;

/// Which empty lists and maps an object of a built-in kind has. See [`Strategy::empties`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Empties {
    /// Those that Go's encoder writes, and those that mean something else than none to rules of the kind.
    Meaningful,
    /// Those that Go's encoder writes: what fields can be owned.
    Encoded,
    /// None: what comes back from the store.
    Stored,
}

/// What is the same for all objects of a kind in one version. By default, what most built-in kinds have.
#[derive(Clone)]
pub struct Rules {
    /// What `metadata.name` must be.
    pub name: NameRule,
    /// Whether it is one of Kubernetes' own kinds, which have a Go type upstream, rather than a custom one. Strategic merge
    /// patches are understood for these alone; 415 otherwise.
    pub is_built_in: bool,
    /// Whether `spec` and `status` have endpoints of their own.
    pub has_status: bool,
    /// The JSON paths of the scale subresource.
    pub scale: Option<Scale>,
    /// Whether `metadata.generation` counts changes of everything but metadata (and status, where that is a
    /// subresource). Custom kinds and those built-in ones that have it.
    pub counts_generation: bool,
    /// The field of the metadata whose changes count as well: `annotations` of Deployments, `labels` of EndpointSlices.
    pub counts_metadata: Option<&'static str>,
    /// Whether an empty list or map in the place of none is another generation.
    pub counts_empty: bool,
    /// Whether a PUT to a name that is not there creates it (Leases, Services' endpoints, …).
    pub creates_on_update: bool,
    /// Whether a PUT without `resourceVersion` overwrites whatever is there.
    pub updates_unconditionally: bool,
    /// What the kind itself checks of the metadata at an update of the object, after the registry.
    pub metadata_passes: &'static [MetadataPass],
    /// The same at an update of the status, or of what finalizes a namespace.
    pub status_metadata_passes: &'static [MetadataPass],
    /// What nobody owns by writing the status, because that write does not change it.
    pub reset_by_status: &'static [&'static str],
    /// Whether `spec.finalizers` keep an object until the subresource `finalize` has removed them: Namespaces.
    pub has_spec_finalizers: bool,
    /// How objects are deleted.
    pub deletion: Deletion,
    /// Whether objects grant permissions, which nobody may do who does not have them.
    pub grants: Option<Grants>,
    /// What objects are given of what a cluster has only so much of.
    pub held: Option<Arc<Held>>,
    /// The resource's name in the store's keys where it is not its own `group/plural`: the Events of `events.k8s.io` are
    /// those of the core group, `/events`.
    pub stored_as: Option<&'static str>,
    /// The directory in the etcd keys of the real server, which some answers quote, where it is not the plural (with
    /// the group, for custom kinds). Recorded from answers to a PUT with another uid.
    pub etcd_directory: Option<&'static str>,
    /// The package of the Go type that upstream has within itself, where that is not named after the group.
    pub go_package: Option<&'static str>,
    /// What readers of this version get of an object in the store: records of a later revision than this stand there
    /// word for word; older ones, or all with `None`, go through [`Strategy::read`] first. Built-in kinds never change.
    pub verbatim_after: Option<u64>,
    /// The columns of `kubectl get`, without those that the registry puts first.
    pub columns: Vec<Column>,
    /// The OpenAPI v3 definitions of the kind and of its list, for kinds that are not recorded with the built-in ones.
    pub published: Option<[Value; 2]>,
    /// The sentence that every answer of a deprecated version carries as `Warning: 299`.
    pub deprecation: Option<Cow<'static, str>>,
    /// Why nothing new may be created for now (not even by an apply): the end of a 403's sentence, after `is forbidden: `.
    /// Discovery leaves out `create`, `update` and `patch` then; the latter two work all the same.
    pub forbids_creation: Option<&'static str>,
    /// For kinds that come and go: the channel closes when this strategy is replaced or its kind is gone, and watches of
    /// the resource end then.
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
            reset_by_status: &["spec"],
            has_spec_finalizers: false,
            deletion: Deletion::default(),
            grants: None,
            held: None,
            stored_as: None,
            etcd_directory: None,
            go_package: None,
            verbatim_after: Some(0),
            columns: Vec::new(),
            published: None,
            deprecation: None,
            forbids_creation: None,
            ends: None,
        }
    }
}

impl Rules {
    /// What `object` holds of the server's (clusterIP, nodePort) may be given to others: it was deleted, or its create or
    /// update failed after it was prepared (then `kept` is what stays in the store, if anything does).
    pub fn release(&self, object: &Value, kept: Option<&Value>) {
        if let Some(held) = &self.held {
            held.release(object, kept);
        }
    }

    /// An object of the store when the server started: what it holds is not free.
    pub fn hold(&self, object: &Value) {
        if let Some(held) = &self.held {
            held.hold(object);
        }
    }
}

/// How the objects of a kind are deleted. By default they go at once, and with them what they own.
#[derive(Clone, Copy, Default)]
pub struct Deletion {
    /// Whether the answer is the object and not a Status. Recorded.
    pub returns_object: bool,
    /// Whether dependents stay unless the options of the deletion say otherwise.
    pub orphans_dependents: bool,
    /// The warning about options that do not say it.
    pub warning: Option<&'static str>,
    /// For kinds whose objects may first stop what they run: how many seconds an object has, given those that the client
    /// asks for. With 0 it goes at once.
    pub grace_seconds: Option<fn(&Value, Option<i64>) -> i64>,
}

/// How an object grants permissions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Grants {
    /// It lists them: roles.
    Rules,
    /// It refers to what lists them: bindings.
    Role,
}

/// One time that metadata is checked. Upstream's registry and upstream's kinds both do it, each kind in its own way, and
/// clients see every objection as often as it was found: in `details.causes`, not in the message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MetadataPass {
    /// The rules of changes.
    Update,
    /// All other rules.
    Validate,
    /// That finalizers without a domain are Kubernetes' own.
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
    /// Kinds that leave it to the registry.
    pub const NONE: &'static [Self] = &[];
}

/// Knows the objects of one kind in one version.
///
/// Objects are whole (`apiVersion`, `kind`, `metadata`, …) and in the version of the resource. Unless said otherwise
/// the registry has dealt with `metadata` before and after, so a strategy looks at the rest.
pub trait Strategy: Send + Sync + 'static {
    /// What is the same for all its objects.
    fn rules(&self) -> &Rules;

    /// Reads what a client sent: types must fit (a 400 or 422, as the real server has it for this kind), fields that
    /// the kind does not have are dropped and returned, nulls go where the server drops them.
    ///
    /// # Errors
    /// The Status of a body that cannot be this kind.
    fn decode(&self, object: &mut Value) -> Result<StrictErrors, Status>;

    /// Fills in what is left out; also for objects from the store.
    fn default(&self, object: &mut Value);

    /// Like [`Strategy::decode`], for an object that the server put together of others, which it converts in other ways:
    /// whole numbers may be written as fractions, and the sentences about what does not fit are others.
    ///
    /// # Errors
    /// The Status of an object that cannot be this kind.
    fn convert(&self, object: &mut Value) -> Result<StrictErrors, Status> {
        self.decode(object)
    }

    /// Brings a decoded object, with all its empty lists and maps, into a form that has fewer, and returns whether it had any.
    /// Custom kinds keep theirs for ever.
    fn empties(&self, _object: &mut Value, _form: Empties) -> bool {
        false
    }

    /// Before a create: clears what clients may not set (`status`), allocates what the server gives (clusterIP), but for a
    /// create by a write of a `subresource`, which upstream does without. Name, namespace and uid are there.
    fn prepare_for_create(&self, subresource: &str, object: &mut Value);

    /// Before an update of the object (`subresource` empty) or of `status`: takes over from `old` what this endpoint
    /// must not change. `metadata.generation` is the registry's, see [`Rules::counts_generation`].
    fn prepare_for_update(&self, subresource: &str, new: &mut Value, old: &Value);

    /// What is wrong with a new object, but for its metadata. Fields are paths as the server writes them (`spec.target`).
    fn validate(&self, object: &Value) -> Vec<Cause>;

    /// What is wrong with the change from `old` to `new`, everything [`Strategy::validate`] says included.
    /// The server warns of what it forgives, whether it refuses the rest or not.
    fn validate_update(&self, subresource: &str, new: &Value, old: &Value) -> Objections;

    /// Sentences for `Warning: 299` headers about an object that is accepted.
    fn warnings(&self, object: &Value) -> Vec<String>;

    /// Like [`Strategy::warnings`], for a change: some kinds warn only of what was not there before.
    fn update_warnings(&self, subresource: &str, new: &Value, old: &Value) -> Vec<String>;

    /// For kinds whose first deletion only marks them (`deletionTimestamp` and, say, a finalizer of their own), because
    /// the server cleans up behind them: writes the marks and returns true. The registry stores `object` as it then
    /// is, without touching its generation, and answers with it. `now` is in the form of `creationTimestamp`.
    fn begin_deletion(&self, _object: &mut Value, _now: &str) -> bool {
        false
    }

    /// Brings an object as it was stored, in whatever version and under whatever schema, into this version: defaults
    /// of the version it was stored in, this version's `apiVersion`, and nothing that this version does not have.
    fn read(&self, _object: &mut Value) {}

    /// Brings an object of this version, ready to be stored, into the version that the store keeps.
    fn write(&self, _object: &mut Value) {}

    /// The shape, for server-side apply and strategic merge.
    fn schema(&self) -> &Schema;

    /// The value of a field selector other than `metadata.name` and `metadata.namespace`; `None` when the kind has no
    /// such selectable field. An absent value is empty.
    fn field(&self, object: &Value, path: &str) -> Option<String>;

    /// One value per column, for one object. `now` is what ages count from, in seconds since 1970.
    fn cells(&self, object: &Value, now: i64) -> Vec<Value>;
}

/// What names a kind takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NameRule {
    /// DNS-1123 subdomain, 253 characters: most kinds.
    Subdomain,
    /// DNS-1123 label, 63 characters: Namespaces.
    Label,
    /// DNS-1035 label: Services.
    Label1035,
    /// Anything that is one segment of a path: RBAC.
    PathSegment,
}

/// The scale subresource: where in the object its numbers are, `.spec.replicas` for example.
#[derive(Clone, Debug, Default)]
pub struct Scale {
    /// Wanted replicas.
    pub spec_replicas: Cow<'static, str>,
    /// Actual replicas.
    pub status_replicas: Cow<'static, str>,
    /// The selector of the replicas, as text; built-in kinds have a LabelSelector there instead.
    pub label_selector: Option<Cow<'static, str>>,
}

/// A column of a Table.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean`, `date`.
    pub r#type: String,
    /// `name` for the first, `int64` and the like otherwise.
    pub format: String,
    /// For people.
    pub description: String,
    /// 0 shows always, 1 with `-o wide`.
    pub priority: i64,
}
