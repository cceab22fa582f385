//! Checks, prices and evaluates expressions, and the rules, conditions and policies that consist of them.
//!
//! # Flow
//! `parse` → `check` with the types that the schema declares → `constants` → `cost` make a `program`. `eval` evaluates it on `value`s, and
//! counts the cost in a `meter`. `admit` does this for whole schemas, `walk` for whole objects.

mod admit;
mod admitted;
mod check;
pub mod condition;
mod constant;
mod constants;
mod cost;
mod eval;
mod field_path;
mod fit;
mod library;
mod meter;
mod mutating;
mod mutation;
mod operators;
pub mod policy;
mod price;
mod program;
mod ratchet;
mod rules;
mod scope;
mod typing;
mod validation;
mod value;
mod variables;
mod walk;

pub use library::{ESCAPED, newest_function};

use crate::{schema, stack};
use kubewright_machinery::cause::{Cause, Objections, Path};
use serde_json::Value;
use std::sync::Arc;

/// The causes for which a server refuses the rules of `schema`, one version's `openAPIV3Schema`. `path` is the prefix of the causes' fields:
/// `spec.validation.openAPIV3Schema` or `spec.versions[0].schema.openAPIV3Schema`.
///
/// `structural` are the causes already found in this schema: rules at or above a node with a cause are not compiled.
/// If the schema is not structural, or its defaults are invalid, a server compiles no rule at all: do not call this function then.
pub fn check(schema: &Value, path: &str, structural: &[Cause]) -> Vec<Cause> {
    let root = schema::Node::read(schema);
    stack::with_stack(stack::is_deep(&root), || admit::check(&root, path, structural))
        .unwrap_or_else(|cause| vec![cause])
}

/// The causes for which `default`, a default at `path`, violates the rules of `schema`, the schema of that field.
pub fn check_default(default: &Value, schema: &Value, path: &Path) -> Vec<Cause> {
    let node = Arc::new(schema::Node::read(schema));
    let work = || {
        let checks = walk::Checks::compile_inner(node.clone());
        checks
            .map(|checks| checks.of_default(default, path))
            .unwrap_or_default()
    };
    stack::with_stack(stack::is_deep(&node), work).unwrap_or_else(|cause| vec![cause])
}

/// The compiled rules of a schema.
#[derive(Debug)]
pub struct Rules {
    checks: Result<walk::Checks, Cause>,
    deep: bool,
}

impl Rules {
    /// Compiles the rules of an `openAPIV3Schema`; `None` if it has no rules.
    ///
    /// Rules that do not compile are kept: as on a server, they refuse every object.
    pub fn compile(schema: &Value) -> Option<Self> {
        let node = schema::Node::read(schema);
        if !node.has_rules() {
            return None;
        }
        let deep = stack::is_deep(&node);
        let compiled = stack::with_stack(deep, || walk::Checks::compile(Arc::new(node.with_meta())));
        let checks = compiled.transpose()?;
        Some(Self { checks, deep })
    }

    /// Evaluates the rules on `object`, which has to be pruned, defaulted and valid by the schema's other keywords. `old` is
    /// the object before an update.
    ///
    /// # Caveats
    /// If types, lengths, counts or formats are invalid, a server does not evaluate rules. Do not call this function then.
    pub fn evaluate(&self, object: &Value, old: Option<&Value>) -> Objections {
        let outcome = match &self.checks {
            Ok(checks) => stack::with_stack(self.deep, || checks.evaluate(object, old)),
            Err(cause) => Err(cause.clone()),
        };
        outcome.unwrap_or_else(|cause| vec![cause].into())
    }
}
