//! Warnings about addresses and networks that are not in the canonical form, in which texts can be compared.

use std::net::Ipv6Addr;

use crate::{
    ip::{ambiguity, canonical, parse},
    kinds::{faults::quoted, kind::Warnings, located::Located},
};

/// Warns if an address is not in the canonical form.
pub(in crate::kinds) fn warn_of_ip(at: &Located<'_>, warnings: &mut Warnings) {
    let text = at.str();
    let Some(usual) = parse(text).map(canonical) else {
        return;
    };
    if ambiguity(text).is_some() {
        let (path, text, usual) = (&at.path, quoted(text), quoted(&usual));
        warnings.push(format!(
            "{path}: non-standard IP address {text} is invalid: use {usual}"
        ));
    } else {
        warn(at, "address", &usual, warnings);
    }
}

/// Warns if the address of a network is not in the canonical form.
pub(in crate::kinds) fn warn_of_cidr(at: &Located<'_>, warnings: &mut Warnings) {
    let Some((address, length)) = at.str().split_once('/') else {
        return;
    };
    if let Ok(found) = address.parse::<Ipv6Addr>() {
        let usual = format!("{}/{length}", canonical(found.into()));
        warn(at, "CIDR value", &usual, warnings);
    }
}

fn warn(at: &Located<'_>, what: &str, usual: &str, warnings: &mut Warnings) {
    let text = at.str();
    if usual != text {
        let (path, text, usual) = (&at.path, quoted(text), quoted(usual));
        warnings.push(format!(
            "{path}: IPv6 {what} {text} should be in RFC 5952 canonical format ({usual})"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_and_networks_have_one_form() {
        type Warn = fn(&Located<'_>, &mut Warnings);
        let cases: [(&str, Warn, &str); 7] = [
            ("::1", warn_of_ip, ""),
            ("1.2.3.4", warn_of_ip, ""),
            ("fd00::/8", warn_of_cidr, ""),
            (
                "01.2.3.4",
                warn_of_ip,
                "a: non-standard IP address \"01.2.3.4\" is invalid: use \"1.2.3.4\"",
            ),
            (
                "::ffff:1.2.3.4",
                warn_of_ip,
                "a: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\"",
            ),
            (
                "2001:DB8:0::1",
                warn_of_ip,
                "a: IPv6 address \"2001:DB8:0::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")",
            ),
            (
                "FD00::/8",
                warn_of_cidr,
                "a: IPv6 CIDR value \"FD00::/8\" should be in RFC 5952 canonical format (\"fd00::/8\")",
            ),
        ];
        for (text, warn, sentence) in cases {
            let (value, mut warnings) = (json!(text), Vec::new());
            warn(&Located::root(&value).called("a"), &mut warnings);
            assert_eq!(warnings.concat(), sentence);
        }
    }
}
