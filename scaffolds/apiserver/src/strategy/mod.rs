//! The differences between kinds: the decoding, defaulting, preparation and validation of objects. The registry does all
//! else in the same way for every kind. Built-in kinds and kinds that CRDs define implement the traits.

mod rules;

use kubewright_machinery::{Cause, cause::Objections};
use kubewright_schema::typed::Schema;
use serde_json::Value;

pub use self::rules::{
    CREATED, Column, CustomRules, Deletion, Generation, Grants, Internal, MetadataPass, NameRule, Passes, Put, Resets,
    Rules, Scale, Stamps, Storage, TableRules,
};
use crate::status::Status;

/// The errors of strict decoding, in the server's words: `unknown field "spec.foo"`, `duplicate field "spec.a"`.
pub type StrictErrors = Vec<String>;

/// The empty lists and maps of a built-in kind's object that are kept. See `Decoding::empties`.
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

/// Implements one kind in one version.
///
/// Objects are complete (`apiVersion`, `kind`, `metadata`, …) and in the version of the resource. Unless stated
/// otherwise, the registry processes `metadata`, and a strategy only the rest.
pub trait Strategy: Decoding + Preparation + Validation + Versions + Printing + Send + Sync + 'static {
    /// The properties that all its objects share.
    fn rules(&self) -> &Rules;

    /// The schema for server-side apply and strategic merge patches.
    fn schema(&self) -> &Schema;
}

/// Reads the objects that clients send.
pub trait Decoding {
    /// Decodes an object that a client sent. Values must be of the right types (otherwise 400 or 422, as the real
    /// server answers for this kind). Unknown fields are removed and returned, and nulls are removed where the server
    /// removes them.
    ///
    /// # Errors
    /// The Status for a body that is not an object of this kind.
    fn decode(&self, object: &mut Value) -> Result<StrictErrors, Status>;

    /// Like [`Decoding::decode`], for an object that the server has produced by an apply or a patch. The server
    /// converts these differently: whole numbers may be written as floats, and messages about wrong types differ.
    ///
    /// # Errors
    /// The Status for an object that is not of this kind.
    fn convert(&self, object: &mut Value) -> Result<StrictErrors, Status> {
        self.decode(object)
    }

    /// Sets defaults; also in objects from the store.
    fn default(&self, object: &mut Value);

    /// Removes those empty lists and maps from a decoded object that `form` does not keep, and returns whether there
    /// were any. Custom kinds keep them all.
    fn empties(&self, _object: &mut Value, _form: Empties) -> bool {
        false
    }
}

/// Changes objects before they are stored.
pub trait Preparation {
    /// Before a create: clears the fields that clients may not set (`status`) and allocates what the server assigns
    /// (clusterIP). A create through a `subresource` skips this, as upstream. Name, namespace and uid are set already.
    fn prepare_for_create(&self, subresource: &str, object: &mut Value);

    /// Before an update of the object (`subresource` empty) or of `status`: takes over from `old` what this endpoint
    /// must not change. `metadata.generation` is the registry's, see [`Generation`].
    fn prepare_for_update(&self, subresource: &str, new: &mut Value, old: &Value);

    /// For kinds whose first deletion only marks an object (with a `deletionTimestamp`, and possibly a finalizer)
    /// because a controller has to clean up: sets the marks and returns true. The registry then stores `object` without
    /// changing its generation, and answers with it. `now` has the format of `creationTimestamp`.
    fn begin_deletion(&self, _object: &mut Value, _now: &str) -> bool {
        false
    }

    /// Whether two values of a top-level field are equal, so that replacing one by the other leaves the generation.
    fn is_equal(&self, _field: &str, one: &Value, other: &Value) -> bool {
        one == other
    }
}

/// Finds the errors in objects, and the warnings about them.
pub trait Validation {
    /// Whether an object has the kind and the version of this strategy. A custom object of another kind or version is decoded,
    /// and validation refuses it.
    fn is_of_type(&self, _object: &Value) -> bool {
        true
    }

    /// Warnings about a new object before it is prepared, which clients get even if the object is refused.
    fn early_warnings(&self, _object: &Value) -> Vec<String> {
        Vec::new()
    }

    /// The validation errors of a new object, except those of its metadata, which are in `found`. Fields are paths as the
    /// server writes them (`spec.target`).
    fn validate(&self, object: &Value, found: &[Cause]) -> Vec<Cause>;

    /// The validation errors of the change from `old` to `new`, including those of [`Validation::validate`], and the
    /// warnings for errors that are tolerated, which the server sends whether it refuses the change or not. `found` has
    /// the errors in the metadata.
    fn validate_update(&self, subresource: &str, new: &Value, old: &Value, found: &[Cause]) -> Objections;

    /// Warnings for an accepted object, which become `Warning: 299` headers.
    fn warnings(&self, object: &Value) -> Vec<String>;

    /// Like [`Validation::warnings`], for a change: some kinds warn only about fields that are new.
    fn update_warnings(&self, subresource: &str, new: &Value, old: &Value) -> Vec<String>;
}

/// Converts objects between the version of the strategy and the stored one. Built-in kinds are stored as they are.
pub trait Versions {
    /// Converts an object, which may have been stored in another version and under an older schema, to this version:
    /// sets the defaults of the version in which it was stored and this version's `apiVersion`, and removes the fields
    /// that this version does not have.
    fn read(&self, _object: &mut Value) {}

    /// The first step of [`Versions::read`] where a webhook converts: sets the defaults of the version in which an
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

    /// The schema of a version (`group/version`) that the kind has and that is not served: `managedFields` may name it.
    fn unserved(&self, _api_version: &str) -> Option<&Schema> {
        None
    }
}

/// The values that lists select and print.
pub trait Printing {
    /// The value of a selectable field other than `metadata.name` and `metadata.namespace`; `None` if the kind does not
    /// support it. An absent value is empty.
    fn field(&self, object: &Value, path: &str) -> Option<String>;

    /// The cells of an object, one for each column. `now` is the time for ages, in seconds since 1970.
    fn cells(&self, object: &Value, now: i64) -> Vec<Value>;
}
