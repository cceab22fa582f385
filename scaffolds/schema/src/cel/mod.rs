//! Validation rules (`x-kubernetes-validations`): compiles, estimates and evaluates them exactly as kube-apiserver 1.36 does.
//!
//! Two entry points:
//! - [`check`](fn@check) returns the causes for which a server refuses the rules of a schema (compilation errors, types, estimated cost,
//!   `oldSelf` where old and new values cannot be correlated);
//! - [`Rules`] are the compiled rules of one `openAPIV3Schema`; [`Rules::evaluate`] evaluates them on a whole object.
//!
//! # Reasons not to use a crate
//! The existing implementations of CEL evaluate, but neither check types nor count costs. A server's verdict on a rule
//! and its error messages come from a type checker, a static estimate and a runtime budget that share one syntax tree, and
//! the Kubernetes libraries are part of all three. Little more than the parser could have been reused.
//!
//! # Flow
//! `lex` → `parse` (with `macros`) → `check` with the types that the schema declares (`declare`) → `constants` → `cost` make a
//! `program`. `eval` evaluates it on `value`s, and counts the cost in a `meter`. `admit` does this for whole schemas, `walk` for whole objects.
//!
//! # Guarantees
//! Pure, `Send` and `Sync`. No input causes a panic, unlimited nesting, or a run beyond the server's budgets.
//!
//! # Differences from the server
//! - Time zones other than UTC and fixed offsets are not supported.
//! - Messages of protocol buffers (`google.protobuf.Int64Value{value: 1}`) are not supported.
//! - After a syntax error the server continues and may report more; here often only the first is reported.
//! - Keys of a map literal are booleans, integers or strings.
//! - Quantities beyond 1.7e29 are all equal.

mod admit;
mod admitted;
mod ast;
mod check;
pub mod condition;
mod constant;
mod constants;
mod cost;
mod declare;
mod escape;
mod eval;
mod field_path;
mod fit;
mod issue;
mod lex;
mod library;
mod literal;
mod macros;
mod meter;
mod mutating;
mod mutation;
mod operators;
mod parse;
pub mod policy;
mod price;
mod program;
mod ratchet;
mod rules;
mod schema;
mod scope;
mod stack;
mod types;
mod unify;
mod validation;
mod value;
mod variables;
mod walk;

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

/// The causes for which a default at `path` violates the rules of its schema.
pub(crate) fn of_default(default: &Value, schema: &Value, path: &Path) -> Vec<Cause> {
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
    /// Compiles the rules of an `openAPIV3Schema`; `None` if it has none.
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
