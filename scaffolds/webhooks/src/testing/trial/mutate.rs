//! The result of a mutating policy for an object.

use std::any::type_name;

use kube::CustomResourceExt;
use kubewright_runtime::Object;
use kubewright_schema::{
    Options, assemble, json_patch,
    policy::{Configuration, Mutation, Outcome},
    typed::{self, Schema},
    value::Structural,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Compiled, Trial, compiles, items};
use crate::policy::{Mutating, Policy};

/// The result of a mutating policy for an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Mutated {
    /// The policy is not about this write: another operation, namespace or object, or a condition is not true.
    Skipped,
    /// The policy changes nothing.
    Unchanged,
    /// The policy makes this object.
    Changed(Value),
    /// An expression has no value or costs too much, or what it computes cannot become part of the object: the message that
    /// clients would get. If the policy ignores failures, the request goes on without this mutation.
    Failed(String),
    /// The policy changes its own result, so requests that evaluate it twice, and clients that write back what they have read, get
    /// yet another object.
    NotIdempotent {
        /// The object after it.
        once: Value,
        /// After it has been evaluated on that.
        twice: Value,
    },
}

impl Mutated {
    /// The object, if it was changed.
    ///
    /// # Panics
    ///
    /// With what happened instead; or if the object does not fit the type.
    pub fn object<K: DeserializeOwned>(self) -> K {
        let object = match self {
            Self::Changed(object) => object,
            Self::Skipped => panic!("the policy is not about this write"),
            Self::Unchanged => panic!("the policy changes nothing"),
            Self::Failed(why) => panic!("the policy fails: {why}"),
            Self::NotIdempotent { once, twice } => {
                panic!("the policy is not idempotent: it makes {once}, and of that {twice}")
            }
        };
        serde_json::from_value(object).unwrap_or_else(|error| panic!("the object does not fit its type: {error}"))
    }
}

impl Trial {
    /// With the schema of this type, which must be the object's type: values that are not in the schema are dropped, its
    /// defaults are set, and [`mutate`](Self::mutate) merges apply configurations by it.
    ///
    /// # Panics
    ///
    /// If the type has no valid schema, or is another kind than the object.
    pub fn schema_of<K: Object + CustomResourceExt>(self) -> Self {
        let described = [(type_name::<K>(), K::crd as fn() -> _)];
        let mut definitions = assemble(&described, &Options::default()).unwrap_or_else(|findings| {
            let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
            panic!("{}", lines.join("\n"))
        });
        let spec = definitions.first_mut().map(|it| it["spec"].take()).unwrap_or_default();
        let version = &spec["versions"][0];
        let kind = json!({"group": spec["group"], "version": version["name"], "kind": spec["names"]["kind"]});
        assert!(
            kind == self.kind,
            "the object is of another kind than this type: {kind}"
        );
        self.schema(version["schema"]["openAPIV3Schema"].clone())
    }

    /// As [`schema_of`](Self::schema_of), with the `openAPIV3Schema` of a CRD, for a kind without a Rust type.
    pub fn schema(mut self, schema: Value) -> Self {
        for object in [&mut self.object, &mut self.old] {
            if !object.is_null() {
                complete(&schema, object);
            }
        }
        self.schema = Some(schema);
        self
    }

    /// Evaluates a policy on the object, and a second time on its result, as the API server may.
    ///
    /// # Panics
    ///
    /// If the policy is one that would not register, or an expression does not compile; or if it builds an apply configuration, and
    /// the trial has no [schema](Self::schema_of) to merge it by. The schemas of Kubernetes' own kinds are not part of
    /// this crate: test their apply configurations on an API server ([`TestCluster`](kubewright_runtime::testing::TestCluster)), or use JSON
    /// patches.
    pub fn mutate(&self, policy: &Policy<Mutating>) -> Mutated {
        let compiled = Compiled::new(policy);
        let all = items(&compiled.spec["mutations"]);
        let mutations: Vec<_> = all.map(|item| Mutation::read(item, &compiled.expressions)).collect();
        mutations.iter().for_each(|it| compiles(it.expression()));
        if !self.is_subject_to(&policy.declared.scope) {
            return Mutated::Skipped;
        }
        let once = match self.pass(&compiled, &mutations, &self.object) {
            Ok(Some(once)) => once,
            Ok(None) => return Mutated::Skipped,
            Err(why) => return Mutated::Failed(why),
        };
        if once == self.object {
            return Mutated::Unchanged;
        }
        match self.pass(&compiled, &mutations, &once) {
            Ok(Some(twice)) if twice != once => Mutated::NotIdempotent { once, twice },
            Ok(_) => Mutated::Changed(once),
            Err(why) => Mutated::Failed(format!("evaluated on its own result: {why}")),
        }
    }

    /// The object after all mutations; `None` if a condition is not true.
    fn pass(&self, compiled: &Compiled, mutations: &[Mutation], object: &Value) -> Result<Option<Value>, String> {
        if !self.is_about(compiled, object)? {
            return Ok(None);
        }
        let mut object = object.clone();
        for mutation in mutations {
            object = self.mutated(compiled, mutation, &object)?;
        }
        Ok(Some(object))
    }

    fn mutated(&self, compiled: &Compiled, mutation: &Mutation, object: &Value) -> Result<Value, String> {
        let value = self.with_input(object, |input| compiled.expressions.mutation(mutation, input));
        let mut made = match value? {
            Outcome::Configuration(configuration) => self.configured(configuration, object)?,
            Outcome::Operations(operations) => match json_patch::by_policy(object, &operations) {
                Ok(Some(patched)) => patched,
                // A test has failed.
                Ok(None) => return Ok(object.clone()),
                Err(why) => return Err(format!("JSON Patch: {why}")),
            },
            // The compiler has checked that there is nothing else.
            other => return Err(format!("unsupported value of a mutation: {other:?}")),
        };
        if let Some(schema) = &self.schema {
            complete(schema, &mut made);
        }
        Ok(made)
    }

    fn configured(&self, mut configuration: Configuration, object: &Value) -> Result<Value, String> {
        let Some(schema) = &self.schema else {
            let kind = self.kind["kind"].as_str().unwrap_or_default();
            panic!(
                "the trial has no schema by which an apply configuration could be merged: \
                 add `.schema_of::<{kind}>()`; for a kind of Kubernetes use a JSON patch, or test it on an API server"
            );
        };
        for field in ["apiVersion", "kind"] {
            configuration.object[field] = object[field].clone();
        }
        let merged = typed::configure(&Schema::custom(schema), object, &configuration);
        merged.map_err(|why| format!("error applying patch: {why}"))
    }
}

/// Drops what the schema does not know, and sets its defaults.
fn complete(schema: &Value, object: &mut Value) {
    let schema = Structural::compile(schema);
    schema.prune(object);
    schema.default(object);
}
