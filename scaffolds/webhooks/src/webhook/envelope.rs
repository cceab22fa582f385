//! The common part of all reviews of API servers: `apiVersion` and `kind` around a request, and the limit on its depth.

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
    let review: Review<R> =
        serde_json::from_slice(body).map_err(|error| format!("the body is no {kind}: {}", undecodable(&error)))?;
    if (review.api_version.as_str(), review.kind.as_str()) != (version, kind) {
        let (found, of) = (review.api_version, review.kind);
        return Err(format!("expected {version}, Kind={kind}, got {found}, Kind={of}"));
    }
    review.request.ok_or_else(|| format!("the {kind} has no request"))
}

/// The most levels of lists and objects in JSON that is decoded: the limit of `serde_json`, so that the stack of a thread is enough
/// for it. API servers accept 10,000 levels.
pub(crate) const DEEPEST: usize = 127;

/// The reason that a JSON text was not decoded.
pub(crate) fn undecodable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.strip_prefix("recursion limit exceeded") {
        Some(place) => format!("it has more than {DEEPEST} levels of nested lists and objects{place}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn json_is_decoded_up_to_the_limit_and_refused_by_name_beyond() {
        let nested = |levels: usize| serde_json::from_str::<Value>(&("[".repeat(levels) + &"]".repeat(levels)));
        assert!(nested(DEEPEST).is_ok());
        for levels in [DEEPEST + 1, 10_000, 1_000_000] {
            let why = undecodable(&nested(levels).unwrap_err());
            assert_eq!(
                why,
                "it has more than 127 levels of nested lists and objects at line 1 column 128"
            );
        }
    }
}
