//! Custom resources under their structural schema: what an API server drops from them, fills in, and refuses.

mod check;
mod correlate;
mod default;
mod formats;
mod junctors;
mod kinds;
mod lists;
mod node;
mod number;
mod place;
mod prune;
mod verdict;

use crate::cause::{Cause, Path};
use correlate::Old;
use node::Node;
use place::Place;
use serde_json::Value;
use verdict::At;

/// A compiled schema: one version's `openAPIV3Schema`.
#[derive(Debug)]
pub struct Structural {
    root: Node,
}

impl Structural {
    /// Compiles a schema that a server has accepted.
    pub fn compile(schema: &Value) -> Self {
        Self {
            root: Node::read(schema),
        }
    }

    /// Drops the fields that the schema does not know.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        let unknown = prune::unknown_fields(object, &self.root);
        unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect()
    }

    /// Drops nulls.
    pub fn drop_nulls(&self, object: &mut Value) {
        prune::nulls(object, &self.root);
    }

    /// Fills in defaults.
    pub fn default(&self, object: &mut Value) {
        default::fill(object, &self.root);
    }

    /// Validates a new object.
    pub fn validate(&self, object: &Value) -> Vec<Cause> {
        let mut causes = self.schema_causes(object, None);
        causes.extend(lists::check(object, &self.root, &Path::root()));
        causes
    }

    /// Validates a changed object.
    pub fn validate_update(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = self.schema_causes(object, Some(old));
        if lists::check(old, &self.root, &Path::root()).is_empty() {
            causes.extend(lists::check(object, &self.root, &Path::root()));
        }
        causes
    }

    fn schema_causes(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let at = At {
            part: &Path::root(),
            place: Place::Start,
        };
        let verdict = check::ratcheted(object, &self.root, &at, old.map(Old).as_ref());
        verdict.objections.into_iter().map(|it| it.cause).collect()
    }
}
