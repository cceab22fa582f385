//! The Common Expression Language as Kubernetes has it: with the types of a schema, Kubernetes' libraries, estimated and measured costs, and the
//! messages of kube-apiserver 1.37.
//!
//! Three kinds of expressions:
//! - **Validation rules** (`x-kubernetes-validations`) of a schema: [`check`](fn@check) returns the causes for which a server refuses them
//!   (compilation errors, types, estimated cost, `oldSelf` where old and new values cannot be correlated). [`Rules`] are the compiled rules of
//!   one `openAPIV3Schema`; [`Rules::evaluate`] evaluates them on a whole object.
//! - **Match conditions** of webhooks and policies: [`condition::Condition`].
//! - **Admission policies**: [`policy::Policy`] compiles their variables, validations, messages, audit annotations and mutations.
//!
//! ```
//! use kubewright_cel::{Rules, check};
//! use serde_json::json;
//!
//! let mut schema = json!({
//!     "type": "object",
//!     "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}},
//!     "required": ["min", "max"],
//!     "x-kubernetes-validations": [{"rule": "self.min <= self.max", "message": "min is above max"}],
//! });
//! assert!(check(&schema, "spec", &[]).is_empty());
//! let rules = Rules::compile(&schema).expect("it has a rule");
//! let objections = rules.evaluate(&json!({"min": 3, "max": 2}), None);
//! assert_eq!(objections.causes[0].to_string(), "<nil>: Invalid value: min is above max");
//!
//! schema["x-kubernetes-validations"] = json!([{"rule": "self.min < 'ten'"}]);
//! let refused = check(&schema, "spec", &[]);
//! assert!(refused[0].message.contains("found no matching overload for '_<_' applied to '(int, string)'"));
//! ```
//!
//! # Reasons not to use a crate
//! The existing implementations of CEL evaluate, but neither check types nor count costs. A server's verdict on a rule
//! and its error messages come from a type checker, a static estimate and a runtime budget that share one syntax tree, and
//! the Kubernetes libraries are part of all three. Little more than the parser could have been reused.
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

mod ast;
mod declare;
mod issue;
mod language;
mod lex;
mod literal;
mod parse;
mod schema;
mod stack;
mod types;
mod unify;

pub use kubewright_machinery::cause::{self, Cause};
pub use language::{ESCAPED, Rules, check, check_default, condition, newest_function, policy};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
