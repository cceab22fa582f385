//! Continue tokens: the end of a page, as the opaque text that the client sends back, in upstream's format.

use kubewright_machinery::base64::{self, Encoding};
use serde_json::{Value, json};

use crate::{json, status::Status};

/// The only version of the format.
const VERSION: &str = "meta.k8s.io/v1";

/// A position in a list.
#[derive(Debug, Eq, PartialEq)]
pub struct Token {
    /// The revision of the list; `None` for the present state.
    pub revision: Option<u64>,
    /// The first path of the remaining objects, without the prefix that all paths of the list have.
    pub start: String,
}

impl Token {
    /// The position after the object with this path.
    pub fn behind(revision: u64, path: &str) -> Self {
        Self {
            revision: Some(revision),
            start: format!("{path}\0"),
        }
    }

    /// The token of a page, with upstream's leading slash.
    pub fn encode(&self) -> String {
        self.encoded(&format!("/{}", self.start))
    }

    /// The token in the answer to an expired token: without the slash.
    pub fn encode_plain(&self) -> String {
        self.encoded(&self.start)
    }

    fn encoded(&self, start: &str) -> String {
        let revision = self.revision.map_or(json!(-1), |revision| json!(revision));
        // Formatted by hand, because the order of the fields is part of the token.
        let text = format!(r#"{{"v":"{VERSION}","rv":{revision},"start":{}}}"#, json!(start));
        base64::encode(text.as_bytes(), Encoding::RawUrl)
    }

    /// Decodes a token that a client sent.
    ///
    /// # Errors
    /// 400 for a malformed token.
    pub fn decode(text: &str) -> Result<Self, Status> {
        let wrong =
            |why: String| Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"));
        let illegal = |at: usize| wrong(format!("illegal base64 data at input byte {at}"));
        let bytes = base64::decode(text, Encoding::RawUrl).map_err(illegal)?;
        let (fields, _) = json::read(&bytes).map_err(wrong)?;
        Self::read(&fields).map_err(wrong)
    }

    fn read(fields: &Value) -> Result<Self, String> {
        if !(fields.is_object() || fields.is_null()) {
            return Err(json::mismatch(fields, "value of type storage.continueToken"));
        }
        let mismatch = |field: &str, wanted: &str| {
            json::mismatch(
                &fields[field],
                &format!("struct field continueToken.{field} of type {wanted}"),
            )
        };
        let text = |field: &str| match &fields[field] {
            Value::Null => Ok(""),
            Value::String(text) => Ok(text.as_str()),
            _ => Err(mismatch(field, "string")),
        };
        let version = text("v")?;
        let revision = match &fields["rv"] {
            Value::Null => 0,
            other => other.as_i64().ok_or_else(|| mismatch("rv", "int64"))?,
        };
        let start = text("start")?;
        if version != VERSION {
            return Err(format!("server does not recognize this encoded version {version}"));
        }
        if revision == 0 {
            return Err(format!("incorrect encoded start resourceVersion (version {VERSION})"));
        }
        if start.is_empty() {
            return Err(format!("encoded start key empty (version {VERSION})"));
        }
        let path = start.strip_prefix('/').unwrap_or(start);
        if path.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return Err(start.to_owned());
        }
        Ok(Self {
            revision: u64::try_from(revision).ok(),
            start: path.to_owned(),
        })
    }
}
