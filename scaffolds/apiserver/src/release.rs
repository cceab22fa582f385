//! The release of Kubernetes whose kube-apiserver the server responds as. `make kubernetes` writes it; other files name none.

/// The release, without a `v`.
macro_rules! release {
    () => {
        "1.37.2"
    };
}

/// The release as its programs report it: `v1.2.3`.
pub(crate) const KUBERNETES: &str = concat!("v", release!());
/// The release with metadata that marks this server, as `/version` reports it.
pub(crate) const GIT_VERSION: &str = concat!("v", release!(), "+kubewright");
/// The output of `kube-apiserver --version` for this server: the release with the same metadata as `/version`.
pub const PROGRAM_VERSION: &str = concat!("Kubernetes v", release!(), "+kubewright");
/// The user agent of the server's own writes.
pub(crate) const AGENT: &str = concat!("kube-apiserver/v", release!());

/// The minor version.
pub(crate) fn minor() -> u16 {
    let number = release!().split('.').nth(1).and_then(|minor| minor.parse().ok());
    number.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_major_minor_and_patch() {
        assert_eq!(release!().split('.').count(), 3);
        assert_eq!(
            release!()
                .split('.')
                .filter_map(|part| part.parse::<u16>().ok())
                .count(),
            3
        );
        assert!(minor() > 30);
    }
}
