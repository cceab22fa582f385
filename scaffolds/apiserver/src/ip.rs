//! IP addresses in texts: the forms that Go reads, and those that the API server accepts. Pure.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv6Addr},
};

use kubewright_machinery::go::quote;

/// The address in a text, in any form that Go reads.
pub fn parse(text: &str) -> Option<IpAddr> {
    read(text).map(|(ip, _)| ip)
}

/// The address in a text, and whether one of its numbers has leading zeros.
pub fn read(text: &str) -> Option<(IpAddr, bool)> {
    let is_numeric = || {
        text.bytes()
            .all(|byte| byte.is_ascii_hexdigit() || b".:".contains(&byte))
    };
    match text.parse() {
        Ok(ip) => Some((ip, false)),
        Err(_) if is_numeric() => without_zeros(text).parse().ok().map(|ip| (ip, true)),
        Err(_) => None,
    }
}

/// The text of an address without leading zeros.
fn without_zeros(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for part in text.split_inclusive(['.', ':']) {
        let digits = part.trim_end_matches(['.', ':']);
        let rest = digits.trim_start_matches('0');
        if rest.is_empty() && !digits.is_empty() {
            plain.push('0');
        }
        plain.push_str(rest);
        plain.push_str(part.get(digits.len()..).unwrap_or_default());
    }
    plain
}

/// The error for a text that is not an IP address, or that programs read differently.
pub fn ambiguity(text: &str) -> Option<&'static str> {
    match read(text) {
        None => Some("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        Some((_, true)) => Some("must not have leading 0s"),
        Some((ip, _)) if is_mapped(ip) => Some("must not be an IPv4-mapped IPv6 address"),
        Some(_) => None,
    }
}

/// Whether an address is IPv4-mapped: `::ffff:1.2.3.4`.
pub fn is_mapped(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some())
}

/// Whether an address is IPv6. As in Go, an IPv4-mapped address counts as IPv4.
pub fn is_ipv6(ip: &IpAddr) -> bool {
    ip.to_canonical().is_ipv6()
}

/// Whether a text is an IPv6 address.
pub fn is_ipv6_text(text: &str) -> bool {
    parse(text).is_some_and(|ip| is_ipv6(&ip))
}

/// An address as in RFC 5952: equal addresses have equal texts.
pub fn canonical(ip: IpAddr) -> String {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => canonical_v6(ip),
    }
}

/// An IPv6 address in hexadecimal groups. Rust prints the end of some addresses in decimal.
fn canonical_v6(ip: Ipv6Addr) -> String {
    let text = ip.to_string();
    let [.., high, low] = ip.segments();
    match text.rsplit_once(':') {
        Some((head, last)) if last.contains('.') => format!("{head}:{high:x}:{low:x}"),
        _ => text,
    }
}

/// The reason that a text is not an address in the canonical form.
pub fn not_canonical(text: &str) -> Option<Cow<'static, str>> {
    if let Some(fault) = ambiguity(text) {
        return Some(fault.into());
    }
    let usual = canonical(parse(text)?);
    (usual != text).then(|| format!("must be in canonical form ({})", quote(&usual)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_in_each_form_that_go_reads() {
        for (text, fault) in [
            ("1.2.3.4", None),
            ("2001:db8::1", None),
            ("01.2.3.4", Some("must not have leading 0s")),
            ("1.2.3.000", Some("must not have leading 0s")),
            ("::ffff:01.2.3.4", Some("must not have leading 0s")),
            ("00001::1", Some("must not have leading 0s")),
            ("::ffff:1.2.3.4", Some("must not be an IPv4-mapped IPv6 address")),
            ("FD00::1", Some("must be in canonical form (\"fd00::1\")")),
            ("::1.2.3.4", Some("must be in canonical form (\"::102:304\")")),
        ] {
            assert!(parse(text).is_some(), "{text}");
            assert_eq!(not_canonical(text).as_deref(), fault, "{text}");
        }
        for text in [
            "",
            "x",
            "+1.2.3.4",
            "1.2.3",
            "1..2.3",
            "256.1.1.1",
            "1.2.3.4/8",
            "fe80::1%eth0",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
