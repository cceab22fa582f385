//! ServiceAccounts.

use crate::{
    kinds::{
        kind::{BuiltInKind, Change, Warnings},
        located::Located,
    },
    strategy::{Deletion, MetadataPass, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            metadata_passes: MetadataPass::UPDATE_THEN_VALIDATE,
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            ..Rules::default()
        },
        warnings,
        ..BuiltInKind::default()
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
