//! TokenRequests, which are posted to `serviceaccounts/NAME/token`.

use crate::kinds::{edit::set, kind::BuiltInKind};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        defaults: &[("authentication.v1.TokenRequestSpec", |spec| {
            set(spec, "expirationSeconds", 3600);
        })],
        ..BuiltInKind::default()
    }
}
