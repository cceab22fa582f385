//! Webhooks of Pump: the API server calls them before it stores an object. Prefer rules and constants in the type
//! itself, which hold without a running operator.

use api::water::v1::Pump;
use kube::{Resource, api::ObjectMeta};
use kubewright_runtime::{Manager, Result};
use kubewright_webhooks::{Admission, Change, Defaulter, Operation, Validator, Verdict, Webhook};

use crate::app::App;

/// The annotation with the contact for an object.
const CONTACT: &str = "water.example.com/contact";

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Webhook::defaulting(PumpDefaulter)
        .operations([Operation::Create])
        .register(manager)?;
    Webhook::validating(PumpValidator).register(manager)?;
    Ok(())
}

/// The contact for an object, if it has one.
fn contact(metadata: &ObjectMeta) -> Option<&str> {
    let annotations = metadata.annotations.as_ref()?;
    annotations.get(CONTACT).map(String::as_str)
}

/// Sets defaults that depend on more than the object, such as on the user.
struct PumpDefaulter;

impl Defaulter<Pump> for PumpDefaulter {
    async fn default(&self, cx: &Admission, object: &mut Pump) -> Result<()> {
        if let Some(user) = &cx.user().username {
            set_contact(object.meta_mut(), user);
        }
        Ok(())
    }
}

/// An empty annotation requests a contact: the user who creates the object.
fn set_contact(metadata: &mut ObjectMeta, user: &str) {
    if contact(metadata) == Some("") {
        let annotations = metadata.annotations.get_or_insert_default();
        annotations.insert(CONTACT.to_owned(), user.to_owned());
    }
}

/// Refuses objects for reasons that only this operator knows.
struct PumpValidator;

impl Validator<Pump> for PumpValidator {
    async fn validate(&self, _cx: &Admission, change: Change<'_, Pump>) -> Result<Verdict> {
        match change.new_object() {
            Some(object) => Ok(objections(object.meta())),
            None => Ok(Verdict::allowed()),
        }
    }
}

/// All objections to an object: the client gets them in one answer, each with its field.
fn objections(metadata: &ObjectMeta) -> Verdict {
    let mut verdict = Verdict::allowed();
    if let Some(contact) = contact(metadata)
        && contact.trim().is_empty()
    {
        let field = format!("metadata.annotations[{CONTACT}]");
        verdict.invalid(&field, contact, "must not be empty");
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(contact: &str) -> ObjectMeta {
        let annotations = [(CONTACT.to_owned(), contact.to_owned())];
        ObjectMeta {
            annotations: Some(annotations.into()),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn the_contact_defaults_to_the_user_who_creates_the_object() {
        let mut unset = metadata("");
        set_contact(&mut unset, "jane");
        assert_eq!(contact(&unset), Some("jane"));
        // Other objects stay as they are.
        for mut other in [metadata("joe"), ObjectMeta::default()] {
            let before = other.clone();
            set_contact(&mut other, "jane");
            assert_eq!(other, before);
        }
    }

    #[test]
    fn an_empty_contact_is_refused() {
        assert!(!objections(&metadata(" ")).is_allowed());
        for fine in [metadata("jane"), ObjectMeta::default()] {
            assert!(objections(&fine).is_allowed());
        }
    }
}
