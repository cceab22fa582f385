//! ServiceAccounts.

use serde_json::Value;

use crate::{
    kinds::{
        kind::{BuiltInKind, Change, Warnings},
        located::Located,
    },
    strategy::{Deletion, Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            passes: Passes::UPDATE_THEN_VALIDATE,
            ..Rules::default()
        },
        prepare_create: name_secrets,
        prepare_update: |new, _| name_secrets(new),
        warnings,
        ..BuiltInKind::default()
    }
}

/// Keeps only the names of secrets.
fn name_secrets(account: &mut Value) {
    for secret in account
        .get_mut("secrets")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        secret.retain(|field, _| field == "name");
    }
}

fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    const ENFORCED: &str = "kubernetes.io/enforce-mountable-secrets";
    let is_set = |at: &Located<'_>| at.at("metadata.annotations").get(ENFORCED).is_set();
    if !is_set(at) || old.is_some_and(is_set) {
        return Vec::new();
    }
    vec![format!(
        "metadata.annotations[{ENFORCED}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
    )]
}
