//! What texts must look like, with the sentences of the server.

use crate::kinds::at::{At, Faults, quoted};

/// A rule about a text: the sentences about what is wrong with it.
pub(in crate::kinds) type Format = fn(&str) -> Vec<String>;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
     and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
     and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which \
     must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. \
     '*.example.com', regex used for validation is \
     '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
     an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
     and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
     validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  \
     or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used \
     for validation is '[-A-Za-z0-9]+')";

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    let ends = |byte: Option<u8>| byte.is_some_and(is_lower);
    ends(text.bytes().next()) && ends(text.bytes().last()) && text.bytes().all(|byte| is_lower(byte) || byte == b'-')
}

fn is_name_part(text: &str) -> bool {
    let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    ends(text.bytes().next()) && ends(text.bytes().last()) && text.bytes().all(inner)
}

fn collect(text: &str, most: usize, fits: bool, sentence: &str) -> Vec<String> {
    let mut out = Vec::new();
    if text.len() > most {
        out.push(format!("must be no more than {most} bytes"));
    }
    if !fits {
        out.push(sentence.to_owned());
    }
    out
}

/// At most 63 characters.
pub(in crate::kinds) fn label(text: &str) -> Vec<String> {
    let sentence = if text.split('.').all(is_label) {
        "must not contain dots"
    } else {
        LABEL
    };
    collect(text, 63, is_label(text), sentence)
}

/// At most 253 characters.
pub(in crate::kinds) fn subdomain(text: &str) -> Vec<String> {
    collect(text, 253, text.split('.').all(is_label), SUBDOMAIN)
}

/// `*.example.com`.
pub(in crate::kinds) fn wildcard(text: &str) -> Vec<String> {
    let fits = text
        .strip_prefix("*.")
        .is_some_and(|rest| rest.split('.').all(is_label));
    collect(text, 253, fits, WILDCARD)
}

/// `prefix/name`, the keys of labels.
pub(in crate::kinds) fn qualified(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                out.push("prefix part must be non-empty".to_owned());
            } else {
                out.extend(
                    subdomain(prefix)
                        .into_iter()
                        .map(|sentence| format!("prefix part {sentence}")),
                );
            }
            *name
        }
        _ => {
            return vec![format!(
                "a qualified name {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        out.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        out.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_name_part(name) {
        out.push(format!("name part {QUALIFIED}"));
    }
    out
}

/// The values of labels.
pub(in crate::kinds) fn label_value(text: &str) -> Vec<String> {
    collect(text, 63, text.is_empty() || is_name_part(text), LABEL_VALUE)
}

/// Keys of ConfigMaps and Secrets.
pub(in crate::kinds) fn config_key(text: &str) -> Vec<String> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let mut out = collect(text, 253, !text.is_empty() && text.bytes().all(inner), CONFIG_KEY);
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

/// Of RBAC objects.
pub(in crate::kinds) fn path_segment(text: &str) -> Vec<String> {
    if matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let forbidden = ['/', '%'].into_iter().filter(|letter| text.contains(*letter));
    forbidden.map(|letter| format!("may not contain '{letter}'")).collect()
}

/// 1 to 65535.
pub(in crate::kinds) fn port_number(number: i64) -> Option<&'static str> {
    (!(1..=65_535).contains(&number)).then_some("must be between 1 and 65535, inclusive")
}

impl Faults {
    /// Checks the text at `at`.
    pub fn format(&mut self, at: &At<'_>, format: Format) {
        for sentence in format(at.str()) {
            self.invalid_as(at, &quoted(at.str()), &sentence);
        }
    }

    /// Checks the text at `at`, which must be there.
    pub fn required_format(&mut self, at: &At<'_>, format: Format) {
        if at.str().is_empty() {
            self.required(at, "");
        } else {
            self.format(at, format);
        }
    }

    /// A text that must be one of `known`, in the server's order.
    pub fn one_of(&mut self, at: &At<'_>, known: &[&str]) {
        if !known.contains(&at.str()) {
            self.not_supported(at, known);
        }
    }

    /// A number that may not be negative; nothing counts as 0.
    pub fn not_negative(&mut self, at: &At<'_>) {
        if at.int() < 0 {
            self.invalid(at, "must be greater than or equal to 0");
        }
    }

    /// A port's number.
    pub fn port(&mut self, at: &At<'_>) {
        if let Some(sentence) = port_number(at.int()) {
            self.invalid(at, sentence);
        }
    }

    /// A port's number or name.
    pub fn port_or_name(&mut self, at: &At<'_>) {
        match at.value.is_string() {
            true => self.format(at, port_name),
            false => self.port(at),
        }
    }

    /// A field that may not change.
    pub fn immutable(&mut self, new: &At<'_>, old: &At<'_>) {
        if new.value != old.value {
            self.invalid(new, "field is immutable");
        }
    }
}
