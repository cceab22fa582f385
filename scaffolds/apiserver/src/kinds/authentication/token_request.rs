//! TokenRequests, which are posted to `serviceaccounts/NAME/token`.

use crate::kinds::{edit::set, kind::Kind};

pub(in crate::kinds) fn kind() -> Kind {
    Kind {
        defaults: &[("authentication.v1.TokenRequestSpec", |spec| {
            set(spec, "expirationSeconds", 3600);
        })],
        ..Kind::default()
    }
}
