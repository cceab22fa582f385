//! The syntax of names.

const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
    alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const LABEL_1123: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
    and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// RFC 1035, section 2.3.4.
const LONGEST_LABEL: usize = 63;
/// RFC 1123 names as Kubernetes bounds them: 255 octets less the encoding's two.
const LONGEST_SUBDOMAIN: usize = 253;

/// What keeps `name` from being a DNS-1035 label.
pub(crate) fn label(name: &str) -> Vec<String> {
    let mut errors = too_long(name, LONGEST_LABEL);
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !starts_well || !is_label(name) {
        errors.push(LABEL.to_owned());
    }
    errors
}

/// What keeps `name` from being an RFC 1123 label.
pub(crate) fn label_1123(name: &str) -> Vec<String> {
    let mut errors = too_long(name, LONGEST_LABEL);
    if !is_label(name) {
        errors.push(LABEL_1123.to_owned());
    }
    errors
}

/// What keeps `name` from being an RFC 1123 subdomain.
pub(crate) fn subdomain(name: &str) -> Vec<String> {
    let mut errors = too_long(name, LONGEST_SUBDOMAIN);
    if !name.split('.').all(is_label) {
        errors.push(SUBDOMAIN.to_owned());
    }
    errors
}

fn is_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(inner) && name.ends_with(inner) && name.chars().all(|c| inner(c) || c == '-')
}

fn too_long(name: &str, most: usize) -> Vec<String> {
    if name.len() > most {
        vec![format!("must be no more than {most} characters")]
    } else {
        Vec::new()
    }
}
