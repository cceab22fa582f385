//! Formats of texts, with the server's messages.

use kubewright_machinery::names::{self, Unit};

pub(in crate::kinds) use kubewright_machinery::{
    labels::{key as qualified, value as label_value},
    names::wildcard,
};

/// Checks a text, and returns the messages about it.
pub(in crate::kinds) type Format = fn(&str) -> Vec<String>;

const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  \
     or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const SEARCH_DOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and \
     must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

const HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used \
     for validation is '[-A-Za-z0-9]+')";

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// A DNS-1123 label of at most 63 characters.
pub(in crate::kinds) fn label(text: &str) -> Vec<String> {
    names::label(text, Unit::Bytes)
}

/// A DNS-1123 subdomain of at most 253 characters.
pub(in crate::kinds) fn subdomain(text: &str) -> Vec<String> {
    names::subdomain(text, Unit::Bytes)
}

/// A domain in which labels may contain underscores: search paths of DNS.
pub(in crate::kinds) fn search_domain(text: &str) -> Vec<String> {
    let is_label = |label: &str| {
        let label = label.strip_prefix('_').unwrap_or(label).as_bytes();
        let ends = [label.first(), label.last()];
        ends.iter().all(|end| end.is_some_and(|byte| is_lower(*byte)))
            && label.iter().all(|byte| is_lower(*byte) || b"-_".contains(byte))
    };
    let mut out = Vec::from_iter(Unit::Bytes.too_long(text, 253));
    if !text.split('.').all(is_label) {
        out.push(SEARCH_DOMAIN.to_owned());
    }
    out
}

/// A segment of a path: names of RBAC objects.
pub(in crate::kinds) fn path_segment(text: &str) -> Vec<String> {
    names::path_segment(text, false)
}

/// Keys of ConfigMaps and Secrets.
pub(in crate::kinds) fn config_key(text: &str) -> Vec<String> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let mut out = Vec::from_iter(Unit::Bytes.too_long(text, 253));
    if text.is_empty() || !text.bytes().all(inner) {
        out.push(CONFIG_KEY.to_owned());
    }
    match text {
        "." => out.push("must not be '.'".to_owned()),
        ".." => out.push("must not be '..'".to_owned()),
        _ if text.starts_with("..") => out.push("must not start with '..'".to_owned()),
        _ => {}
    }
    out
}

/// Names of environment variables: printable ASCII but `=`.
pub(in crate::kinds) fn variable(text: &str) -> Vec<String> {
    let fits = !text.is_empty() && text.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b'=');
    let sentence = "a valid environment variable name must consist only of printable ASCII characters other than '='";
    if fits { Vec::new() } else { vec![sentence.to_owned()] }
}

/// Names of container ports.
pub(in crate::kinds) fn port_name(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    if text.len() > 15 {
        out.push("must be no more than 15 characters".to_owned());
    }
    if text.is_empty() || !text.bytes().all(|byte| is_lower(byte) || byte == b'-') {
        out.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        out.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        out.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        out.push("must not begin or end with a hyphen".to_owned());
    }
    out
}

/// Names of HTTP headers.
pub(in crate::kinds) fn header(text: &str) -> Vec<String> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if !text.is_empty() && text.bytes().all(inner) {
        Vec::new()
    } else {
        vec![HEADER.to_owned()]
    }
}

/// 1 to 65535.
pub(in crate::kinds) fn port_number(number: i64) -> Option<&'static str> {
    (!(1..=65_535).contains(&number)).then_some("must be between 1 and 65535, inclusive")
}

pub(in crate::kinds) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
