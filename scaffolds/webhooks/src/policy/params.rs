//! The parameters of a policy: objects of the cluster that its expressions read.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright_runtime::{Kind, Object};
use serde_json::{Value, json};

/// The objects that expressions read as `params`. The policy is evaluated once for each of them.
#[derive(Clone, Debug)]
pub struct Params {
    pub(super) api_version: String,
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) namespaced: bool,
    pub(super) chosen: ChosenParams,
    pub(super) namespace: Option<String>,
    allows_missing: bool,
}

/// By what objects are chosen.
#[derive(Clone, Debug)]
pub(super) enum ChosenParams {
    Name(String),
    Labels(LabelSelector),
}

impl Params {
    /// The object of type `K` with this name, in the namespace of the request. `make deploy` does not put the operator's name
    /// before it.
    pub fn named<K: Object>(name: impl Into<String>) -> Self {
        Self::named_of(&Kind::<K>::of(), name)
    }

    /// As [`named`](Self::named), of a kind that need not have a Rust type.
    pub fn named_of<K>(kind: &Kind<K>, name: impl Into<String>) -> Self {
        Self::of(kind, ChosenParams::Name(name.into()))
    }

    /// All objects of type `K` with these labels, in the namespace of the request.
    pub fn selected<K: Object>(labels: LabelSelector) -> Self {
        Self::selected_of(&Kind::<K>::of(), labels)
    }

    /// As [`selected`](Self::selected), of a kind that need not have a Rust type.
    pub fn selected_of<K>(kind: &Kind<K>, labels: LabelSelector) -> Self {
        Self::of(kind, ChosenParams::Labels(labels))
    }

    /// Reads it in this namespace instead of the request's.
    pub fn namespace(mut self, name: impl Into<String>) -> Self {
        self.namespace = Some(name.into());
        self
    }

    /// Allows requests when there is no such object. By default they are refused.
    pub fn allow_missing(mut self) -> Self {
        self.allows_missing = true;
        self
    }

    fn of<K>(kind: &Kind<K>, chosen: ChosenParams) -> Self {
        Self {
            api_version: kind.api_version(),
            group: kind.group().to_owned(),
            version: kind.version().to_owned(),
            kind: kind.kind().to_owned(),
            plural: kind.plural().to_owned(),
            namespaced: kind.is_namespaced(),
            chosen,
            namespace: None,
            allows_missing: false,
        }
    }

    /// `paramKind` of the policy.
    pub(super) fn kind(&self) -> Value {
        json!({"apiVersion": self.api_version, "kind": self.kind})
    }

    /// `paramRef` of the binding.
    pub(super) fn reference(&self) -> Value {
        let action = if self.allows_missing { "Allow" } else { "Deny" };
        let mut reference = json!({"parameterNotFoundAction": action});
        match &self.chosen {
            ChosenParams::Name(name) => reference["name"] = json!(name),
            ChosenParams::Labels(selector) => reference["selector"] = json!(selector),
        }
        if let Some(namespace) = &self.namespace {
            reference["namespace"] = json!(namespace);
        }
        reference
    }
}
