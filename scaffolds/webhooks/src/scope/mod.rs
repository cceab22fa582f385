//! The writes that a webhook or a policy matches: their common declarations, and the fields of their configurations. The treatment of
//! a write is not part of this module.

pub(crate) mod lint;

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright_runtime::Kind;
use kubewright_schema::webhook::SPARED;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name of the condition that leaves out objects that are being deleted, as long as nothing but their metadata and status
/// changes. `make bundle` contains it too.
pub(crate) const UNLESS_DELETING: &str = SPARED[0];
/// Its expression.
pub(crate) const IS_KEPT: &str = SPARED[1];

/// The operation on an object.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// It is created.
    Create,
    /// It is changed, by any of update, patch and apply.
    Update,
    /// It is deleted. An object with finalizers is deleted only once, when its deletion is requested.
    Delete,
}

/// The treatment of a request if the webhook cannot be called, or fails; of a policy, if an expression has no value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FailurePolicy {
    /// The request fails.
    Fail,
    /// The request goes on.
    Ignore,
}

/// The writes that a webhook or a policy is about.
pub(crate) struct Scope {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
    pub(crate) operations: BTreeSet<Operation>,
    pub(crate) subresources: BTreeSet<String>,
    pub(crate) namespaces: Option<LabelSelector>,
    pub(crate) objects: Option<LabelSelector>,
    /// Names and expressions of the author.
    pub(crate) conditions: Vec<[String; 2]>,
    pub(crate) unless_deleting: bool,
    pub(crate) failure_policy: Option<FailurePolicy>,
}

/// Adds the methods that change the `Scope` in `declared`, which webhooks and policies have in common.
macro_rules! scope_builders {
    (impl[$($generics:tt)*] $builder:ty) => {
        impl<$($generics)*> $builder {
            /// The operations that it matches, in place of create and update.
            pub fn operations(mut self, operations: impl IntoIterator<Item = $crate::Operation>) -> Self {
                self.declared.scope.operations = operations.into_iter().collect();
                self
            }

            /// Matches writes of this subresource too, such as `status`, whose objects are of the kind itself. Writes of the
            /// status are frequent, and each waits for the answer of a webhook.
            pub fn subresource(mut self, name: impl Into<String>) -> Self {
                self.declared.scope.subresources.insert(name.into());
                self
            }

            /// Only in namespaces with these labels. For a webhook, `system` cannot be a value of an expression: `make deploy`
            /// replaces it by the operator's namespace.
            pub fn namespaces(
                mut self,
                selector: k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector,
            ) -> Self {
                self.declared.scope.namespaces = Some(selector);
                self
            }

            /// Only objects with these labels, before or after the change. Clients that write an object can leave a label out.
            pub fn objects(
                mut self,
                selector: k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector,
            ) -> Self {
                self.declared.scope.objects = Some(selector);
                self
            }

            /// Only if this expression of the Common Expression Language is true, in addition to earlier ones. It is over
            /// `object`, `oldObject`, `request` and `authorizer`, for a policy also over `params`; variables and the namespace are
            /// not available. It is compiled when the webhook is registered, or by `make manifests`. Error messages contain the name.
            pub fn when(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
                self.declared.scope.conditions.push([name.into(), expression.into()]);
                self
            }

            /// Matches objects that are being deleted too. Then an object that is refused, or whose webhook is down, keeps its
            /// finalizers, and its namespace cannot be deleted.
            pub fn even_if_deleting(mut self) -> Self {
                self.declared.scope.unless_deleting = false;
                self
            }

            /// Sets the treatment of a request if the webhook cannot be called, returns an error, panics or takes too long; for a
            /// policy, if an expression has no value or costs too much. It does not concern refusals.
            pub fn failure_policy(mut self, policy: $crate::FailurePolicy) -> Self {
                self.declared.scope.failure_policy = Some(policy);
                self
            }
        }
    };
}
pub(crate) use scope_builders;

impl Scope {
    /// Creations and updates of objects of a kind, unless they are being deleted.
    pub(crate) fn of<K>(kind: &Kind<K>) -> Self {
        Self {
            group: kind.group().to_owned(),
            version: kind.version().to_owned(),
            kind: kind.kind().to_owned(),
            plural: kind.plural().to_owned(),
            namespaced: kind.is_namespaced(),
            operations: [Operation::Create, Operation::Update].into(),
            subresources: BTreeSet::new(),
            namespaces: None,
            objects: None,
            conditions: Vec::new(),
            unless_deleting: true,
            failure_policy: None,
        }
    }

    /// The rule of a configuration.
    pub(crate) fn rule(&self) -> Value {
        let plural = &self.plural;
        let parts = self.subresources.iter().map(|it| format!("{plural}/{it}"));
        let resources: Vec<_> = [plural.clone()].into_iter().chain(parts).collect();
        json!({
            "apiGroups": [self.group],
            "apiVersions": [self.version],
            "operations": self.operations,
            "resources": resources,
            "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
        })
    }

    /// Adds the selectors to what limits the writes of a configuration.
    pub(crate) fn select(&self, limits: &mut Value) {
        if let Some(namespaces) = &self.namespaces {
            limits["namespaceSelector"] = json!(namespaces);
        }
        if let Some(objects) = &self.objects {
            limits["objectSelector"] = json!(objects);
        }
    }

    /// Whether changes of metadata and status are left out if the object is being deleted.
    pub(crate) fn spares(&self) -> bool {
        self.unless_deleting && self.operations.contains(&Operation::Update)
    }

    /// The match conditions, ours and the author's: names and expressions.
    pub(crate) fn conditions(&self) -> Vec<[String; 2]> {
        let ours = self.spares().then(|| [UNLESS_DELETING.to_owned(), IS_KEPT.to_owned()]);
        let theirs = self.conditions.iter();
        let theirs = theirs.map(|[name, expression]| [name.clone(), expression.trim().to_owned()]);
        ours.into_iter().chain(theirs).collect()
    }

    /// `matchConditions` of a configuration; `None` if there are none.
    pub(crate) fn match_conditions(&self) -> Option<Value> {
        let all = self.conditions();
        (!all.is_empty()).then(|| all.iter().map(named).collect())
    }

    /// `failurePolicy` of a configuration.
    pub(crate) fn failures(&self) -> &'static str {
        match self.failure_policy {
            Some(FailurePolicy::Ignore) => "Ignore",
            Some(FailurePolicy::Fail) | None => "Fail",
        }
    }
}

/// A name and its expression, in a configuration.
pub(crate) fn named([name, expression]: &[String; 2]) -> Value {
    json!({"name": name, "expression": expression.trim()})
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    #[test]
    fn our_own_condition_compiles() {
        kubewright_schema::condition::Condition::compile(IS_KEPT).unwrap();
    }

    #[test]
    fn a_scope_that_has_no_updates_needs_no_condition_of_ours() {
        let mut scope = Scope::of(&Kind::<ConfigMap>::of());
        assert_eq!(scope.conditions()[0][0], UNLESS_DELETING);
        scope.operations = [Operation::Create].into();
        assert_eq!(scope.match_conditions(), None);
    }
}
