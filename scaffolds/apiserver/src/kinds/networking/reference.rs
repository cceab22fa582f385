//! References to objects of any kind.

use crate::kinds::{
    faults::Faults,
    format::{path_segment, subdomain},
    located::Located,
};

/// Validates a reference to an object of any kind.
pub(in crate::kinds) fn reference(at: &Located<'_>, faults: &mut Faults) {
    if at.get("apiGroup").is_set() {
        faults.format(&at.get("apiGroup"), subdomain);
    }
    for name in ["kind", "name"] {
        faults.required_format(&at.get(name), path_segment);
    }
}
