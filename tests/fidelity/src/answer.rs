//! The compared parts of an answer: status, the headers that affect clients, and the body.

use kubewright_apiserver::testing::protobuf;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Headers that affect clients. Dates, lengths, tracing and flow control are not compared.
pub const HEADERS: [&str; 3] = ["content-type", "retry-after", "warning"];

/// One answer.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The headers that affect clients.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Vec<String>>,
    /// A JSON value if the body is JSON, a list of events for a watch, otherwise a string.
    pub body: Value,
}

impl Answer {
    /// Parses a body: one value in JSON, YAML or Protobuf, the events of a watch, or text.
    pub fn body(bytes: &[u8], media_type: &str, watch: bool) -> Value {
        let text = String::from_utf8_lossy(bytes);
        if media_type.starts_with(protobuf::MEDIA_TYPE) {
            let decoded = match watch {
                true => protobuf::read_events(bytes).map(Value::from),
                false => protobuf::read(bytes).map(Value::from),
            };
            return decoded.unwrap_or_else(Value::from);
        }
        if watch {
            let events = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
            let events: Result<Vec<_>, _> = events.collect();
            return events.map_or_else(|_| Value::from(text), Value::from);
        }
        // Servers may format YAML differently.
        serde_json::from_slice(bytes)
            .or_else(|_| serde_saphyr::from_str(&text))
            .unwrap_or_else(|_| Value::from(text))
    }
}
