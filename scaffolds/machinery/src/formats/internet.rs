//! Formats for names and addresses of hosts.

use super::matches;
use crate::pattern::Pattern;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

/// One name without dots, or labels and a top-level domain of at least two letters. Letters and symbols of any script
/// are allowed.
const HOSTNAME: &str = concat!(
    r"^([a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?",
    r"|([a-zA-Z0-9\p{S}\p{L}]([-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$"
);

pub(super) fn is_hostname(text: &str) -> bool {
    static COMPILED: OnceLock<Option<Pattern>> = OnceLock::new();
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63) && matches(HOSTNAME, &COMPILED, text)
}

/// Also accepts an IPv6 address that ends in an IPv4 address.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && (sloppy_v4(text).is_some() || sloppy_v6(text).is_some())
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, mask)) = text.split_once('/') else {
        return false;
    };
    let bits = match (sloppy_v4(address), sloppy_v6(address)) {
        (Some(_), _) => 32,
        (None, Some(_)) => 128,
        (None, None) => return false,
    };
    digits(mask).is_some_and(|mask| mask <= bits)
}

/// Accepts and ignores leading zeros, as Go did before 1.17 and Kubernetes still does.
fn sloppy_v4(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        *octet = u8::try_from(digits(parts.next()?)?).ok()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets))
}

fn sloppy_v6(text: &str) -> Option<Ipv6Addr> {
    let mut plain = Vec::new();
    for part in text.split(':') {
        if part.contains('.') {
            plain.push(sloppy_v4(part)?.to_string());
        } else if part.len() > 4 {
            plain.push(format!("{:0>1}", part.trim_start_matches('0')));
        } else {
            plain.push(part.to_owned());
        }
    }
    plain.join(":").parse().ok()
}

/// A decimal number below the limit of Go's parser.
fn digits(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten().filter(|it| *it < 0xFF_FFFF)
}

/// 6, 8 or 20 bytes, as pairs of digits separated by colons, dashes or nothing, or as groups of four separated by dots.
pub(super) fn is_mac(text: &str) -> bool {
    let (separator, width) = match (text.as_bytes().get(2), text.as_bytes().get(4)) {
        (Some(b':'), _) => (":", 2),
        (Some(b'-'), _) => ("-", 2),
        (_, Some(b'.')) => (".", 4),
        _ => return [12, 16, 40].contains(&text.len()) && hexadecimal(text),
    };
    let groups: Vec<&str> = text.split(separator).collect();
    [6, 8, 20].contains(&(groups.len() * width / 2))
        && groups.iter().all(|group| group.len() == width && hexadecimal(group))
}

fn hexadecimal(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_as_leniently_as_on_the_server() {
        for yes in ["1.2.3.4", "01.002.3.4", "::ffff:1.2.3.4"] {
            assert!(is_ipv4(yes), "{yes}");
        }
        for no in ["1.2.3", "1.2.3.256", "::1", "1.2.3.4 ", "1.2.3.4.5", "+1.2.3.4"] {
            assert!(!is_ipv4(no), "{no}");
        }
        for yes in ["10.0.0.0/8", "00001::/064", "::/0"] {
            assert!(is_cidr(yes), "{yes}");
        }
        for no in ["10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/+8", "10.0.0.0/"] {
            assert!(!is_cidr(no), "{no}");
        }
    }
}
