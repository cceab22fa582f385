//! A binding: for which requests a policy is evaluated, with which parameters, and what follows.

use serde_json::Value;

use crate::{meta, select::LabelSelector, webhooks::Selection};

/// The binding of a policy.
#[derive(Debug)]
pub struct Binding {
    /// Its name.
    pub name: String,
    /// The requests of the policy that it matches; all without a selection.
    pub selection: Option<Selection>,
    /// The parameters with which the policy is evaluated.
    pub parameters: Option<Reference>,
    /// The effects of a validation that fails; empty for a policy that mutates.
    pub actions: Vec<Action>,
}

/// The objects that are parameters.
#[derive(Debug)]
pub struct Reference {
    /// Empty if a selector chooses them.
    pub name: String,
    /// Empty for the namespace of the request.
    pub namespace: String,
    /// By labels.
    pub selector: LabelSelector,
    /// Whether requests are refused if there is no such object.
    pub denies_missing: bool,
}

/// The effect of a validation that fails. The third action of Kubernetes, `Audit`, has no effect but in its audit log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// The request is refused.
    Deny,
    /// The client is warned.
    Warn,
}

impl Binding {
    /// A stored binding.
    pub(super) fn read(binding: &Value) -> Self {
        let spec = &binding["spec"];
        let given = |field: &str| Some(&spec[field]).filter(|value| !value.is_null());
        let actions = spec["validationActions"].as_array().into_iter().flatten();
        Self {
            name: meta::text(binding, "name").to_owned(),
            selection: given("matchResources").map(Selection::of_policy),
            parameters: given("paramRef").map(Reference::read),
            actions: actions
                .filter_map(|action| match action.as_str() {
                    Some("Deny") => Some(Action::Deny),
                    Some("Warn") => Some(Action::Warn),
                    _ => None,
                })
                .collect(),
        }
    }
}

impl Reference {
    fn read(reference: &Value) -> Self {
        let text = |field: &str| reference[field].as_str().unwrap_or_default().to_owned();
        Self {
            name: text("name"),
            namespace: text("namespace"),
            selector: LabelSelector::of(&reference["selector"]),
            denies_missing: reference["parameterNotFoundAction"] == "Deny",
        }
    }
}
