//! The differences between the two forms of policies.

use kubewright_runtime::Result;
use kubewright_schema::policy;
use serde_json::Value;

use super::{declare::DeclaredPolicy, expressions::Compiler};
use crate::scope::lint::Checked;

/// A form of policies.
pub(crate) trait PolicyForm: Send + Sync + 'static {
    /// The kind of its policies. That of their bindings ends with `Binding`.
    const KIND: &'static str;

    /// Adds what the form demands to the specs of the policy and of its binding.
    fn write(&self, spec: &mut Value, bound: &mut Value);

    /// Finds errors that the API server would refuse, other than in expressions.
    fn lint(&self, declared: &DeclaredPolicy) -> Checked;

    /// Compiles the expressions of the form.
    fn check(&self, compiler: &Compiler<'_>, policy: &policy::Policy) -> Result<()>;

    /// Notes about what the type could do in place of the policy, by the schema of the kind.
    fn notes(&self, declared: &DeclaredPolicy, schema: &Value) -> Vec<String>;
}
