//! Policies that allow or refuse writes.

use std::collections::BTreeSet;

use kubewright_machinery::labels;
use kubewright_runtime::{Kind, Object, Result};
use kubewright_schema::policy::{self, Purpose, could_be_rule};
use serde_json::{Value, json};

use super::{
    declare::{DeclaredPolicy, Policy},
    expressions::Compiler,
    form::PolicyForm,
    validation::Validation,
};
use crate::scope::{
    Operation,
    lint::{Checked, wrong},
};

/// The most audit annotations that the API allows.
const MOST_ANNOTATIONS: usize = 20;
/// A hint at a simpler replacement of the policy.
const RULE: &str =
    "write it as a rule on the type, `#[kube(validation = …)]`, over `self` and `oldSelf`: that needs no policy";

/// The validations of a ValidatingAdmissionPolicy.
#[derive(Default)]
pub struct Validating {
    pub(super) validations: Vec<Validation>,
    /// Keys and expressions.
    annotations: Vec<[String; 2]>,
    actions: BTreeSet<ValidationAction>,
}

/// The consequence of a failed validation.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ValidationAction {
    /// It is in the audit log.
    Audit,
    /// The request is refused.
    Deny,
    /// The client is warned.
    Warn,
}

impl Policy<Validating> {
    /// A policy that allows or refuses writes of objects of type `K`: a ValidatingAdmissionPolicy. In the cluster its name
    /// begins with the operator's.
    pub fn validating<K: Object>(name: impl Into<String>) -> Self {
        Self::validating_kind(&Kind::<K>::of(), name)
    }

    /// As [`validating`](Self::validating), for a kind that need not have a Rust type.
    pub fn validating_kind<K>(kind: &Kind<K>, name: impl Into<String>) -> Self {
        Self {
            declared: DeclaredPolicy::new(kind, name.into()),
            form: Validating::default(),
        }
    }

    /// Adds a validation. The client gets the messages of all that fail.
    pub fn validation(mut self, validation: Validation) -> Self {
        self.form.validations.push(validation);
        self
    }

    /// Adds the value of an expression, a string or null for none, to the audit event of each request that the policy is
    /// about.
    pub fn audit(mut self, key: impl Into<String>, expression: impl Into<String>) -> Self {
        self.form.annotations.push([key.into(), expression.into()]);
        self
    }

    /// Sets the consequences of a failed validation, in place of a refusal. `Deny` and `Warn` exclude each other.
    pub fn actions(mut self, actions: impl IntoIterator<Item = ValidationAction>) -> Self {
        self.form.actions = actions.into_iter().collect();
        self
    }
}

impl PolicyForm for Validating {
    const KIND: &'static str = "ValidatingAdmissionPolicy";

    fn write(&self, spec: &mut Value, bound: &mut Value) {
        if !self.validations.is_empty() {
            spec["validations"] = self.validations.iter().map(Validation::document).collect();
        }
        if !self.annotations.is_empty() {
            let all = self.annotations.iter();
            spec["auditAnnotations"] = all
                .map(|[key, value]| json!({"key": key, "valueExpression": value.trim()}))
                .collect();
        }
        bound["validationActions"] = json!(self.actions());
    }

    fn lint(&self, declared: &DeclaredPolicy) -> Checked {
        if self.validations.is_empty() && self.annotations.is_empty() {
            return wrong("it demands nothing", "add `.validation(…)`");
        }
        if [ValidationAction::Deny, ValidationAction::Warn]
            .iter()
            .all(|it| self.actions.contains(it))
        {
            return wrong("a request is refused or warned about, not both", "leave out one action");
        }
        let messages = self.validations.iter().filter_map(|it| it.message.as_deref());
        for message in messages {
            if message.trim().is_empty() || message.trim().contains(['\n', '\r']) {
                return wrong("a message is one line of text", "leave it out, or join its lines");
            }
        }
        self.lint_annotations(declared)
    }

    fn check(&self, compiler: &Compiler<'_>, policy: &policy::Policy) -> Result<()> {
        for (nth, validation) in self.validations.iter().enumerate() {
            let (what, text) = (format!("validation {}", nth + 1), validation.expression.as_str());
            compiler.one(policy, Purpose::Condition, &what, text)?;
            if let Some(text) = &validation.message_expression {
                compiler.one(policy, Purpose::Message, &format!("message of {what}"), text)?;
            }
        }
        for [key, text] in &self.annotations {
            compiler.one(policy, Purpose::Annotation, &format!("audit annotation `{key}`"), text)?;
        }
        Ok(())
    }

    /// A note for each validation that could be a rule on the type.
    fn notes(&self, declared: &DeclaredPolicy, schema: &Value) -> Vec<String> {
        let scope = &declared.scope;
        let denies = self.actions.is_empty() || self.actions.contains(&ValidationAction::Deny);
        let of_writes = !scope.operations.contains(&Operation::Delete) && scope.conditions.is_empty();
        if !denies || !of_writes || !declared.is_about_all() {
            return Vec::new();
        }
        let all = self.validations.iter().map(|it| it.expression.trim());
        let could = all.filter(|text| could_be_rule(schema, &declared.variables, text));
        could
            .map(|text| {
                let (name, kind) = (&declared.name, &scope.kind);
                format!("the policy `{name}` reads nothing but the {kind} for `{text}`\n\nhint: {RULE}")
            })
            .collect()
    }
}

impl Validating {
    fn actions(&self) -> Vec<&'static str> {
        if self.actions.is_empty() {
            return vec!["Deny"];
        }
        let all = self.actions.iter();
        all.map(|action| match action {
            ValidationAction::Audit => "Audit",
            ValidationAction::Deny => "Deny",
            ValidationAction::Warn => "Warn",
        })
        .collect()
    }

    fn lint_annotations(&self, declared: &DeclaredPolicy) -> Checked {
        if self.annotations.len() > MOST_ANNOTATIONS {
            return wrong("it has more than 20 audit annotations", "leave some out");
        }
        let mut seen = BTreeSet::new();
        for [key, _] in &self.annotations {
            if !labels::key(&format!("{}/{key}", declared.name)).is_empty() {
                let why = format!("`{key}` cannot be the key of an audit annotation");
                return wrong(why, "use a key such as `target`");
            }
            if !seen.insert(key) {
                let why = format!("two audit annotations have the key `{key}`");
                return wrong(why, "give each its own key");
            }
        }
        Ok(())
    }
}
