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
