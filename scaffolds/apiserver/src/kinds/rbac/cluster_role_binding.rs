//! ClusterRoleBindings.

use crate::{
    kinds::{kind::Kind, rbac::binding},
    strategy::Grants,
};

pub(in crate::kinds) fn kind() -> Kind {
    Kind {
        rules: super::rules(Grants::Role),
        defaults: &[("rbac.v1.ClusterRoleBinding", binding::default)],
        validate: binding::validate,
        validate_update: binding::validate_update,
        cells: binding::cells,
        ..Kind::default()
    }
}
