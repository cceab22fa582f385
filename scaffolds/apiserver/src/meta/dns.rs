//! What names look like: the rules of DNS and of paths, in the words of the server.

use crate::strategy::NameRule;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
/// The longest subdomain, from RFC 1123.
pub const LONGEST_SUBDOMAIN: usize = 253;
/// The longest label, from RFC 1123.
pub const LONGEST_LABEL: usize = 63;

/// What is wrong with a name. With `prefix` more will follow, so that it may end in a dash.
pub fn name(rule: NameRule, name: &str, prefix: bool) -> Vec<String> {
    let masked;
    let name = match name.strip_suffix('-') {
        // Like upstream, which replaces the last two characters, not one, by an `a`.
        Some(rest) if prefix && !rest.is_empty() && rule != NameRule::PathSegment => {
            let mut kept: Vec<char> = rest.chars().collect();
            kept.pop();
            masked = kept.into_iter().collect::<String>() + "a";
            &masked
        }
        _ => name,
    };
    match rule {
        NameRule::Subdomain => subdomain(name, "characters"),
        NameRule::Label => label(name),
        NameRule::Label1035 => label_1035(name),
        NameRule::PathSegment => path_segment(name, prefix),
    }
}

/// What is wrong with a DNS-1123 subdomain. The unit of its length is `characters` in names and `bytes` in label keys,
/// and counted in bytes either way.
pub fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut faults = too_long(text, LONGEST_SUBDOMAIN, unit);
    if !is_subdomain(text) {
        faults.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
             and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '{LABEL}(\\.{LABEL})*')"
        ));
    }
    faults
}

/// What is wrong with a DNS-1123 label.
pub fn label(text: &str) -> Vec<String> {
    let mut faults = too_long(text, LONGEST_LABEL, "characters");
    if !is_label(text) {
        faults.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            format!(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
                 end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                 '{LABEL}')"
            )
        });
    }
    faults
}

/// What is wrong with a DNS-1035 label.
fn label_1035(text: &str) -> Vec<String> {
    let mut faults = too_long(text, LONGEST_LABEL, "characters");
    if !(is_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())) {
        faults.push(format!(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation \
             is '{LABEL_1035}')"
        ));
    }
    faults
}

/// What is wrong with a segment of a path.
pub fn path_segment(text: &str, prefix: bool) -> Vec<String> {
    if !prefix && (text == "." || text == "..") {
        return vec![format!("may not be '{text}'")];
    }
    let found = ["/", "%"].into_iter().filter(|it| text.contains(it));
    found.map(|it| format!("may not contain '{it}'")).collect()
}

pub(super) fn too_long(text: &str, most: usize, unit: &str) -> Vec<String> {
    let too_long = text.len() > most;
    too_long
        .then(|| format!("must be no more than {most} {unit}"))
        .into_iter()
        .collect()
}

pub fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

pub fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.iter().all(|byte| inner(*byte) || *byte == b'-')
        && bytes.first().is_some_and(|byte| inner(*byte))
        && bytes.last().is_some_and(|byte| inner(*byte))
}
