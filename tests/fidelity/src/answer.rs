//! What a server answers, as far as it is compared: status, the headers that clients act on, and the body.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Headers that clients act on. Dates, lengths, tracing and flow control are no part of the contract.
pub const HEADERS: [&str; 3] = ["content-type", "retry-after", "warning"];

/// One answer.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// Those that clients act on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Vec<String>>,
    /// JSON where it is JSON, the list of events of a watch, a text otherwise.
    pub body: Value,
}

impl Answer {
    /// Reads a body: one value in JSON or YAML, JSON lines (a watch), or text.
    pub fn body(bytes: &[u8], watch: bool) -> Value {
        let text = String::from_utf8_lossy(bytes);
        if watch {
            let events = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
            let events: Result<Vec<_>, _> = events.collect();
            return events.map_or_else(|_| Value::from(text), Value::from);
        }
        // How YAML is written is each server's own affair.
        serde_json::from_slice(bytes)
            .or_else(|_| serde_saphyr::from_str(&text))
            .unwrap_or_else(|_| Value::from(text))
    }
}
