//! Evictions, the bodies of requests to `pods/eviction`.

use crate::{kinds::kind::Kind, strategy::Rules};

pub(in crate::kinds) fn kind() -> Kind {
    Kind {
        rules: Rules {
            also_read_as: Some("policy/v1beta1"),
            ..Rules::default()
        },
        ..Kind::default()
    }
}
