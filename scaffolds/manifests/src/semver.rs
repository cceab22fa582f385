//! The forms of versions: of a release, and of the oldest Kubernetes that it needs.

/// The oldest minor release of Kubernetes 1 that generated operators are tested on: docs/src/reference/kubernetes-versions.md.
pub(crate) const OLDEST_KUBERNETES: u16 = 33;

/// The minor release in `1.35`, the value of `flag`.
pub(crate) fn minor_of_kubernetes(flag: &str, text: &str) -> Result<u16, String> {
    let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok());
    match minor {
        None => Err(format!(
            "`{flag}` needs a release of Kubernetes such as 1.35, not `{text}`"
        )),
        Some(minor) if minor < OLDEST_KUBERNETES => Err(format!(
            "`{flag}` is at least 1.{OLDEST_KUBERNETES}, the oldest release that operators are tested on, not `{text}`"
        )),
        Some(minor) => Ok(minor),
    }
}

/// Whether a version is `MAJOR.MINOR.PATCH`, with or without a pre-release, as semver.org demands, without build metadata: they cannot
/// be part of a name.
pub(crate) fn is_semantic(version: &str) -> bool {
    let is_number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        digits && (text == "0" || !text.starts_with('0')) && text.parse::<u64>().is_ok()
    };
    let is_word = |text: &str| {
        let digits = text.bytes().all(|it| it.is_ascii_digit());
        let known = text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        !text.is_empty() && known && (!digits || is_number(text))
    };
    let (core, pre) = version
        .split_once('-')
        .map_or((version, None), |(core, pre)| (core, Some(pre)));
    let numbers: Vec<&str> = core.split('.').collect();
    numbers.len() == 3 && numbers.into_iter().all(is_number) && pre.is_none_or(|pre| pre.split('.').all(is_word))
}

/// Whether Helm accepts a version as the version of a chart. Build metadata may follow it, and `v`, as in the name of a tag, may be before it.
pub(crate) fn is_version_of_chart(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let (version, build) = version
        .split_once('+')
        .map_or((version, None), |(version, build)| (version, Some(build)));
    let is_word = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    is_semantic(version) && build.is_none_or(|build| build.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helm_takes_build_metadata_and_the_names_of_tags() {
        for fine in ["0.1.0", "v0.1.0", "1.2.3-rc.1", "1.2.3+build.7", "1.2.3-rc.1+0a1b"] {
            assert!(is_version_of_chart(fine), "{fine}");
        }
        for wrong in [
            "",
            "v",
            "abc",
            "1.2",
            "vv1.2.3",
            "1.2.3+",
            "1.2.3+a_b",
            "1.2.3+a+b",
            "1.2.3 ",
        ] {
            assert!(!is_version_of_chart(wrong), "{wrong}");
        }
    }
}
