//! The common part of all reviews of API servers: `apiVersion` and `kind` around a request.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(bound = "R: Deserialize<'de>", rename_all = "camelCase")]
struct Review<R> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<R>,
}

/// Reads the request of a review of this version and kind.
///
/// # Errors
///
/// The body is not such a review; the message says why.
pub(crate) fn request<'a, R: Deserialize<'a>>(body: &'a [u8], version: &str, kind: &str) -> Result<R, String> {
    let review: Review<R> = serde_json::from_slice(body).map_err(|error| format!("the body is no {kind}: {error}"))?;
    if (review.api_version.as_str(), review.kind.as_str()) != (version, kind) {
        let (found, of) = (review.api_version, review.kind);
        return Err(format!("expected {version}, Kind={kind}, got {found}, Kind={of}"));
    }
    review.request.ok_or_else(|| format!("the {kind} has no request"))
}
