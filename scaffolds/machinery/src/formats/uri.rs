//! URIs, as Go's `url.ParseRequestURI` accepts them: an absolute URI or an absolute path.

use std::net::Ipv6Addr;

pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = scheme(text) else {
        return false;
    };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        // After a scheme, anything that does not start with a slash is accepted.
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            if !is_authority(authority, scheme) {
                return false;
            }
            path
        }
        None => rest,
    };
    is_escaped(path, |_| true)
}

/// The scheme, which may be empty, and the rest. `None` if the text starts with a colon.
fn scheme(text: &str) -> Option<(&str, &str)> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at > 0 => return Some((&text[..at], &text[at + 1..])),
            ':' => return None,
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(authority: &str, scheme: &str) -> bool {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", authority),
    };
    let in_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    user.chars().all(in_user) && is_escaped(user, |_| true) && is_host(host, &scheme.to_ascii_lowercase())
}

fn is_host(host: &str, scheme: &str) -> bool {
    match host.rfind('[') {
        Some(0) => {
            let Some((address, port)) = host[1..].rsplit_once(']') else {
                return false;
            };
            is_port(port) && is_literal(address)
        }
        Some(_) => false,
        None => {
            // Only for these two schemes Go refuses a second colon.
            let strict = matches!(scheme, "http" | "https");
            let colon = if strict { host.find(':') } else { host.rfind(':') };
            colon.is_none_or(|at| is_port(&host[at..])) && is_host_text(host)
        }
    }
}

fn is_port(port: &str) -> bool {
    port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()))
}

/// An IPv6 address, with an optional zone after `%25`.
fn is_literal(text: &str) -> bool {
    let (address, zone) = match text.split_once("%25") {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let zone_is_fine = zone.is_none_or(|zone| {
        let escaped = |b: u8| b == b'%' || b == b' ' || b >= 0x80 || in_host(b);
        !zone.is_empty() && zone.bytes().all(|b| b == b'%' || b >= 0x80 || in_host(b)) && is_escaped(zone, escaped)
    });
    zone_is_fine && address.parse::<Ipv6Addr>().is_ok()
}

fn in_host(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&b)
}

/// In a host only bytes beyond ASCII, and the percent sign, may be escaped.
fn is_host_text(host: &str) -> bool {
    host.bytes().all(|b| b == b'%' || b >= 0x80 || in_host(b)) && is_escaped(host, |b| b >= 0x80 || b == b'%')
}

/// Whether two hexadecimal digits follow each percent sign, for a byte that `allowed` accepts.
fn is_escaped(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    let digit = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16));
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter(|(_, b)| **b == b'%').all(|(at, _)| {
        match (digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            // Two hexadecimal digits fit into a byte.
            (Some(high), Some(low)) => allowed((high * 16 + low) as u8),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_parsed_as_in_go() {
        for yes in [
            "http://foo.bar/#com",
            "/abs/dir",
            "mailto:a@b",
            "xyz://foobar.com",
            "*",
            "http://[::1%25en0]:80/",
            "http://foobar.中文网/",
            "http://a:b@c:80",
            "postgres://a:1,b:2/x",
            "//",
            "http://",
            "a:?",
            "http://%e4/",
        ] {
            assert!(is_request_uri(yes), "{yes}");
        }
        for no in [
            "",
            "foobar.com",
            "./dir",
            ":a",
            "http://a:b:80/",
            "http://[1.2.3.4]/",
            "http://a b/",
            "http://a/%zz",
            "http://a:x/",
            "http://%41/",
            "a\nb:",
            "1a://b",
            "http://[::1",
            "http://u ser@h/",
        ] {
            assert!(!is_request_uri(no), "{no}");
        }
    }
}
