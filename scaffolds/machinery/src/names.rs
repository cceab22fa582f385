//! The rules of names: DNS names and segments of paths (k8s.io/apimachinery, pkg/util/validation and pkg/api/validate/content).

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
/// The longest label, from RFC 1123 and RFC 1035.
pub const LONGEST_LABEL: usize = 63;
/// The longest subdomain: the 255 octets of RFC 1123 without the two of its encoding.
pub const LONGEST_SUBDOMAIN: usize = 253;

/// The unit in messages about lengths. The server counts bytes in either case.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    /// For labels and the formats of CEL, which have newer rules.
    Bytes,
    /// For names of objects, groups and versions, which have older rules.
    Characters,
}

impl Unit {
    /// The error for a text that is longer than `most`.
    pub fn too_long(self, text: &str, most: usize) -> Option<String> {
        let unit = match self {
            Self::Bytes => "bytes",
            Self::Characters => "characters",
        };
        (text.len() > most).then(|| format!("must be no more than {most} {unit}"))
    }
}

/// The errors in a DNS-1123 subdomain.
pub fn subdomain(text: &str, unit: Unit) -> Vec<String> {
    let mut out = Vec::from_iter(unit.too_long(text, LONGEST_SUBDOMAIN));
    if !is_subdomain(text) {
        out.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
             and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '{LABEL}(\\.{LABEL})*')"
        ));
    }
    out
}

/// The errors in a DNS-1123 label.
pub fn label(text: &str, unit: Unit) -> Vec<String> {
    let mut out = Vec::from_iter(unit.too_long(text, LONGEST_LABEL));
    if is_label(text) {
        return out;
    }
    out.push(if is_subdomain(text) {
        "must not contain dots".to_owned()
    } else {
        format!(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end \
             with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL}')"
        )
    });
    out
}

/// The errors in a DNS-1035 label.
pub fn label_1035(text: &str, unit: Unit) -> Vec<String> {
    let mut out = Vec::from_iter(unit.too_long(text, LONGEST_LABEL));
    if !(is_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())) {
        out.push(format!(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation \
             is '{LABEL_1035}')"
        ));
    }
    out
}

/// The errors in a DNS-1123 subdomain with a wildcard, such as `*.example.com`.
pub fn wildcard(text: &str) -> Vec<String> {
    let mut out = Vec::from_iter(Unit::Bytes.too_long(text, LONGEST_SUBDOMAIN));
    if !text.strip_prefix("*.").is_some_and(is_subdomain) {
        out.push(format!(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of \
             lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', \
             regex used for validation is '\\*\\.{LABEL}(\\.{LABEL})*')"
        ));
    }
    out
}

/// The errors in a segment of a path, or in a `prefix` of one.
pub fn path_segment(text: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let found = ["/", "%"].into_iter().filter(|it| text.contains(it));
    found.map(|it| format!("may not contain '{it}'")).collect()
}

/// Makes a prefix of a name, which may end in a dash, into a text to which the rules of whole names apply.
pub fn as_prefix(text: &str) -> String {
    match text.strip_suffix('-') {
        // Like upstream, which replaces the last two characters, not one, by an `a`.
        Some(rest) if !rest.is_empty() => {
            let mut kept: Vec<char> = rest.chars().collect();
            kept.pop();
            kept.into_iter().collect::<String>() + "a"
        }
        _ => text.to_owned(),
    }
}

/// The group and version of an `apiVersion`; both empty if it is invalid.
pub fn group_version(api_version: &str) -> (&str, &str) {
    match api_version.split('/').collect::<Vec<_>>().as_slice() {
        [version] => ("", version),
        [group, version] => (group, version),
        _ => ("", ""),
    }
}

/// Whether an `apiVersion` has more parts than a group and a version.
pub fn is_malformed_group_version(api_version: &str) -> bool {
    api_version.matches('/').count() > 1
}

/// Whether a text consists of DNS-1123 labels of any length.
pub fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

/// Whether a text is a DNS-1123 label of any length.
pub fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.iter().all(|byte| inner(*byte) || *byte == b'-')
        && bytes.first().is_some_and(|byte| inner(*byte))
        && bytes.last().is_some_and(|byte| inner(*byte))
}
