//! Values that are either integers or percentages.

use crate::kinds::{faults::Faults, located::Located};

/// Checks an integer or percentage, which must not be negative.
pub(in crate::kinds) fn amount(at: &Located<'_>, faults: &mut Faults) {
    if !at.value.is_string() {
        return faults.not_negative(at);
    }
    let digits = at.str().strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.invalid(
            at,
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used \
             for validation is '[0-9]+%')",
        );
    }
}

/// The integer, or the number of the percentage.
pub(in crate::kinds) fn share(at: &Located<'_>) -> i64 {
    match at.str().strip_suffix('%') {
        Some(digits) => digits.parse().unwrap_or_default(),
        None => at.int(),
    }
}

/// Checks that a percentage does not exceed 100 %.
pub(in crate::kinds) fn at_most_all(at: &Located<'_>, faults: &mut Faults) {
    if at.value.is_string() && share(at) > 100 {
        faults.invalid(at, "must not be greater than 100%");
    }
}
