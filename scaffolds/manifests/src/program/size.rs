//! The size of a CRD. An API server stores a CRD as one value of etcd, and client-side `kubectl apply` copies it into an annotation.

use serde_json::Value;

/// The most that etcd takes in one request: the default of its `--max-request-bytes`.
const OF_ETCD: usize = 3 << 19;
/// The most bytes of all annotations of an object (k8s.io/apimachinery, pkg/api/validation/objectmeta.go).
const OF_ANNOTATIONS: usize = 256 << 10;

/// The warning or error for a CRD that is too large for some of its readers.
#[derive(Debug, PartialEq)]
pub(super) enum Size {
    Fits,
    /// The CRD is written with this warning.
    Warned(String),
    /// No API server can store the CRD.
    Refused(String),
}

/// The size of `crd` as JSON, which is how API servers store it.
pub(super) fn of(crd: &Value) -> Size {
    let bytes = crd.to_string().len();
    let name = crd["metadata"]["name"].as_str().unwrap_or_default();
    let cut = "set MAX_DESC_LEN in the Makefile to cut descriptions (0 removes them)";
    // The request to etcd has a key, and the stored object a status and managed fields.
    const OTHERS: usize = 16 << 10;
    if bytes > OF_ETCD - OTHERS {
        return Size::Refused(format!(
            "`{name}` has {bytes} bytes: etcd stores at most {OF_ETCD}, with the object's metadata\n\n\
             hint: {cut}, delete a version that nobody uses, or put parts of the spec into a kind of their own"
        ));
    }
    if bytes > OF_ETCD / 4 * 3 {
        return Size::Warned(format!(
            "`{name}` has {bytes} of the {OF_ETCD} bytes that etcd can store: there may be no room for another version\n\nhint: {cut}"
        ));
    }
    if bytes > OF_ANNOTATIONS {
        return Size::Warned(format!(
            "`{name}` has {bytes} bytes: client-side `kubectl apply` fails above {OF_ANNOTATIONS}\n\n\
             hint: apply it with `--server-side`, as `make install` and `make deploy` do; or {cut}"
        ));
    }
    Size::Fits
}
