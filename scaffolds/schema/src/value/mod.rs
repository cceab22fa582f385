//! Custom resources under their structural schema: what an API server drops from them, fills in, and refuses.
//!
//! # Flow
//! A server takes an object that it was sent through [`prune`](Structural::prune), [`coerce`](Structural::coerce) and
//! [`default`](Structural::default), in this order, and then [`validate`](Structural::validate)s it;
//! on update with [`validate_update`](Structural::validate_update), which forgives what was wrong before. The metadata
//! of the object itself is not the schema's, and is left alone.
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
//! Verdict, reason, field and message of every cause, what is dropped and what is filled in are those of kube-apiserver
//! v1.36: the tests replay what it said of some thousand values. Where it goes through a map in random order, the order
//! here is that of the names.
//!
//! # Caveats
//! - The schema is one that a server accepts, see [`lint`](crate::lint). What has no meaning in others is ignored.
//! - Numbers are an `int64` or a `float64`, as on the server; `serde_json`'s `arbitrary_precision` is not supported.
//! - The walk descends as deep as schema and value both go. What `serde_json` reads, 128 levels, fits any stack.

mod check;
mod correlate;
mod default;
pub(crate) mod defaults;
mod formats;
mod junctors;
mod kinds;
mod lists;
mod node;
mod number;
mod object_meta;
mod place;
mod prune;
mod read;
mod resource;
mod verdict;

use crate::cause::{Cause, Objections, Path};
use correlate::Old;
use node::Node;
use place::Place;
use read::Reading;
use serde_json::Value;
use verdict::At;

/// A compiled schema: the `openAPIV3Schema` of one version.
#[derive(Debug)]
pub struct Structural {
    root: Node,
    #[cfg(feature = "cel")]
    rules: Option<crate::cel::Rules>,
}

impl Structural {
    /// Compiles a schema that a server accepts.
    pub fn compile(schema: &Value) -> Self {
        let mut root = Node::read(schema, Reading::Objects);
        root.prune_defaults();
        Self {
            root,
            #[cfg(feature = "cel")]
            rules: crate::cel::Rules::compile(schema),
        }
    }

    /// Drops fields that the schema does not know, and nulls where it does not allow them and has no default instead.
    /// Returns the paths of the unknown fields, sorted (`spec.list[0].x`).
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        let unknown = self.prune_unknown(object);
        prune::nulls(object, &self.root);
        unknown
    }

    /// [`prune`](Self::prune) that leaves nulls where they are: a server objects to those that an apply leaves behind.
    pub fn prune_unknown(&self, object: &mut Value) -> Vec<String> {
        prune::unknown_fields(object, &self.root)
    }

    /// Reads the metadata of resources inside of the object (`x-kubernetes-embedded-resource`) and writes it as an
    /// ObjectMeta does. Drops what that does not know and returns the paths, sorted.
    ///
    /// # Errors
    /// Metadata, kind or apiVersion of a wrong type: a server answers 400, or drops it when it reads from its storage.
    pub fn coerce(&self, object: &mut Value) -> Result<Vec<String>, Cause> {
        resource::coerce(object, &self.root, &Path::root())
    }

    /// Fills in defaults, also inside of those that were just filled in.
    pub fn default(&self, object: &mut Value) {
        default::fill(object, &self.root);
    }

    /// Everything that is wrong with a new object.
    pub fn validate(&self, object: &Value) -> Vec<Cause> {
        let mut causes = self.check(object, None);
        causes.extend(self.check_rules(object, None, &causes).causes);
        causes
    }

    /// Everything that is wrong with a changed object, but for what has not changed.
    pub fn validate_update(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = self.check(object, Some(old));
        causes.extend(self.check_rules(object, Some(old), &causes).causes);
        causes
    }

    /// Everything that is wrong with an object whose status changed. Of the schema only that of the status counts, but
    /// lists and rules are checked throughout.
    pub fn validate_status(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = self.check_status(object, old);
        causes.extend(self.check_rules(object, Some(old), &causes).causes);
        causes
    }

    /// [`validate_status`](Self::validate_status) without the rules.
    pub fn check_status(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = Vec::new();
        if let (Some(node), Some(status)) = (self.root.properties.get("status"), object.get("status")) {
            let old = old.get("status").unwrap_or(&Value::Null);
            causes = object_causes(status, Some(old), node, &Path::new("status"));
        }
        causes.extend(self.list_causes(object, Some(old)));
        causes
    }

    /// [`validate`](Self::validate) or [`validate_update`](Self::validate_update) without the rules, for servers that
    /// have something to say in between.
    pub fn check(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let mut causes = object_causes(object, old, &self.root, &Path::root());
        resource::check(object, &self.root, &Path::root(), &mut causes);
        causes.extend(self.list_causes(object, old));
        causes
    }

    /// What the validation rules say of the object; or, when what was `found` before keeps them from being run, that.
    ///
    /// Without the feature `cel` no rule is run.
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

    /// Lists that had something twice before may have it again.
    fn list_causes(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        if !self.root.has_lists || old.is_some_and(|old| !lists::check(old, &self.root, &Path::root()).is_empty()) {
            return Vec::new();
        }
        lists::check(object, &self.root, &Path::root())
    }
}

/// Causes as Go shows a list of errors; `None` if there are none.
fn aggregate(causes: &[Cause]) -> Option<String> {
    match causes {
        [] => None,
        [one] => Some(one.to_string()),
        _ => {
            let all: Vec<String> = causes.iter().map(ToString::to_string).collect();
            Some(format!("[{}]", all.join(", ")))
        }
    }
}

/// What the keywords of a schema say of a value, which stands at `path`, and stood there before.
fn object_causes(value: &Value, old: Option<&Value>, node: &Node, path: &Path) -> Vec<Cause> {
    let at = At {
        part: path,
        place: Place::Start,
    };
    let verdict = check::ratcheted(value, node, &at, old.map(Old).as_ref());
    verdict.objections.into_iter().map(|it| it.cause).collect()
}
