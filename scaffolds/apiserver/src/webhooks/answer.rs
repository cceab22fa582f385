//! The meaning of an HTTP response, as Go's client for Kubernetes reads it.

use bytes::Bytes;
use kubewright_machinery::go::quote;
use serde_json::{Map, Value};

use crate::request;

/// A response that was received.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub code: u16,
    /// Empty if there is none.
    pub content_type: String,
    pub body: Bytes,
}

/// The length of the part of a body of another type that an error quotes, in bytes.
const QUOTED: usize = 2048;

/// The object in a response.
///
/// # Errors
/// For a response that is a failure, or that has no object.
pub(super) fn read(received: Received) -> Result<Map<String, Value>, String> {
    let Received {
        code,
        content_type,
        body,
    } = received;
    let decoded = decode(&body);
    if !(200..=206).contains(&code) {
        let status = decoded.ok().and_then(|object| failure(&object));
        return Err(status.unwrap_or_else(|| generic(code, &said(&content_type, &body))));
    }
    if body.is_empty() {
        let content_type = if content_type.is_empty() {
            "application/json"
        } else {
            &content_type
        };
        return Err(format!(
            "0-length response with status code: {code} and content type: {content_type}"
        ));
    }
    decoded
}

/// The object in a body, in JSON or YAML, of which any text is a document.
///
/// # Errors
/// The words of the decoder.
fn decode(body: &Bytes) -> Result<Map<String, Value>, String> {
    let is_object = body.is_empty() || body.trim_ascii_start().first() == Some(&b'{');
    let media_type = if is_object {
        "application/json"
    } else {
        "application/yaml"
    };
    let read = request::body::options(media_type, body);
    read.map(|(object, _)| object).map_err(|status| status.message)
}

/// The message of a Status that says that something failed.
fn failure(object: &Map<String, Value>) -> Option<String> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let is_failure = text("kind") == "Status" && text("status") == "Failure";
    is_failure.then(|| text("message").to_owned())
}

/// The text of a response, if it is text.
fn said(content_type: &str, body: &[u8]) -> String {
    let is_text = content_type.is_empty() || content_type.trim_start().to_ascii_lowercase().starts_with("text/");
    if !is_text {
        return "unknown".to_owned();
    }
    let body = body.get(..QUOTED).unwrap_or(body);
    String::from_utf8_lossy(body).trim().to_owned()
}

/// The message for a code without a Status.
fn generic(code: u16, said: &str) -> String {
    match code {
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        403 | 415 => said.to_owned(),
        404 => "the server could not find the requested resource".to_owned(),
        405 => "the server does not allow this method on the requested resource".to_owned(),
        406 if said.is_empty() || said == "unknown" => {
            "the server was unable to respond with a content type that the client supports".to_owned()
        }
        406 => said.to_owned(),
        409 => "the server reported a conflict".to_owned(),
        422 => "the server rejected our request due to an error in our request".to_owned(),
        429 => "the server has received too many requests and has asked us to try again later".to_owned(),
        503 => "the server is currently unable to handle the request".to_owned(),
        504 => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
                .to_owned()
        }
        500.. => format!(
            "an error on the server ({}) has prevented the request from succeeding",
            quote(said)
        ),
        _ => format!("the server responded with the status code {code} but did not return more information"),
    }
}
