//! Webhooks of FooBar: the API server calls them before it stores an object. Prefer rules and constants in the type
//! itself, which hold without a running operator.

use api::test::v1::FooBar;
use kube::ResourceExt;
use kubewright_runtime::{Manager, Result};
use kubewright_webhooks::{Admission, Change, Defaulter, Operation, Validator, Verdict, Webhook};

use crate::app::App;

/// The annotation with the contact for an object.
const CONTACT: &str = "test.example.com/contact";

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Webhook::defaulting(FooBarDefaulter)
        .operations([Operation::Create])
        .register(manager)?;
    Webhook::validating(FooBarValidator).register(manager)?;
    Ok(())
}

/// Sets defaults that depend on more than the object, such as on the user.
struct FooBarDefaulter;

impl Defaulter<FooBar> for FooBarDefaulter {
    async fn default(&self, cx: &Admission, object: &mut FooBar) -> Result<()> {
        if let Some(user) = &cx.user().username {
            set_contact(object, user);
        }
        Ok(())
    }
}

/// The user is the contact, unless the object names another.
fn set_contact(object: &mut FooBar, user: &str) {
    let annotations = object.annotations_mut();
    if !annotations.contains_key(CONTACT) {
        annotations.insert(CONTACT.to_owned(), user.to_owned());
    }
}

/// Refuses objects for reasons that the type cannot express.
struct FooBarValidator;

impl Validator<FooBar> for FooBarValidator {
    async fn validate(&self, _cx: &Admission, change: Change<'_, FooBar>) -> Result<Verdict> {
        match change.new_object() {
            Some(object) => Ok(objections(object)),
            None => Ok(Verdict::allowed()),
        }
    }
}

/// All objections to an object: the client gets them in one answer, each with its field.
fn objections(object: &FooBar) -> Verdict {
    let mut verdict = Verdict::allowed();
    let target = object.spec.target.as_str();
    if target == object.name_any() {
        verdict.invalid("spec.target", target, "must not be the object itself");
    }
    verdict
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::testing::from_yaml;

    use super::*;

    /// The sample with this target.
    fn object(target: &str) -> FooBar {
        let sample = include_str!("../../config/samples/test_v1_foobar.yaml");
        let mut object: FooBar = from_yaml("sample", sample);
        object.spec.target = target.to_owned();
        object
    }

    #[test]
    fn the_contact_defaults_to_the_user_who_creates_the_object() {
        let mut object = object("world");
        set_contact(&mut object, "jane");
        assert_eq!(object.annotations()[CONTACT], "jane");
        // Another contact is kept.
        set_contact(&mut object, "joe");
        assert_eq!(object.annotations()[CONTACT], "jane");
    }

    #[test]
    fn an_object_may_not_be_its_own_target() {
        assert!(objections(&object("world")).is_allowed());
        assert!(!objections(&object("sample")).is_allowed());
    }
}
