//! Addresses and networks that are not written in the one form that texts can be compared in.

use std::net::{IpAddr, Ipv6Addr};

use super::Said;
use crate::kinds::at::{At, quoted};

/// An address that is not in its usual form.
pub(super) fn ip(at: &At<'_>, said: &mut Said) {
    let text = at.str();
    if let Ok(IpAddr::V6(found)) = text.parse() {
        tell(at, ("address", &canonical(found)), said);
    }
}

/// A network whose address is not in its usual form.
pub(super) fn cidr(at: &At<'_>, said: &mut Said) {
    let Some((address, length)) = at.str().split_once('/') else {
        return;
    };
    if let Ok(found) = address.parse::<Ipv6Addr>() {
        tell(at, ("CIDR value", &format!("{}/{length}", canonical(found))), said);
    }
}

fn tell(at: &At<'_>, (what, usual): (&str, &str), said: &mut Said) {
    let text = at.str();
    if usual != text {
        let (path, text, usual) = (&at.path, quoted(text), quoted(usual));
        said.push(format!(
            "{path}: IPv6 {what} {text} should be in RFC 5952 canonical format ({usual})"
        ));
    }
}

/// As RFC 5952 has it; an address that only looks like one of IPv4 is written like the others.
fn canonical(found: Ipv6Addr) -> String {
    let text = found.to_string();
    let [.., high, low] = found.segments();
    match text.rsplit_once(':') {
        Some((head, last)) if last.contains('.') => format!("{head}:{high:x}:{low:x}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_and_networks_have_one_form() {
        type Warn = fn(&At<'_>, &mut Said);
        let cases: [(&str, Warn, &str); 5] = [
            ("::1", ip, ""),
            ("1.2.3.4", ip, ""),
            ("fd00::/8", cidr, ""),
            (
                "2001:DB8:0::1",
                ip,
                "a: IPv6 address \"2001:DB8:0::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")",
            ),
            (
                "FD00::/8",
                cidr,
                "a: IPv6 CIDR value \"FD00::/8\" should be in RFC 5952 canonical format (\"fd00::/8\")",
            ),
        ];
        for (text, warn, sentence) in cases {
            let (value, mut said) = (json!(text), Vec::new());
            warn(&At::root(&value).called("a"), &mut said);
            assert_eq!(said.concat(), sentence);
        }
    }
}
