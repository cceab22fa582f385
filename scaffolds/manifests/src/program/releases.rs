//! The oldest release of Kubernetes on which the CRDs must work.

use kubewright_schema::files::Streams;
use kubewright_schema::lint::release_needs;
use serde_json::Value;

/// The oldest minor release of Kubernetes 1 that generated operators are tested on: docs/src/reference/kubernetes-versions.md.
const TESTED: u16 = 33;

/// Reads `1.35`.
pub(super) fn parse(flag: &str, text: &str) -> Result<u16, String> {
    let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok());
    match minor {
        None => Err(format!(
            "`{flag}` needs a release of Kubernetes such as 1.35, not `{text}`"
        )),
        Some(minor) if minor < TESTED => Err(format!(
            "`{flag}` is at least 1.{TESTED}, the oldest release that operators are tested on, not `{text}`"
        )),
        Some(minor) => Ok(minor),
    }
}

/// Prints which rules need a later release than `oldest`. Returns whether that is no error: without an oldest release, the rules are only
/// warnings.
pub(super) fn are_accepted(crds: &[Value], oldest: Option<u16>, streams: &mut Streams<'_>) -> bool {
    let mut accepted = true;
    for need in crds.iter().flat_map(release_needs) {
        match oldest {
            None => {
                let minor = need.minor;
                _ = writeln!(
                    streams.err,
                    "warning: {need}\n\nhint: if all clusters have it, set OLDEST_KUBERNETES = 1.{minor} in the Makefile\n"
                );
            }
            Some(oldest) if need.minor > oldest => {
                accepted = false;
                _ = writeln!(
                    streams.err,
                    "error: {need}\n\nhint: write the rule without it, or raise OLDEST_KUBERNETES, which is 1.{oldest}\n"
                );
            }
            Some(_) => {}
        }
    }
    accepted
}
