//! ClusterRoles.

use crate::{
    kinds::{kind::BuiltInKind, rbac::policy_rules},
    strategy::Grants,
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: super::rules(Grants::Rules),
        validate: |object, faults| policy_rules::validate(object, true, faults),
        validate_update: |new, _, faults| policy_rules::validate(new, true, faults),
        cells: |row| vec![row.name(), row.text("metadata.creationTimestamp")],
        ..BuiltInKind::default()
    }
}
