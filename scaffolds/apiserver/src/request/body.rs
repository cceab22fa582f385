//! The body of a request: received up to a limit, and decoded by its media type.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use serde_json::{Map, Value};

use super::{mime, yaml};
use crate::{
    json,
    kinds::protobuf::{self, MEDIA_TYPE as PROTOBUF},
    status::Status,
};

/// The longest body in bytes, as upstream.
pub const LIMIT: usize = 3 * 1024 * 1024;

/// The supported media types, in the order in which the server lists them.
const UNDERSTOOD: [&str; 3] = ["application/json", "application/yaml", PROTOBUF];

/// Receives a body.
///
/// # Errors
/// 413 for a body that is too long, without reading the rest; 400 for one that ends early.
pub async fn receive<B>(body: B) -> Result<Bytes, Status>
where
    B: Body<Error: std::fmt::Display>,
{
    let mut body = std::pin::pin!(body);
    if body.size_hint().lower() > LIMIT as u64 {
        return Err(Status::request_entity_too_large(LIMIT));
    }
    let mut received = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Status::bad_request(error.to_string()))?;
        if let Ok(mut data) = frame.into_data() {
            if received.len() + data.remaining() > LIMIT {
                return Err(Status::request_entity_too_large(LIMIT));
            }
            received.put(&mut data);
        }
    }
    Ok(received.freeze())
}

/// An object, and its duplicate fields in the server's words.
pub type Object = (Map<String, Value>, Vec<String>);

/// Decodes the object of a create or update. `kind` is the expected kind, as messages name it. An empty `content_type`
/// means JSON.
///
/// # Errors
/// 415 for other media types; 400 for a malformed body.
pub fn object(content_type: &str, body: &[u8], kind: &str) -> Result<Object, Status> {
    parse(content_type, body)?.map_err(|why| unrecognized(kind, &why, body))
}

/// 400 for a body whose type cannot be determined.
pub fn unrecognized(kind: &str, why: &str, body: &[u8]) -> Status {
    let body = summary(body);
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {why} ({body})"
    ))
}

/// Decodes the options of a delete, which may be absent.
///
/// # Errors
/// As for [`object`], with other messages.
pub fn options(content_type: &str, body: &[u8]) -> Result<Object, Status> {
    if body.is_empty() {
        return Ok(Object::default());
    }
    parse(content_type, body)?.map_err(Status::bad_request)
}

/// Whether a body is JSON.
pub fn is_json(content_type: &str) -> bool {
    matches!(media_type(content_type).as_str(), "" | "application/json")
}

fn media_type(content_type: &str) -> String {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().to_ascii_lowercase()
}

fn parse(content_type: &str, body: &[u8]) -> Result<Result<Object, String>, Status> {
    if !mime::has_valid_parameters(content_type) {
        return Err(Status::unsupported_media_type(&UNDERSTOOD));
    }
    let read = match media_type(content_type).as_str() {
        "" | "application/json" => json::read(body).map_err(|why| format!("{AMISS}; json parse error: {why}")),
        "application/yaml" => yaml::read(body),
        PROTOBUF => return Ok(protobuf::read(body).map(|object| (object, Vec::new()))),
        _ => return Err(Status::unsupported_media_type(&UNDERSTOOD)),
    };
    Ok(read.and_then(|(value, duplicates)| Ok((typed(value)?, duplicates))))
}

/// The beginning of the message of Go's decoder when it cannot determine the type of an object.
const AMISS: &str = "couldn't get version/kind";

/// The document as an object, because only objects have a type; null counts as an empty one.
fn typed(value: Value) -> Result<Map<String, Value>, String> {
    const STRUCT: &str =
        r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    let object = match value {
        Value::Object(object) => object,
        Value::Null => Map::new(),
        other => {
            let found = kubewright_machinery::go::kind(&other);
            return Err(format!(
                "{AMISS}; json parse error: json: cannot unmarshal {found} into Go value of type {STRUCT}"
            ));
        }
    };
    match untyped(&object) {
        Some(why) => Err(why),
        None => Ok(object),
    }
}

/// The reason that the type of an object cannot be read, if it is not a text.
pub fn untyped(object: &Map<String, Value>) -> Option<String> {
    ["apiVersion", "kind"].into_iter().find_map(|field| {
        let value = object
            .get(field)
            .filter(|value| !value.is_string() && !value.is_null())?;
        let found = kubewright_machinery::go::kind(value);
        let why = format!("json: cannot unmarshal {found} into Go struct field .{field} of type string");
        Some(format!("{AMISS}; json parse error: {why}"))
    })
}

/// The first 30 bytes: as text if they begin an object, otherwise in hexadecimal.
fn summary(body: &[u8]) -> String {
    const MOST: usize = 30;
    let start = body.get(..MOST).unwrap_or(body);
    let shown = match body.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if body.len() > MOST {
        format!("{shown} ...")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;

    fn said(content_type: &str, body: &str) -> String {
        object(content_type, body.as_bytes(), "ConfigMap").unwrap_err().message
    }

    #[test]
    fn bodies_that_are_not_objects_have_the_errors_of_the_real_server() {
        const START: &str = "the object provided is unrecognized (must be of type ConfigMap): ";
        let json = |body| said("application/json", body);
        let amiss = "couldn't get version/kind; json parse error: ";
        assert_eq!(
            json(""),
            format!("{START}{amiss}unexpected end of JSON input (<empty>)")
        );
        assert_eq!(
            json("x"),
            format!("{START}{amiss}invalid character 'x' looking for beginning of value (78)")
        );
        let long = r#"{"apiVersion":"v1","kind":"ConfigMap"}{}"#;
        let shown = r#"({"apiVersion":"v1","kind":"Con ...)"#;
        assert_eq!(
            json(long),
            format!("{START}{amiss}invalid character '{{' after top-level value {shown}")
        );
        assert_eq!(
            json("[]"),
            format!(
                "{START}{amiss}json: cannot unmarshal array into Go value of type struct {{ APIVersion string \
                 \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }} (5b5d)"
            )
        );
        assert_eq!(
            json("{\"kind\":1}"),
            format!(
                "{START}{amiss}json: cannot unmarshal number into Go struct field .kind of type string ({{\"kind\":1}})"
            )
        );
    }

    #[test]
    fn media_types_of_bodies_are_distinguished() {
        assert!(object("application/yaml; charset=utf-8", b"a: 1", "X").is_ok());
        assert!(object("", b"{}", "X").is_ok());
        assert_eq!(object("text/plain", b"", "X").unwrap_err().code, 415);
        assert_eq!(object(PROTOBUF, b"{}", "X").unwrap_err().code, 400);
        assert!(object("application/yaml", b"", "X").unwrap().0.is_empty());
    }

    #[tokio::test]
    async fn a_body_beyond_the_limit_is_refused() {
        let most = receive(Full::new(Bytes::from(vec![b' '; LIMIT]))).await.unwrap();
        assert_eq!(most.len(), LIMIT);
        let status = receive(Full::new(Bytes::from(vec![b' '; LIMIT + 1])))
            .await
            .unwrap_err();
        assert_eq!(
            (status.code, status.message.as_str()),
            (413, "Request entity too large: limit is 3145728")
        );
    }
}
