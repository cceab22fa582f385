//! The oldest release of Kubernetes on which the CRDs must work.

use kubewright_schema::files::Streams;
use kubewright_schema::lint::release_needs;
use serde_json::Value;

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
                    "error: {need}\n\nhint: {}, or raise OLDEST_KUBERNETES, which is 1.{oldest}\n",
                    need.remedy()
                );
            }
            Some(_) => {}
        }
    }
    accepted
}
