//! Pruning, defaulting and validation of custom resources by their structural schema, as in an API server.
//!
//! # Flow
//! An API server calls [`prune`](Structural::prune), [`coerce`](Structural::coerce) and [`default`](Structural::default) on each object that a
//! client sends, in this order. Then it [`validate`](Structural::validate)s the object; on update with
//! [`validate_update`](Structural::validate_update), which ignores errors in unchanged values (ratcheting). The object's own metadata is not
//! part of the schema, and is not changed. What is stored lacks the nulls of defaults
//! ([`drop_default_nulls`](Structural::drop_default_nulls)).
//!
//! ```
//! use kubewright_schema::value::Structural;
//! use serde_json::json;
//!
//! let schema = Structural::compile(&json!({
//!     "type": "object",
//!     "properties": {"spec": {"type": "object", "properties": {
//!         "replicas": {"type": "integer", "minimum": 1, "default": 1},
//!         "name": {"type": "string", "pattern": "^[a-z]+$"},
//!     }}},
//! }));
//! let mut object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "spec": {"name": "A", "nmae": "b"}});
//! assert_eq!(schema.prune(&mut object), ["spec.nmae"]);
//! schema.default(&mut object);
//! assert_eq!(object["spec"], json!({"name": "A", "replicas": 1}));
//! let causes: Vec<String> = schema.validate(&object).iter().map(ToString::to_string).collect();
//! assert_eq!(causes, ["spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'"]);
//! ```
//!
//! # Guarantees
//! The causes (reason, field and message), the pruned fields and the defaults are those of
//! kube-apiserver v1.37: the tests compare with its recorded responses for some thousand values. Where kube-apiserver iterates over a map in random order,
//! here the order follows the names.
//!
//! # Caveats
//! - The schema has to be one that an API server accepts, see [`lint`](crate::lint). In other schemas, invalid parts are ignored.
//! - Numbers are an `int64` or a `float64`, as on the server; `serde_json`'s `arbitrary_precision` is not supported.
//! - The recursion is as deep as schema and value both are. `serde_json` parses at most 128 levels, for which any stack suffices.

mod check;
mod correlate;
mod default;
#[cfg(feature = "lint")]
pub(crate) mod defaults;
mod junctors;
mod kinds;
mod lists;
mod metadata;
mod node;
mod number;
mod place;
mod prune;
mod read;
mod resource;
mod verdict;

use correlate::Old;
use kubewright_machinery::cause::{Cause, Objections, Path};
use node::Node;
use place::ValuePath;
use read::Reading;
use serde_json::Value;
use verdict::At;

/// A compiled schema: the `openAPIV3Schema` of one version.
#[derive(Debug)]
pub struct Structural {
    root: Node,
    /// Whether a default contains a null.
    defaults_nulls: bool,
    #[cfg(feature = "cel")]
    rules: Option<kubewright_cel::Rules>,
}

impl Structural {
    /// Compiles a schema that an API server accepts.
    pub fn compile(schema: &Value) -> Self {
        let mut root = Node::read(schema, Reading::Objects);
        root.prune_defaults();
        Self {
            defaults_nulls: root.defaults_nulls(),
            root,
            #[cfg(feature = "cel")]
            rules: kubewright_cel::Rules::compile(schema),
        }
    }

    /// Drops unknown fields, and nulls where the schema neither allows them nor has a default.
    /// Returns the paths of the unknown fields, sorted (`spec.list[0].x`).
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        let unknown = self.prune_unknown(object);
        prune::nulls(object, &self.root);
        unknown
    }

    /// As [`prune`](Self::prune), but keeps nulls: an API server refuses those that a server-side apply leaves.
    pub fn prune_unknown(&self, object: &mut Value) -> Vec<String> {
        prune::unknown_fields(object, &self.root)
    }

    /// Decodes the metadata of embedded resources (`x-kubernetes-embedded-resource`) as ObjectMeta, and encodes it again.
    /// Drops unknown fields of it, and returns their paths, sorted.
    ///
    /// # Errors
    /// Metadata, kind or apiVersion has a wrong type. An API server responds with 400, or drops the value when it reads from its storage.
    pub fn coerce(&self, object: &mut Value) -> Result<Vec<String>, Cause> {
        resource::coerce(object, &self.root, &Path::root())
    }

    /// As [`coerce`](Self::coerce), for an object that an API server reads from its storage: drops what is of a wrong type.
    pub fn repair(&self, object: &mut Value) {
        resource::repair(object, &self.root);
    }

    /// Sets defaults, also inside values that were just set by a default.
    pub fn default(&self, object: &mut Value) {
        default::fill(object, &self.root);
    }

    /// Drops the nulls of defaults where the schema neither allows them nor has a default. An API server validates an object
    /// with them, and drops them when it reads it from its storage, also for the response to the write.
    pub fn drop_default_nulls(&self, object: &mut Value) {
        if self.defaults_nulls {
            prune::nulls(object, &self.root);
        }
    }

    /// The causes for which a new object is invalid.
    pub fn validate(&self, object: &Value) -> Vec<Cause> {
        let mut causes = self.check(object, None);
        causes.extend(self.check_rules(object, None, &causes).causes);
        causes
    }

    /// The causes for which a changed object is invalid, without those for unchanged values (ratcheting).
    pub fn validate_update(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = self.check(object, Some(old));
        causes.extend(self.check_rules(object, Some(old), &causes).causes);
        causes
    }

    /// The causes for which an object with a changed status is invalid. Only the status is validated by the schema, but
    /// list types and validation rules are checked in the whole object.
    pub fn validate_status(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = self.check_status(object, old);
        causes.extend(self.check_rules(object, Some(old), &causes).causes);
        causes
    }

    /// As [`validate_status`](Self::validate_status), without the validation rules.
    pub fn check_status(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = Vec::new();
        if let (Some(node), Some(status)) = (self.root.properties.get("status"), object.get("status")) {
            let old = old.get("status").unwrap_or(&Value::Null);
            causes = object_causes(status, Some(old), node, &Path::new("status"));
        }
        causes.extend(self.list_causes(object, Some(old)));
        causes
    }

    /// As [`validate`](Self::validate) or [`validate_update`](Self::validate_update), without the validation rules, for servers that
    /// do checks of their own in between.
    pub fn check(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let mut causes = object_causes(object, old, &self.root, &Path::root());
        resource::check(object, &self.root, &Path::root(), &mut causes);
        causes.extend(self.list_causes(object, old));
        causes
    }

    /// Evaluates the validation rules. If the causes `found` before prevent that, the result is a cause that reports it.
    ///
    /// Without the feature `cel` no rule is evaluated.
    #[cfg_attr(not(feature = "cel"), expect(unused_variables, reason = "only rules look at them"))]
    pub fn check_rules(&self, object: &Value, old: Option<&Value>, found: &[Cause]) -> Objections {
        const BLOCKING: [&str; 5] = [
            "FieldValueNotSupported",
            "FieldValueRequired",
            "FieldValueTooLong",
            "FieldValueTooMany",
            "FieldValueTypeInvalid",
        ];
        if !self.root.has_rules {
            return Objections::default();
        }
        if found.iter().any(|cause| BLOCKING.contains(&cause.reason)) {
            let note = "some validation rules were not checked because the object was invalid; correct the existing \
                        errors to complete validation";
            return vec![Path::root().invalid(Value::Null, note)].into();
        }
        #[cfg(feature = "cel")]
        if let Some(rules) = &self.rules {
            return rules.evaluate(object, old);
        }
        Objections::default()
    }

    /// The causes for duplicates in lists. Lists that had duplicates before the update may still have them.
    fn list_causes(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        if !self.root.has_lists || old.is_some_and(|old| !lists::check(old, &self.root, &Path::root()).is_empty()) {
            return Vec::new();
        }
        lists::check(object, &self.root, &Path::root())
    }
}

/// The causes for which the value at `path` violates the keywords of a schema; `old` is the value before the update.
fn object_causes(value: &Value, old: Option<&Value>, node: &Node, path: &Path) -> Vec<Cause> {
    let at = At {
        part: path,
        place: ValuePath::Start,
    };
    let verdict = check::ratcheted(value, node, &at, old.map(Old).as_ref());
    verdict.objections.into_iter().map(|it| it.cause).collect()
}
