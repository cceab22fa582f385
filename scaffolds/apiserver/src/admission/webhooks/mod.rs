//! MutatingAdmissionWebhook and ValidatingAdmissionWebhook: find the webhooks that a request matches, call them, and judge
//! their answers.

mod call;
pub(super) mod conditions;
pub(super) mod matching;
pub(super) mod review;
mod verdict;
pub(super) mod version;

use futures::future::join_all;
use serde_json::Value;

use super::{
    Attributes, Objects,
    rounds::{Caller, Rounds},
};
use crate::{
    apply,
    state::Core,
    status::Status,
    webhooks::{Hook, WebhookKind},
};
use call::Called;
use matching::{Asked, Match};
use version::Versioned;

/// The kinds that no webhook is called for, so that a bad configuration can be removed.
const EXEMPT: &str = "admissionregistration.k8s.io";

/// Calls the mutating webhooks that match a request, one after the other.
///
/// # Errors
/// The refusal of a webhook, or why it could not be called.
pub async fn mutate(
    core: &Core,
    attributes: &Attributes<'_>,
    objects: &mut Objects<'_>,
    rounds: &mut Rounds,
) -> Result<(), Status> {
    let hooks = hooks(core, attributes, WebhookKind::Mutating);
    if hooks.is_empty() {
        return Ok(());
    }
    let asked = Asked::new(attributes, objects);
    rounds.begin(Caller::Webhooks, objects.present());
    for hook in hooks.iter() {
        let Some(matched) = should_call(core, hook, &asked, objects).await? else {
            continue;
        };
        if !rounds.calls(Caller::Webhooks, &hook.id) {
            continue;
        }
        let seen = Versioned::of(&asked, &matched, objects).await?;
        let outcome = call::mutating(core, &asked, hook, &seen).await;
        if let (Ok(Some(Called::Patched(patched))), Some(new)) = (&outcome, objects.new.as_deref_mut()) {
            if patched.differs_from(&seen) {
                rounds.change(Caller::Webhooks);
            }
            *new = patched.in_version_of(&asked).await?;
        }
        if hook.is_reinvoked {
            rounds.wait(Caller::Webhooks, hook.id.clone());
        }
        outcome?;
    }
    rounds.end(Caller::Webhooks, objects.present().clone());
    Ok(())
}

/// Calls the validating webhooks that match a request, all at once.
///
/// # Errors
/// The refusal of the first webhook that refuses, or why it could not be called.
pub async fn validate(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let hooks = hooks(core, attributes, WebhookKind::Validating);
    if hooks.is_empty() {
        return Ok(());
    }
    let asked = Asked::new(attributes, objects);
    let mut calls = Vec::new();
    for hook in hooks.iter() {
        if let Some(matched) = should_call(core, hook, &asked, objects).await? {
            let seen = Versioned::of(&asked, &matched, objects).await?;
            let asked = &asked;
            calls.push(async move { call::validating(core, asked, hook, &seen).await });
        }
    }
    join_all(calls).await.into_iter().collect()
}

fn hooks(core: &Core, attributes: &Attributes<'_>, kind: WebhookKind) -> std::sync::Arc<[Hook]> {
    match attributes.call.resource.group.as_str() {
        EXEMPT => std::sync::Arc::default(),
        _ => core.webhooks.of(kind, &core.store),
    }
}

/// Whether a webhook is called, and for which version of the object.
async fn should_call(
    core: &Core,
    hook: &Hook,
    asked: &Asked<'_>,
    objects: &Objects<'_>,
) -> Result<Option<Match>, Status> {
    let Some(matched) = matching::find(core, &hook.selection, asked, objects)? else {
        return Ok(None);
    };
    if hook.conditions.is_empty() {
        return Ok(Some(matched));
    }
    let seen = Versioned::of(asked, &matched, objects).await?;
    let holds = conditions::hold(core, hook, asked, &seen)?;
    Ok(holds.then_some(matched))
}

/// Restores the managedFields from before admission if a member has made them invalid, and warns of it.
pub fn check_managers(attributes: &Attributes<'_>, before: Option<Value>, objects: &mut Objects<'_>) {
    let Some(new) = objects.new.as_deref_mut() else { return };
    if let Some(why) = apply::invalid_managers(new) {
        attributes.call.warnings.add(format!(
            ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating \
             admission controller; please fix your requests: {why}"
        ));
        crate::meta::set(new, "managedFields", before);
    }
}
