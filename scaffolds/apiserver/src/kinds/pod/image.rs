//! References to container images, as far as defaults depend on them.

/// `Always` for the tag `latest` and for references without a tag, otherwise `IfNotPresent`; also for malformed references.
pub(in crate::kinds) fn pull_policy(reference: &str) -> &'static str {
    match tag(reference) {
        Some("latest") => "Always",
        _ => "IfNotPresent",
    }
}

/// The tag of a well-formed reference: `latest` if it has neither a tag nor a digest.
fn tag(reference: &str) -> Option<&str> {
    let (name, digest) = match reference.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (reference, None),
    };
    let (name, tag) = match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (name, None),
    };
    let fits = is_name(name) && digest.is_none_or(is_digest) && tag.is_none_or(is_tag);
    fits.then_some(match (tag, digest) {
        (Some(tag), _) => tag,
        (None, Some(_)) => "",
        (None, None) => "latest",
    })
}

fn is_name(name: &str) -> bool {
    let (domain, path) = match name.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" || has_upper(first) => (first, rest),
        _ => ("", name),
    };
    let domain_fits = domain
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte));
    !is_identifier(name) && domain_fits && path.split('/').all(is_component)
}

fn has_upper(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// 64 hexadecimal digits are the ID of an image, which is not a reference.
fn is_identifier(name: &str) -> bool {
    name.len() == 64
        && name
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Checks for lower-case letters and digits, separated by `.`, `_`, `__` or dashes.
fn is_component(part: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends_fit = part.bytes().next().is_some_and(is_word) && part.bytes().last().is_some_and(is_word);
    let separators = part.split(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    let separators_fit = separators.filter(|text| !text.is_empty());
    let mut separators_fit =
        separators_fit.map(|text| matches!(text, "." | "_" | "__") || text.bytes().all(|b| b == b'-'));
    ends_fit && separators_fit.all(|fits| fits)
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let rest_fits = tag.bytes().all(|byte| is_word(byte) || b".-".contains(&byte));
    tag.len() <= 128 && tag.bytes().next().is_some_and(is_word) && rest_fits
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else {
        return false;
    };
    let starts = algorithm.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    starts && hex.len() >= 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}
