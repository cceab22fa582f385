//! Kernel parameters (sysctls) of a Pod.

use std::collections::BTreeSet;

use crate::kinds::{faults::Faults, located::Located};

/// Validates sysctls: their names, and that none of them belongs to a namespace of the host that the Pod uses.
pub(in crate::kinds) fn sysctls(spec: &Located<'_>, faults: &mut Faults) {
    const FORM: &str = "must have at most 253 characters and match regex \
                        ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
    let mut seen = BTreeSet::new();
    for setting in spec.at("securityContext.sysctls").items() {
        let name = setting.get("name");
        if name.str().is_empty() {
            faults.required(&name, "");
        } else if !is_sysctl(name.str()) {
            faults.invalid(&name, FORM);
        } else if seen.contains(name.str()) {
            faults.duplicate(&name);
        }
        let of_host = |field: &str, prefixes: &[&str]| {
            let plain = name.str().replace('/', ".");
            spec.get(field).is_true() && prefixes.iter().any(|prefix| plain.starts_with(prefix))
        };
        if of_host("hostNetwork", &["net."]) {
            faults.invalid(&name, "may not be specified when 'hostNetwork' is true");
        } else if of_host("hostIPC", &["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."]) {
            faults.invalid(&name, "may not be specified when 'hostIPC' is true");
        }
        seen.insert(name.str());
    }
}

/// Checks for parts separated by dots or slashes, of lower-case letters and digits with dashes and underscores between them.
fn is_sysctl(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        let ends = bytes.first().is_some_and(|it| plain(*it)) && bytes.last().is_some_and(|it| plain(*it));
        ends && bytes.iter().all(|it| plain(*it) || matches!(it, b'-' | b'_'))
    };
    name.len() <= 253 && name.split(['.', '/']).all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sysctl_name_consists_of_valid_parts() {
        for name in ["kernel.shm_rmid_forced", "net/ipv4/ip_forward", "a", "a-b.c"] {
            assert!(is_sysctl(name), "{name}");
        }
        for name in ["", ".", "a.", "A", "a b", "_a", "a..b"] {
            assert!(!is_sysctl(name), "{name}");
        }
    }
}
