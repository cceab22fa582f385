//! Names of container images.

use super::names::{Image, label_1123};

impl Image {
    /// The image without tag and digest.
    pub fn repository(&self) -> &str {
        let text = self.as_str();
        let text = text.split_once('@').map_or(text, |(name, _)| name);
        match text.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => name,
            _ => text,
        }
    }
}

/// The limit of registries for an image's name, without tag and digest.
const IMAGE_MAX: usize = 255;
/// The limit of registries for a tag.
const TAG_MAX: usize = 128;

/// By the rules of registries: `[host[:port]/]path[:tag][@digest]`. An image that a node's container runtime would
/// refuse is refused here.
pub(super) fn image(text: &str) -> Result<(), String> {
    let (rest, digest) = match text.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (text, None),
    };
    // A colon before the last slash separates a port.
    let (name, tag) = match rest.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (rest, None),
    };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if tag.is_some_and(|tag| {
        tag.len() > TAG_MAX || !tag.starts_with(word) || !tag.chars().all(|c| word(c) || c == '.' || c == '-')
    }) {
        return Err(format!(
            "has an invalid tag: a tag has at most {TAG_MAX} letters, digits, `_`, `.` and `-`, and does not start with `.` or `-`"
        ));
    }
    if digest.is_some_and(|digest| {
        digest
            .strip_prefix("sha256:")
            .is_none_or(|hex| hex.len() != 64 || !hex.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c)))
    }) {
        return Err("has an invalid digest: a digest is `sha256:` and 64 lower case hexadecimal digits".into());
    }
    let mut parts: Vec<_> = name.split('/').collect();
    // The first of several parts is a host if it is not a valid name on Docker Hub.
    if parts.len() > 1 && (parts[0].contains(['.', ':']) || parts[0] == "localhost") {
        image_host(parts.remove(0))?;
    }
    if name.len() > IMAGE_MAX {
        return Err(format!(
            "must have a name of at most {IMAGE_MAX} characters, has {}",
            name.len()
        ));
    }
    if !parts.into_iter().all(is_image_path) {
        return Err(
            "must be an image such as `nginx:1.29` or `registry.example.com/team/app`: names in lower case letters and \
             digits, with single `.`, `_` or `-` between them"
                .into(),
        );
    }
    Ok(())
}

fn image_host(text: &str) -> Result<(), String> {
    let (host, port) = text.split_once(':').unwrap_or((text, "443"));
    let label = |label: &str| label_1123(&label.to_ascii_lowercase()).is_ok();
    match host.split('.').all(label) && port.parse::<u16>().is_ok() {
        true => Ok(()),
        false => Err(format!(
            "has the registry `{text}`, which is not a host name with an optional port"
        )),
    }
}

fn is_image_path(part: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separator = |text: &str| matches!(text, "." | "_" | "__") || text.chars().all(|c| c == '-');
    part.starts_with(plain) && part.ends_with(plain) && part.split(plain).all(|text| text.is_empty() || separator(text))
}
