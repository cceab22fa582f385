//! Evaluates one mutation of a policy.

use kubewright_schema::{
    json_patch,
    policy::{Configuration, Input, Mutation, Outcome},
    typed,
};
use serde_json::{Map, Value, json};

use super::super::webhooks::{matching::Asked, version::Versioned};
use crate::{meta, policies::Policy, state::Core, status::Status, strategy::Empties};

/// The inputs of a mutation.
pub(super) struct Evaluation<'a> {
    pub core: &'a Core,
    pub asked: &'a Asked<'a>,
    pub policy: &'a Policy,
    /// The object before the mutation.
    pub seen: &'a Versioned,
    pub input: Input<'a>,
}

/// The reason that there is no result.
pub(super) enum Failed {
    /// The policy has failed, which it may ignore.
    Policy(String),
    /// The request is refused in any case.
    Refused(Status),
}

impl Evaluation<'_> {
    /// The object after a mutation, with its defaults.
    ///
    /// # Errors
    /// In upstream's words.
    pub fn object(&self, mutation: &Mutation) -> Result<Value, Failed> {
        let value = self.policy.expressions.mutation(mutation, &self.input);
        let mut object = match value.map_err(Failed::Policy)? {
            Outcome::Configuration(configuration) => self.configured(configuration).map_err(Failed::Policy)?,
            Outcome::Operations(operations) => self.patched(&operations)?,
            // The compiler has checked that there is nothing else.
            other => return Err(Failed::Policy(format!("unsupported value of a mutation: {other:?}"))),
        };
        if self.seen.is_own() {
            // The next mutation sees the object as Go encodes it.
            let strategy = &self.seen.matched.resource.strategy;
            strategy.empties(&mut object, Empties::Meaningful);
        }
        Ok(object)
    }

    fn before(&self) -> &Value {
        self.seen.new.as_ref().unwrap_or(&Value::Null)
    }

    /// Merges an apply configuration.
    fn configured(&self, mut configuration: Configuration) -> Result<Value, String> {
        let (resource, kind) = (&self.seen.matched.resource, &self.seen.matched.kind);
        let shown = format!("{}/{}, Kind={}", kind.group, kind.version, kind.name);
        if !self.seen.is_own() {
            return Err(format!(
                "error applying patch: failed to convert patch object to typed object: no corresponding type for {shown}"
            ));
        }
        configuration.object["apiVersion"] = json!(resource.api_version());
        configuration.object["kind"] = json!(kind.name);
        let merged = typed::configure(resource.strategy.schema(), self.before(), &configuration);
        let mut object = merged.map_err(|why| format!("error applying patch: {why}"))?;
        if resource.is_typed() {
            resource.strategy.convert(&mut object).map_err(|status| {
                let prefix = format!(" cannot be handled as a {}: ", kind.name);
                let why = status
                    .message
                    .split_once(&prefix)
                    .map_or(&*status.message, |(_, why)| why);
                format!("unable to convert unstructured object to {shown}: {why}")
            })?;
        }
        meta::of_mut(&mut object);
        resource.strategy.default(&mut object);
        Ok(object)
    }

    /// Applies a JSON patch. If a test in it fails, nothing is changed.
    fn patched(&self, operations: &[Map<String, Value>]) -> Result<Value, Failed> {
        let patched = json_patch::by_policy(self.before(), operations);
        let Some(object) = patched.map_err(|why| Failed::Policy(format!("JSON Patch: {why}")))? else {
            return Ok(self.before().clone());
        };
        let read = self.seen.read(self.core, self.asked, object, true);
        read.map(|patched| patched.object).map_err(|status| {
            // Upstream finds an object of another kind only when it brings the object back.
            Failed::Refused(match status.message.ends_with("unknown conversion") {
                true => Status::internal(&format!("failed to convert object: {}", status.message)),
                false => status,
            })
        })
    }
}
