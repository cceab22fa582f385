//! Answers: a status, a few headers, and a body, which is complete or a stream.

mod body;
pub mod render;

pub use body::Body;

use std::collections::BTreeSet;

use bytes::Bytes;
use futures::Stream;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::Value;

use crate::{request::accept::Format, status::Status};

/// An answer of the server.
pub type Answer = Response<Body>;

/// The header `Cache-Control` of every answer.
const CACHE_CONTROL: &str = "no-cache, private";
/// The media type of plain text.
const TEXT: &str = "text/plain; charset=utf-8";

/// An answer with a body of this media type.
pub fn bytes(code: u16, media_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Body::from(body.into()));
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE_CONTROL));
    answer
}

/// A watch: a stream of events in a format.
pub fn stream(events: impl Stream<Item = Bytes> + Send + 'static, format: Format) -> Answer {
    let mut answer = bytes(200, format.media_type_of_watches(), Bytes::new());
    *answer.body_mut() = Body::stream(events);
    answer
}

/// A text for people and probes.
pub fn text(code: u16, text: impl Into<Bytes>) -> Answer {
    let mut answer = bytes(code, TEXT, text);
    answer
        .headers_mut()
        .insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// A text whose type browsers may guess.
pub fn plain(code: u16, text: impl Into<Bytes>) -> Answer {
    bytes(code, TEXT, text)
}

/// 204, without a body.
pub fn nothing() -> Answer {
    let mut answer = bytes(204, "text/plain", Bytes::new());
    answer.headers_mut().remove(header::CONTENT_TYPE);
    answer
}

/// The answer to paths that are not served.
pub fn page_not_found() -> Answer {
    text(404, "404 page not found\n")
}

/// An object, in the requested format.
pub fn object(code: u16, object: &Value, format: Format) -> Answer {
    let (body, format) = render::value(object, format);
    bytes(code, format.media_type(), body)
}

/// An object in JSON text, in the requested format.
pub fn encoded(code: u16, object: Bytes, format: Format) -> Answer {
    let (body, format) = render::text(object, format);
    bytes(code, format.media_type(), body)
}

/// A failure.
pub fn failure(status: &Status, format: Format) -> Answer {
    let mut answer = object(status.code, &status.body(), format);
    let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    if seconds > 0 {
        answer.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    if status.reason == "Forbidden" {
        answer
            .headers_mut()
            .insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    answer
}

/// Adds warnings, which kubectl prints, each once (RFC 7234, 5.5; code 299). As upstream, as soon as they have more than 4096
/// characters together, each is cut to 256, and what comes after 4096 is left out.
pub fn warn(answer: &mut Answer, warnings: &[String]) {
    const MOST: usize = 4 * 1024;
    const LONGEST: usize = 256;
    let cut = |text: &str| text.chars().take(LONGEST).collect::<String>();
    let (mut heard, mut said, mut is_cut) = (BTreeSet::new(), Vec::<String>::new(), false);
    for warning in warnings.iter().filter(|text| !text.is_empty()) {
        let written: usize = said.iter().map(|text| text.chars().count()).sum();
        if is_cut && written >= MOST {
            break;
        }
        if !heard.insert(warning) || warning.contains(char::is_control) {
            continue;
        }
        if is_cut {
            said.push(cut(warning));
            continue;
        }
        said.push(warning.clone());
        if written + warning.chars().count() > MOST {
            is_cut = true;
            said.iter_mut().for_each(|text| *text = cut(text));
        }
    }
    for text in said {
        let quoted = format!("299 - \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        if let Ok(value) = HeaderValue::from_bytes(quoted.as_bytes()) {
            answer.headers_mut().append(header::WARNING, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_quoted_deduplicated_and_limited() {
        let mut answer = text(200, "ok");
        let long = "x".repeat(5000);
        warn(
            &mut answer,
            &[
                "unknown field \"a\"".into(),
                "unknown field \"a\"".into(),
                "b\n".into(),
                long,
            ],
        );
        let warnings: Vec<_> = answer.headers().get_all(header::WARNING).iter().collect();
        let cut = format!("299 - \"{}\"", "x".repeat(256));
        assert_eq!(warnings, [r#"299 - "unknown field \"a\"""#, &cut]);
    }

    #[test]
    fn a_status_with_a_delay_has_the_header_retry_after() {
        let answer = failure(&Status::timeout("slow", 3), Format::Json);
        assert_eq!(
            (
                answer.status().as_u16(),
                answer.headers()[header::RETRY_AFTER].to_str().unwrap()
            ),
            (504, "3")
        );
    }
}
