//! RoleBindings.

use crate::{
    kinds::{kind::BuiltInKind, rbac::binding},
    strategy::Grants,
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: super::rules(Grants::Role),
        defaults: &[
            ("rbac.v1.RoleBinding", binding::default),
            ("rbac.v1.Subject", binding::default_subject),
        ],
        validate: binding::validate,
        validate_update: binding::validate_update,
        cells: binding::cells,
        ..BuiltInKind::default()
    }
}
