//! Compresses large answers for clients that accept gzip.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, HeaderValue, header};

use crate::response::{Answer, Body};

/// Shorter answers are not compressed (apiserver, `endpoints/handlers/responsewriters`: `defaultGzipThresholdBytes`).
const THRESHOLD: usize = 128 * 1024;

/// Whether the client accepts gzip.
pub fn accepts(headers: &HeaderMap) -> bool {
    let values = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|encoding| encoding.trim() == "gzip")
}

/// Compresses the answer if it is complete, large and successful.
pub fn compress(answer: Answer) -> Answer {
    let large = answer
        .body()
        .whole()
        .filter(|body| body.len() > THRESHOLD && answer.status().is_success());
    let Some(body) = large else {
        return answer;
    };
    // Upstream's level: `defaultGzipContentEncodingLevel`.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(1));
    let Ok(compressed) = encoder.write_all(body).and_then(|()| encoder.finish()) else {
        return answer;
    };
    let (mut parts, _) = answer.into_parts();
    parts
        .headers
        .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts
        .headers
        .append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    Answer::from_parts(parts, Body::from(bytes::Bytes::from(compressed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response;

    #[test]
    fn only_large_successful_responses_are_compressed() {
        let large = "x".repeat(THRESHOLD + 1);
        let compressed = compress(response::text(200, large.clone()));
        assert!(compressed.body().whole().unwrap().len() < 1000);
        assert_eq!(compressed.headers()[header::CONTENT_ENCODING], "gzip");
        assert!(
            compress(response::text(500, large))
                .headers()
                .get(header::CONTENT_ENCODING)
                .is_none()
        );
        assert!(
            compress(response::text(200, "x"))
                .headers()
                .get(header::CONTENT_ENCODING)
                .is_none()
        );
    }
}
