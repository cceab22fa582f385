//! Addresses, and networks in CIDR notation.

use std::net::IpAddr;

use crate::{
    ip::{ambiguity, is_mapped, not_canonical, parse, read},
    kinds::{
        faults::{Faults, quoted},
        located::Located,
    },
};

/// Checks an address, and returns whether it is valid. The texts in `old` count as valid: the server
/// has accepted them before.
pub(in crate::kinds) fn ip(at: &Located<'_>, old: &[&str], faults: &mut Faults) -> bool {
    let fault = ambiguity(at.str()).filter(|_| !old.contains(&at.str()));
    if let Some(fault) = fault {
        faults.invalid_as(at, &quoted(at.str()), fault);
    }
    fault.is_none()
}

/// Like [`ip`], for an address that must be in the canonical form.
pub(in crate::kinds) fn canonical_ip(at: &Located<'_>, faults: &mut Faults) -> bool {
    let fault = not_canonical(at.str());
    if let Some(fault) = &fault {
        faults.invalid_as(at, &quoted(at.str()), fault);
    }
    fault.is_none()
}

/// Checks that an endpoint can have this address.
pub(in crate::kinds) fn endpoint_ip(at: &Located<'_>, faults: &mut Faults) {
    let Some(ip) = parse(at.str()) else {
        return faults.invalid_as(at, &quoted(at.str()), "must be a valid IP address");
    };
    if ip.is_unspecified() {
        faults.invalid(at, &format!("may not be unspecified ({})", at.str()));
    }
    if ip.is_loopback() {
        faults.invalid(at, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let (link_local, link_multicast) = match ip {
        IpAddr::V4(ip) => (ip.is_link_local(), ip.octets().starts_with(&[224, 0, 0])),
        IpAddr::V6(ip) => (ip.segments()[0] & 0xffc0 == 0xfe80, ip.segments()[0] & 0xff0f == 0xff02),
    };
    if link_local {
        faults.invalid(at, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if link_multicast {
        faults.invalid(
            at,
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        );
    }
}

/// An address and the length of its prefix in bits.
pub(in crate::kinds) struct Network {
    pub address: IpAddr,
    pub bits: u32,
}

impl Network {
    /// Reads the network in `text`, which is the value at `at`, and adds the errors in it.
    pub fn read(at: &Located<'_>, text: &str, faults: &mut Faults) -> Option<Self> {
        let found = parts(text);
        let fault = match &found {
            None => "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            Some((_, true)) => "must not have leading 0s in IP or prefix length",
            Some((network, _)) if is_mapped(network.address) => "must not have an IPv4-mapped IPv6 address",
            Some((network, _)) if network.has_more_bits() => "must not have bits set beyond the prefix length",
            Some(_) => "",
        };
        if !fault.is_empty() {
            faults.invalid_as(at, &quoted(text), fault);
        }
        found.map(|(network, _)| network)
    }

    /// Whether it contains `inner` and is larger.
    pub fn is_around(&self, inner: &Self) -> bool {
        let same = self.address.is_ipv6() == inner.address.is_ipv6();
        let head = |network: &Self| {
            network
                .number()
                .checked_shr(self.width() - self.bits)
                .unwrap_or_default()
        };
        same && self.bits < inner.bits && head(self) == head(inner)
    }

    fn has_more_bits(&self) -> bool {
        self.number() & !u128::MAX.checked_shl(self.width() - self.bits).unwrap_or_default() != 0
    }

    fn width(&self) -> u32 {
        if self.address.is_ipv6() { 128 } else { 32 }
    }

    fn number(&self) -> u128 {
        match self.address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        }
    }
}

/// The network, and whether one of its numbers has leading zeros.
fn parts(text: &str) -> Option<(Network, bool)> {
    let (address, length) = text.split_once('/')?;
    let bits: u32 = length
        .parse()
        .ok()
        .filter(|_| length.bytes().all(|it| it.is_ascii_digit()))?;
    let (address, has_zeros) = read(address)?;
    let network = Network { address, bits };
    let has_zeros = has_zeros || length.len() > 1 && length.starts_with('0');
    (bits <= network.width()).then_some((network, has_zeros))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_network_is_formatted_with_its_prefix_length() {
        for (text, sentence) in [
            ("10.0.0.0/8", ""),
            ("0.0.0.0/0", ""),
            ("::/0", ""),
            ("fd00::/8", ""),
            (
                "10.0.0.0/33",
                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            ),
            (
                "10.0.0.0",
                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            ),
            ("010.0.0.0/8", "must not have leading 0s in IP or prefix length"),
            ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
            ("::ffff:10.0.0.0/104", "must not have an IPv4-mapped IPv6 address"),
            ("10.1.0.0/8", "must not have bits set beyond the prefix length"),
        ] {
            let (value, mut faults) = (json!(text), Faults::default());
            Network::read(&Located::root(&value), text, &mut faults);
            let said: Vec<String> = faults.into_causes().iter().map(|it| it.message.clone()).collect();
            let expected = (!sentence.is_empty()).then(|| format!("Invalid value: {text:?}: {sentence}"));
            assert_eq!(said, Vec::from_iter(expected));
        }
    }

    #[test]
    fn a_network_with_prefix_length_zero_contains_all_of_its_family() {
        let network = |text: &str| parts(text).unwrap().0;
        assert!(network("0.0.0.0/0").is_around(&network("128.0.0.0/1")));
        assert!(!network("0.0.0.0/0").is_around(&network("0.0.0.0/0")));
        assert!(!network("0.0.0.0/0").is_around(&network("::/1")));
        assert!(network("10.0.0.0/8").is_around(&network("10.1.0.0/16")));
        assert!(!network("10.0.0.0/8").is_around(&network("11.0.0.0/16")));
    }
}
