//! What differs from kind to kind: how an object is decoded, defaulted, prepared and validated. The registry does the
//! rest the same way for all. Two implementors: the built-in kinds and the kinds that CRDs define.

use kubewright_schema::{Cause, cause::Objections};
use serde_json::Value;

use crate::{apply::Schema, status::Status};

/// What `decode` did not know, in the words of the server: `unknown field "spec.foo"`, `duplicate field "spec.a"`.
pub type Strange = Vec<String>;

/// Which empty lists and maps an object of a built-in kind has. See [`Strategy::empties`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Empties {
    /// Those that Go's encoder writes, and those that rules or sentences of the kind tell from none.
    Told,
    /// Those that Go's encoder writes: what fields can be owned.
    Encoded,
    /// None: what comes back from the store.
    Stored,
}

/// Knows the objects of one kind in one version.
///
/// Objects are whole (`apiVersion`, `kind`, `metadata`, …) and in the version of the resource. Unless said otherwise
/// the registry has dealt with `metadata` before and after, so a strategy looks at the rest.
pub trait Strategy: Send + Sync + 'static {
    /// Reads what a client sent: types must fit (a 400 or 422, as the real server has it for this kind), fields that
    /// the kind does not have are dropped and returned, nulls go where the server drops them.
    ///
    /// # Errors
    /// The Status of a body that cannot be this kind.
    fn decode(&self, object: &mut Value) -> Result<Strange, Status>;

    /// Fills in what is left out; also for objects from the store.
    fn default(&self, object: &mut Value);

    /// Like [`Strategy::decode`], for an object that the server put together of others, which it converts in other ways:
    /// whole numbers may be written as fractions, and the sentences about what does not fit are others.
    ///
    /// # Errors
    /// The Status of an object that cannot be this kind.
    fn convert(&self, object: &mut Value) -> Result<Strange, Status> {
        self.decode(object)
    }

    /// Brings a decoded object, with all its empty lists and maps, into a form that has fewer, and returns whether it had any.
    /// Custom kinds keep theirs for ever.
    fn empties(&self, _object: &mut Value, _form: Empties) -> bool {
        false
    }

    /// Whether an empty list or map in the place of none is another generation.
    fn counts_empty(&self) -> bool {
        false
    }

    /// Before a create: clears what clients may not set (`status`), allocates what the server gives (clusterIP), but for a
    /// create by a write of a `subresource`, which upstream does without. Name, namespace and uid are there.
    fn prepare_for_create(&self, subresource: &str, object: &mut Value);

    /// Before an update of the object (`subresource` empty) or of `status`: takes over from `old` what this endpoint
    /// must not change. `metadata.generation` is the registry's, see [`Strategy::counts_generation`].
    fn prepare_for_update(&self, subresource: &str, new: &mut Value, old: &Value);

    /// What the object holds of the server's (clusterIP, nodePort) may be given to others: it was deleted, or its
    /// create or update failed after it was prepared (then `kept` is what stays in the store, if anything does).
    fn release(&self, _object: &Value, _kept: Option<&Value>) {}

    /// An object of the store when the server started: what it holds is not free.
    fn hold(&self, _object: &Value) {}

    /// The resource's name in the store's keys where it is not its own `group/plural`: the Events of `events.k8s.io` are
    /// those of the core group, `/events`.
    fn stored_as(&self) -> Option<&'static str> {
        None
    }

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

    /// What readers of this version get of an object in the store: records of a later revision than this stand there
    /// word for word; older ones, or all with `None`, go through [`Strategy::read`] first. Built-in kinds never change.
    fn verbatim_after(&self) -> Option<u64> {
        Some(0)
    }

    /// Brings an object as it was stored, in whatever version and under whatever schema, into this version: defaults
    /// of the version it was stored in, this version's `apiVersion`, and nothing that this version does not have.
    fn read(&self, _object: &mut Value) {}

    /// Brings an object of this version, ready to be stored, into the version that the store keeps.
    fn write(&self, _object: &mut Value) {}

    /// The OpenAPI v3 definitions of the kind and of its list, for kinds that are not recorded with the built-in ones.
    fn published(&self) -> Option<&[Value; 2]> {
        None
    }

    /// Why nothing new may be created for now (not even by an apply): the end of a 403's sentence, after `is forbidden: `.
    /// Discovery leaves out `create`, `update` and `patch` then; the latter two work all the same.
    fn forbids_creation(&self) -> Option<&'static str> {
        None
    }

    /// For kinds that come and go: the channel closes when this strategy is replaced or its kind is gone, and watches of
    /// the resource end then.
    fn ends(&self) -> Option<tokio::sync::watch::Receiver<()>> {
        None
    }

    /// The sentence that every answer of a deprecated version carries as `Warning: 299`.
    fn deprecation(&self) -> Option<&str> {
        None
    }

    /// The shape, for server-side apply and strategic merge.
    fn schema(&self) -> &Schema;

    /// What `metadata.name` must be.
    fn name_rule(&self) -> NameRule;

    /// Whether `metadata.generation` counts changes of everything but metadata (and status, where that is a
    /// subresource). Custom kinds and those built-in ones that have it.
    fn counts_generation(&self) -> bool;

    /// The field of the metadata whose changes count as well: `annotations` of Deployments, `labels` of EndpointSlices.
    fn counts_metadata(&self) -> Option<&'static str> {
        None
    }

    /// Whether `spec` and `status` have endpoints of their own.
    fn has_status(&self) -> bool;

    /// The JSON paths of the scale subresource.
    fn scale(&self) -> Option<&Scale>;

    /// Whether a PUT to a name that is not there creates it (Leases, Services' endpoints, …).
    fn creates_on_update(&self) -> bool;

    /// Whether a PUT without `resourceVersion` overwrites whatever is there.
    fn updates_unconditionally(&self) -> bool;

    /// Whether strategic merge patches are understood; 415 otherwise.
    fn merges_strategically(&self) -> bool;

    /// The value of a field selector other than `metadata.name` and `metadata.namespace`; `None` when the kind has no
    /// such selectable field. An absent value is empty.
    fn field(&self, object: &Value, path: &str) -> Option<String>;

    /// The columns of `kubectl get`, without those that the registry puts first.
    fn columns(&self) -> Vec<Column>;

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
    pub spec_replicas: String,
    /// Actual replicas.
    pub status_replicas: String,
    /// The selector of the replicas, as text; built-in kinds have a LabelSelector there instead.
    pub label_selector: Option<String>,
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
