//! The data of ConfigMaps and Secrets.

use crate::kinds::{
    faults::{Faults, quoted},
    format::config_key,
    located::Located,
};
use kubewright_machinery::base64::{self, Encoding};

/// The maximum size of a ConfigMap or Secret, in bytes: 1 MiB.
pub(in crate::kinds) const MOST: usize = 1024 * 1024;

const FIXED: &str = "field is immutable when `immutable` is set";

pub(in crate::kinds) fn keys(key: &str, at: &Located<'_>, faults: &mut Faults) {
    for sentence in config_key(key) {
        faults.invalid_as(at, &quoted(key), &sentence);
    }
}

pub(in crate::kinds) fn bytes(at: &Located<'_>) -> Vec<u8> {
    base64::decode(at.str(), Encoding::Standard).unwrap_or_default()
}

/// Checks that an immutable object is unchanged and remains immutable.
pub(in crate::kinds) fn fixed(new: &Located<'_>, old: &Located<'_>, names: &[&str], faults: &mut Faults) {
    if !old.get("immutable").is_true() {
        return;
    }
    if !new.get("immutable").is_true() {
        faults.forbidden(&new.get("immutable"), FIXED);
    }
    for name in names {
        if new.get(name).value != old.get(name).value {
            faults.forbidden(&new.get(name), FIXED);
        }
    }
}
