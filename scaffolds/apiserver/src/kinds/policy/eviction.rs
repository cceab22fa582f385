//! Evictions, the bodies of requests to `pods/eviction`.

use crate::{kinds::kind::BuiltInKind, strategy::Rules};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            also_read_as: Some("policy/v1beta1"),
            ..Rules::default()
        },
        ..BuiltInKind::default()
    }
}
