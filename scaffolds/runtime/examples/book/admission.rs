//! Webhooks of the kind FooBar.

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kubewright_runtime::{Manager, Result};
use kubewright_webhooks::{Admission, Change, Defaulter, Validator, Verdict, Webhook};

use crate::foobar::FooBar;

// ANCHOR: validator
/// The rules that a schema cannot express, because they are about several objects.
pub struct Rules;

impl Validator<FooBar> for Rules {
    async fn validate(&self, cx: &Admission, change: Change<'_, FooBar>) -> Result<Verdict> {
        let mut verdict = Verdict::allowed();
        let Some(new) = change.new_object() else {
            return Ok(verdict);
        };
        // From the caches: see `.reads` below.
        let others = cx.list::<FooBar>()?;
        let is_same = |other: &FooBar| other.spec.target == new.spec.target && other.name_any() != new.name_any();
        if others.iter().any(|other| is_same(other)) {
            verdict.duplicate("spec.target", new.spec.target.as_str());
        }
        if new.spec.target.starts_with("system-") {
            verdict.invalid("spec.target", new.spec.target.as_str(), "must not begin with system-");
        }
        let secret = new.spec.secret_name.as_deref().unwrap_or_default();
        if !secret.is_empty() && cx.get::<Secret>(secret)?.is_none() {
            cx.warn(format!("spec.secretName: there is no Secret {secret} yet"));
        }
        Ok(verdict)
    }
}
// ANCHOR_END: validator

// ANCHOR: defaulter
/// A default that depends on the object's name.
pub struct Defaults;

impl Defaulter<FooBar> for Defaults {
    async fn default(&self, cx: &Admission, object: &mut FooBar) -> Result<()> {
        if object.spec.secret_name.is_none() && !cx.name().is_empty() {
            object.spec.secret_name = Some(format!("{}-password", cx.name()));
        }
        Ok(())
    }
}
// ANCHOR_END: defaulter

// ANCHOR: register
pub fn register(manager: &Manager) -> Result<()> {
    Webhook::defaulting(Defaults).register(manager)?;
    Webhook::validating(Rules)
        .reads::<FooBar>()
        .reads::<Secret>()
        .when("spec-changes", "oldObject == null || object.spec != oldObject.spec")
        .register(manager)
}
// ANCHOR_END: register
