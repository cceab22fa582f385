//! The mutations of a policy at work: what each of them computes.

use super::condition::Spent;
use super::policy::{BUDGET, Expression, Input, Outcome, Policy, Purpose};
use serde_json::Value;

/// An expression; of one that does not compile, the error.
type Compiled = Result<Expression, String>;

/// A compiled mutation.
#[derive(Debug)]
pub enum Mutation {
    /// An apply configuration.
    ApplyConfiguration(Compiled),
    /// A JSON patch.
    JsonPatch(Compiled),
}

impl Mutation {
    /// An item of `mutations`.
    pub fn read(mutation: &Value, policy: &Policy) -> Self {
        let compile = |purpose: Purpose, of: &Value| {
            let compiled = policy.compile(purpose, of["expression"].as_str().unwrap_or_default());
            compiled.map_err(|refused| refused.detail().to_owned())
        };
        match mutation["patchType"] == "JSONPatch" {
            true => Self::JsonPatch(compile(Purpose::JsonPatch, &mutation["jsonPatch"])),
            false => Self::ApplyConfiguration(compile(Purpose::ApplyConfiguration, &mutation["applyConfiguration"])),
        }
    }

    /// The expression that computes it.
    pub fn expression(&self) -> &Compiled {
        match self {
            Self::ApplyConfiguration(expression) | Self::JsonPatch(expression) => expression,
        }
    }
}

impl Policy {
    /// The result of a mutation: a configuration or operations. Each mutation may cost [`BUDGET`].
    ///
    /// # Errors
    /// The reason that there is no value, in the server's words.
    pub fn mutation(&self, mutation: &Mutation, input: &Input<'_>) -> Result<Outcome, String> {
        let purpose = match mutation {
            Mutation::ApplyConfiguration(_) => Purpose::ApplyConfiguration,
            Mutation::JsonPatch(_) => Purpose::JsonPatch,
        };
        let expression = mutation.expression();
        if let Err(why) = expression {
            return Err(why.clone());
        }
        let (mut budget, all) = (BUDGET, [Some(expression)].into_iter());
        let values = self.evaluate(purpose, all, input, &mut budget);
        let values = values.map_err(|Spent| Spent::MESSAGE.to_owned())?;
        values.into_iter().flatten().next().unwrap_or(Ok(Outcome::Null))
    }
}
