//! The verdict of a validator, and its Status for clients.

use std::{collections::HashSet, fmt::Display};

use kubewright_machinery::go::quote;
use kubewright_schema::cause::{Cause, Path};
use serde_json::{Value, json};

/// The verdict on a change: allowed, unless there are objections.
///
/// Objections to fields become one answer `422 Invalid` with a cause for each, as the API server's own validation gives
/// it: `kubectl` lists them, and clients find the fields in `details.causes`. Report all of them, not the first alone.
///
/// ```
/// # use kubewright_webhooks::Verdict;
/// let mut verdict = Verdict::allowed();
/// verdict.invalid("spec.replicas", 7, "must be even");
/// verdict.required("spec.host", "the Ingress needs it");
/// assert!(!verdict.is_allowed());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    causes: Vec<Cause>,
    forbidden: Option<String>,
}

impl Verdict {
    /// No objection.
    pub fn allowed() -> Self {
        Self::default()
    }

    /// The change is forbidden, for a reason that is not in one of its fields: see [`forbid`](Self::forbid).
    pub fn forbidden(why: impl Into<String>) -> Self {
        let mut verdict = Self::default();
        verdict.forbid(why);
        verdict
    }

    /// Whether there is no objection.
    pub fn is_allowed(&self) -> bool {
        self.causes.is_empty() && self.forbidden.is_none()
    }

    /// The value of a field is invalid: `Invalid value: VALUE: DETAIL`. `field` is its path as the API server writes it,
    /// such as `spec.ports[0].name`.
    pub fn invalid(&mut self, field: &str, value: impl Into<Value>, detail: &str) -> &mut Self {
        self.cause(Path::new(field).invalid(value, detail))
    }

    /// A field has no value, but needs one: `Required value: DETAIL`.
    pub fn required(&mut self, field: &str, detail: &str) -> &mut Self {
        self.cause(Path::new(field).required(detail))
    }

    /// A field must not be set, or must not change: `Forbidden: DETAIL`.
    pub fn forbid_field(&mut self, field: &str, detail: &str) -> &mut Self {
        self.cause(Path::new(field).forbidden(detail))
    }

    /// The value of a field is not one of `supported`: `Unsupported value: VALUE: supported values: …`.
    pub fn unsupported<S: AsRef<str>>(&mut self, field: &str, value: impl Into<Value>, supported: &[S]) -> &mut Self {
        self.cause(Path::new(field).unsupported(value, supported))
    }

    /// The value of a field exists already: `Duplicate value: VALUE`.
    pub fn duplicate(&mut self, field: &str, value: impl Into<Value>) -> &mut Self {
        self.cause(Path::new(field).duplicate(value))
    }

    /// The value of a field names something that does not exist: `Not found: VALUE`.
    pub fn not_found(&mut self, field: &str, value: impl Into<Value>) -> &mut Self {
        self.cause(Path::new(field).not_found(value))
    }

    /// Any objection to a field.
    pub fn cause(&mut self, cause: Cause) -> &mut Self {
        self.causes.push(cause);
        self
    }

    /// Forbids the change: `403 Forbidden` with this sentence. It replaces the objections to fields; the first sentence
    /// counts.
    pub fn forbid(&mut self, why: impl Into<String>) -> &mut Self {
        self.forbidden.get_or_insert_with(|| why.into());
        self
    }

    /// The Status for clients, if there is an objection. `kind` and `group` are those of the object.
    pub(super) fn status(&self, [kind, group, name]: &[String; 3]) -> Option<Value> {
        if let Some(why) = &self.forbidden {
            return Some(failure(403, "Forbidden", why));
        }
        // A repeated cause is once in the message and each time in the causes, as in apimachinery (`NewInvalid`).
        let mut seen = HashSet::new();
        let said = self.causes.iter().map(Cause::to_string);
        let said: Vec<_> = said.filter(|cause| seen.insert(cause.clone())).collect();
        let list = match said.as_slice() {
            [] => return None,
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let qualified = match group.as_str() {
            "" => kind.clone(),
            group => format!("{kind}.{group}"),
        };
        let mut status = failure(
            422,
            "Invalid",
            format!("{qualified} {} is invalid: {list}", quote(name)),
        );
        let cause = |it: &Cause| json!({"reason": it.reason, "message": it.message, "field": it.field});
        let causes: Vec<_> = self.causes.iter().map(cause).collect();
        status["details"] = json!({"name": name, "group": group, "kind": kind, "causes": causes});
        Some(status)
    }
}

/// A Status that says why a request failed.
pub(super) fn failure(code: u16, reason: &str, message: impl Display) -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message.to_string(),
        "reason": reason,
        "code": code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(verdict: &Verdict) -> Option<Value> {
        verdict.status(&["FooBar", "test.example.com", "a"].map(str::to_owned))
    }

    #[test]
    fn all_objections_are_in_one_invalid_status() {
        assert_eq!(status(&Verdict::allowed()), None);
        let mut verdict = Verdict::allowed();
        verdict.invalid("spec.size", 3, "must be even");
        let one = status(&verdict).unwrap();
        let sentence = r#"FooBar.test.example.com "a" is invalid: spec.size: Invalid value: 3: must be even"#;
        assert_eq!((&one["message"], &one["code"]), (&json!(sentence), &json!(422)));
        verdict
            .required("spec.host", "")
            .unsupported("spec.mode", "x", &["a", "b"]);
        let all = status(&verdict).unwrap();
        assert_eq!(
            all["details"],
            json!({"name": "a", "group": "test.example.com", "kind": "FooBar", "causes": [
                {"reason": "FieldValueInvalid", "field": "spec.size", "message": "Invalid value: 3: must be even"},
                {"reason": "FieldValueRequired", "field": "spec.host", "message": "Required value"},
                {"reason": "FieldValueNotSupported", "field": "spec.mode",
                    "message": "Unsupported value: \"x\": supported values: \"a\", \"b\""},
            ]})
        );
        assert!(
            all["message"]
                .as_str()
                .unwrap()
                .ends_with(r#"supported values: "a", "b"]"#)
        );
    }

    #[test]
    fn a_forbidden_change_has_one_sentence() {
        let mut verdict = Verdict::forbidden("not on Fridays");
        verdict.forbid("nor on Mondays").required("spec", "");
        let status = status(&verdict).unwrap();
        assert_eq!((&status["code"], &status["reason"]), (&json!(403), &json!("Forbidden")));
        assert_eq!(status["message"], "not on Fridays");
    }
}
