//! Validation rules (`x-kubernetes-validations`) exactly as kube-apiserver 1.36 compiles, prices and evaluates them.
//!
//! Two doors, both of which walk the schema themselves:
//! - [`check`](fn@check) says what a server objects to in the rules of a schema (compile errors, types, estimated cost, `oldSelf`
//!   where nothing correlates);
//! - [`Rules`] are the compiled rules of one `openAPIV3Schema`; [`Rules::evaluate`] runs them on a whole object.
//!
//! # Why not a crate
//! The existing implementations of CEL evaluate, but do not check types and do not count costs. A server's verdict on a rule
//! and the text of its errors come out of a type checker, a static estimate and a runtime budget over one syntax tree, and
//! the Kubernetes libraries reach into all three; little but the parser would have been left to share.
//!
//! # Flow
//! `lex` → `parse` (with `macros`) → `check` against what the schema declares (`declare`) → `constants` → `cost` make a
//! `program`; `eval` runs it on `value`s, paying from a `meter`. `admit` and `walk` do so for whole schemas and objects.
//!
//! # Guarantees
//! Pure, `Send` and `Sync`; no input panics, nests without bound, or runs longer than the server's budgets let it.
//!
//! # What differs from the server
//! - Time zones other than UTC and fixed offsets are unknown.
//! - Messages of protocol buffers (`google.protobuf.Int64Value{value: 1}`) cannot be written.
//! - After a syntax error the server tries to go on, and may find more of them; here the first is often the only one.
//! - Keys of a map that a rule writes are booleans, whole numbers or strings.
//! - Quantities beyond 1.7e29 are all the same.

mod admit;
mod ast;
mod check;
mod constants;
mod cost;
mod declare;
mod escape;
mod eval;
mod field_path;
mod issue;
mod lex;
mod library;
mod literal;
mod macros;
mod meter;
mod operators;
mod parse;
mod program;
mod ratchet;
mod rules;
mod schema;
mod stack;
mod types;
mod unify;
mod value;
mod walk;

use crate::cause::{Cause, Objections, Path};
use serde_json::Value;
use std::sync::Arc;

/// What a server says of the rules of `schema`, one version's `openAPIV3Schema`; `path` is the prefix of the causes' fields,
/// `spec.validation.openAPIV3Schema` or `spec.versions[0].schema.openAPIV3Schema`.
///
/// `structural` is what was already said of this schema: rules at or above a node that was objected to are not looked at.
/// If the schema is not structural, or its defaults are invalid, a server looks at no rule at all: do not call then.
pub fn check(schema: &Value, path: &str, structural: &[Cause]) -> Vec<Cause> {
    let root = schema::Node::read(schema);
    stack::with_stack(stack::is_deep(&root), || admit::check(&root, path, structural))
        .unwrap_or_else(|cause| vec![cause])
}

/// What a server says of a default at `path` by the rules of its schema.
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

    /// Runs the rules on `object`, which has been pruned and defaulted and has passed the schema's own validation; `old` is
    /// the object before an update.
    ///
    /// # Caveats
    /// A server that found types, lengths, counts or formats wrong does not run rules; neither should the caller.
    pub fn evaluate(&self, object: &Value, old: Option<&Value>) -> Objections {
        let outcome = match &self.checks {
            Ok(checks) => stack::with_stack(self.deep, || checks.evaluate(object, old)),
            Err(cause) => Err(cause.clone()),
        };
        outcome.unwrap_or_else(|cause| vec![cause].into())
    }
}
