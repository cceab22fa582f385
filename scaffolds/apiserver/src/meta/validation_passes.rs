//! The passes in which metadata is checked: by the registry, and then by the kind itself.

use std::collections::BTreeSet;

use kubewright_machinery::Cause;
use serde_json::Value;

use super::{finalizer_names, unstructured::malformed, update, validate};
use crate::{
    resource::Resource,
    strategy::{MetadataPass, NameRule},
};

/// The errors in the metadata of a new object. `is_changed` is true if admission has changed the object.
pub fn created(resource: &Resource, object: &Value, is_changed: bool) -> Vec<Cause> {
    let rules = resource.rules();
    if is_changed
        && !rules.is_built_in()
        && let Some(cause) = malformed(object)
    {
        return vec![cause];
    }
    let mut causes = validate(object, rules.name, resource.namespaced);
    if rules.passes.object.contains(&MetadataPass::FinalizerNames) {
        causes.extend(finalizer_names(object));
    }
    causes
}

/// The errors in the metadata of a changed object, before the kind's errors in the rest of the object. `is_changed` is
/// true if admission has changed the new state.
pub fn updated(resource: &Resource, subresource: &str, is_changed: bool, new: &Value, old: &Value) -> Vec<Cause> {
    let rules = resource.rules();
    let passes = match subresource {
        // If kind or version is wrong, the strategy reports only that.
        _ if !resource.strategy.is_of_type(new) => MetadataPass::NONE,
        "" | "scale" => rules.passes.object,
        _ => rules.passes.status,
    };
    let mut causes = validate(new, NameRule::PathSegment, resource.namespaced);
    causes.extend(update(new, old));
    if is_changed
        && !rules.is_built_in()
        && let Some(cause) = malformed(new)
    {
        causes.push(cause);
        return causes;
    }
    for pass in passes {
        causes.extend(match pass {
            MetadataPass::Update => update(new, old),
            MetadataPass::Validate => validate(new, rules.name, resource.namespaced),
            MetadataPass::FinalizerNames => finalizer_names(new),
        });
    }
    causes
}

/// Removes repeated errors of a built-in kind. Its declared rules are checked after the other ones, and upstream then lists each error once;
/// custom kinds have no declared rules.
pub fn distinct(resource: &Resource, causes: &mut Vec<Cause>) {
    if resource.rules().is_built_in() {
        let mut seen = BTreeSet::new();
        causes.retain(|cause| seen.insert(cause.clone()));
    }
}
