//! MutatingAdmissionWebhook and ValidatingAdmissionWebhook: find the webhooks that a request matches, call them, and judge
//! their answers.

mod call;
pub(super) mod conditions;
pub(super) mod matching;
pub(super) mod review;
mod verdict;
pub(super) mod version;

use std::collections::BTreeSet;

use futures::future::join_all;
use serde_json::Value;

use super::{Attributes, Objects};
use crate::{
    apply,
    state::Core,
    status::Status,
    webhooks::{Hook, Kind},
};
use call::Called;
use matching::{Asked, Match};
use version::Versioned;

/// The kinds that no webhook is called for, so that a bad configuration can be removed.
const EXEMPT: &str = "admissionregistration.k8s.io";

/// What the mutating phase knows about its rounds. If a webhook changes the object, all members run once more, and of the
/// webhooks those that ask for it and were called before the change.
#[derive(Debug, Default)]
pub struct Round {
    is_second: bool,
    has_changed: bool,
    /// Webhooks that want to be called again after the next change.
    waiting: BTreeSet<String>,
    /// Webhooks that are called in the second round.
    again: BTreeSet<String>,
    /// The object after the webhooks of the first round.
    last: Value,
}

impl Round {
    /// Begins the second round, if there is one.
    pub fn again(&mut self) -> bool {
        let begins = self.has_changed && !self.is_second;
        self.is_second = begins;
        begins
    }

    /// Whether a webhook has changed the object.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    fn change(&mut self) {
        self.has_changed = true;
        self.again.append(&mut self.waiting);
    }
}

/// Calls the mutating webhooks that match a request, one after the other.
///
/// # Errors
/// The refusal of a webhook, or why it could not be called.
pub async fn mutate(
    core: &Core,
    attributes: &Attributes<'_>,
    objects: &mut Objects<'_>,
    round: &mut Round,
) -> Result<(), Status> {
    let hooks = hooks(core, attributes, Kind::Mutating);
    if hooks.is_empty() {
        return Ok(());
    }
    let asked = Asked::new(attributes, objects);
    let present = |objects: &Objects<'_>| objects.new.as_deref().cloned().unwrap_or_default();
    if round.is_second && round.last != present(objects) {
        // A member has changed the object, so every webhook that wants to sees it again.
        round.change();
    }
    for hook in hooks.iter() {
        let Some(matched) = should_call(core, hook, &asked, objects).await? else {
            continue;
        };
        if round.is_second && !round.again.contains(&hook.id) {
            continue;
        }
        let seen = Versioned::of(&asked, &matched, objects).await?;
        let outcome = call::mutating(core, &asked, hook, &seen).await;
        if let (Ok(Some(Called::Patched(patched))), Some(new)) = (&outcome, objects.new.as_deref_mut()) {
            if patched.differs_from(&seen) {
                round.change();
            }
            *new = patched.in_version_of(&asked).await?;
        }
        if hook.is_reinvoked {
            round.waiting.insert(hook.id.clone());
        }
        outcome?;
    }
    round.last = present(objects);
    Ok(())
}

/// Calls the validating webhooks that match a request, all at once.
///
/// # Errors
/// The refusal of the first webhook that refuses, or why it could not be called.
pub async fn validate(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let hooks = hooks(core, attributes, Kind::Validating);
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

fn hooks(core: &Core, attributes: &Attributes<'_>, kind: Kind) -> std::sync::Arc<[Hook]> {
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

/// Restores the managedFields from before admission if a webhook has made them invalid, and warns of it.
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
