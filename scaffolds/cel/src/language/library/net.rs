//! IP addresses and networks, as Go's `net/netip` parses them.

use crate::language::value::{Fault, Foreign, Outcome, Val};
use kubewright_machinery::go::quote;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::language) struct Prefix {
    address: IpAddr,
    pub(in crate::language) bits: u8,
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

pub(super) fn ip(text: &str) -> Outcome<IpAddr> {
    if let Some((address, zone)) = text.split_once('%')
        && address.parse::<Ipv6Addr>().is_ok()
        && !zone.is_empty()
    {
        return Err(Fault::new(format!(
            "IP address {} with zone value is not allowed",
            quote(text)
        )));
    }
    let address: IpAddr = text.parse().map_err(|_| {
        let (what, why) = (quote(text), unreadable(text));
        Fault::new(format!(
            "IP Address {what} parse error during conversion from string: {why}"
        ))
    })?;
    refuse_mapped(address, text)?;
    Ok(address)
}

fn refuse_mapped(address: IpAddr, text: &str) -> Outcome<()> {
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => Err(Fault::new(format!(
            "IPv4-mapped IPv6 address {} is not allowed",
            quote(text)
        ))),
        _ => Ok(()),
    }
}

/// Go's error for an invalid address.
fn unreadable(text: &str) -> String {
    let what = quote(text);
    let why = match text.find(['.', ':', '%']) {
        None => "unable to parse IP".to_owned(),
        Some(at) if text[at..].starts_with('%') => "missing IPv6 address".to_owned(),
        Some(at) if text[at..].starts_with('.') => v4_trouble(text),
        Some(_) => v6_trouble(text),
    };
    format!("ParseAddr({what}): {why}")
}

fn v4_trouble(text: &str) -> String {
    let (mut field, mut value, mut dots) = (0, 0u32, 0);
    for (at, c) in text.char_indices() {
        let near = |why: &str| format!("{why} (at {})", quote(&text[at..]));
        match c.to_digit(10) {
            Some(_) if field == 1 && value == 0 => return "IPv4 field has octet with leading zero".to_owned(),
            Some(digit) => {
                value = value.saturating_mul(10).saturating_add(digit);
                field += 1;
                if value > 255 {
                    return "IPv4 field has value >255".to_owned();
                }
            }
            None if c != '.' => return near("unexpected character"),
            None if field == 0 || at == text.len() - 1 => return near("IPv4 field must have at least one digit"),
            None if dots == 3 => return "IPv4 address too long".to_owned(),
            None => (field, value, dots) = (0, 0, dots + 1),
        }
    }
    "IPv4 address too short".to_owned()
}

fn v6_trouble(text: &str) -> String {
    let second = text
        .find("::")
        .and_then(|at| text[at + 2..].find("::").map(|next| at + 2 + next));
    if let Some(at) = second {
        return format!("multiple :: in address (at {})", quote(&text[at + 1..]));
    }
    if let Some(at) = text.find(|c: char| !c.is_ascii_hexdigit() && c != ':' && c != '.') {
        let colon = text[..at].rfind(':').map_or(0, |it| it + 1);
        let why = if colon == at {
            "each colon-separated field must have at least one digit"
        } else {
            "unexpected character, want colon"
        };
        return format!("{why} (at {})", quote(&text[if colon == at { colon } else { at }..]));
    }
    if let Some(field) = text.split(':').find(|field| field.len() > 4 && !field.contains('.')) {
        let at = text.find(field).unwrap_or(0);
        return format!("each group must have 4 or less digits (at {})", quote(&text[at..]));
    }
    "address string too short".to_owned()
}

pub(super) fn prefix(text: &str) -> Outcome<Prefix> {
    // The server's message contains this text twice.
    const DOING: &str = "network address parse error during conversion from string: ";
    let fail = |why: &str| Fault::new(format!("{DOING}{DOING}netip.ParsePrefix({}): {why}", quote(text)));
    let (address, bits) = text.rsplit_once('/').ok_or_else(|| fail("no '/'"))?;
    if address.contains('%') {
        return Err(fail("IPv6 zones cannot be present in a prefix"));
    }
    let address: IpAddr = address.parse().map_err(|_| fail(&unreadable(address)))?;
    let digits = !bits.is_empty() && bits.len() <= 3 && bits.bytes().all(|c| c.is_ascii_digit());
    if !digits || (bits.len() > 1 && bits.starts_with('0')) {
        return Err(fail(&format!("bad bits after slash: {}", quote(bits))));
    }
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits
        .parse::<u8>()
        .ok()
        .filter(|bits| *bits <= most)
        .ok_or_else(|| fail("prefix length out of range"))?;
    refuse_mapped(address, text).map_err(|fault| match fault {
        Fault::Error(message) => Fault::new(format!("{DOING}{message}")),
        budget => budget,
    })?;
    Ok(Prefix { address, bits })
}

impl Prefix {
    fn masked(&self) -> Self {
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from(u32::from(address) & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from(u128::from(address) & mask))
            }
        };
        Self {
            address,
            bits: self.bits,
        }
    }

    fn contains(&self, address: IpAddr) -> bool {
        let inside = Self {
            address,
            bits: self.bits,
        };
        address.is_ipv4() == self.address.is_ipv4() && inside.masked().address == self.masked().address
    }
}

pub(super) fn of_ip<'a>(function: &str, address: IpAddr) -> Option<Outcome<Val<'a>>> {
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    Some(Ok(Val::Bool(match function {
        "family" => return Some(Ok(Val::Int(if address.is_ipv4() { 4 } else { 6 }))),
        "isUnspecified" => address.is_unspecified(),
        "isLoopback" => address.is_loopback(),
        "isLinkLocalMulticast" => match address {
            IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        },
        "isLinkLocalUnicast" => link_local,
        "isGlobalUnicast" => {
            let broadcast = address == IpAddr::V4(Ipv4Addr::BROADCAST);
            !(broadcast || address.is_unspecified() || address.is_loopback() || address.is_multicast() || link_local)
        }
        _ => return None,
    })))
}

pub(super) fn of_prefix<'a>(function: &str, network: &Prefix, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    let other = match rest {
        [Val::String(text)] if function == "containsIP" => ip(text).map(Foreign::Ip),
        [Val::String(text)] if function == "containsCIDR" => prefix(text).map(Foreign::Cidr),
        [Val::Foreign(other)] => Ok((**other).clone()),
        [] => {
            return Some(Ok(match function {
                "ip" => Val::foreign(Foreign::Ip(network.address)),
                "prefixLength" => Val::Int(i64::from(network.bits)),
                "masked" => Val::foreign(Foreign::Cidr(network.masked())),
                _ => return None,
            }));
        }
        _ => return None,
    };
    Some(match (function, other) {
        (_, Err(fault)) => Err(fault),
        ("containsIP", Ok(Foreign::Ip(address))) => Ok(Val::Bool(network.contains(address))),
        ("containsCIDR", Ok(Foreign::Cidr(inner))) => {
            Ok(Val::Bool(network.bits <= inner.bits && network.contains(inner.address)))
        }
        _ => return None,
    })
}
