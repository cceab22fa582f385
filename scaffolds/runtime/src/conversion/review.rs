//! ConversionReview v1 (`apiextensions.k8s.io`): what the API server asks, and the answer.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::webhook::envelope;

const VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "ConversionReview";

/// Objects, and the version that they are to be converted to.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) uid: String,
    #[serde(rename = "desiredAPIVersion")]
    pub(super) desired: String,
    #[serde(default)]
    pub(super) objects: Vec<Value>,
}

impl Request {
    /// Reads a ConversionReview.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        envelope::request(body, VERSION, KIND)
    }
}

/// A review with a request for a list without objects.
pub(crate) fn empty(api_version: &str) -> Value {
    json!({
        "apiVersion": VERSION,
        "kind": KIND,
        "request": {"uid": "self", "desiredAPIVersion": api_version, "objects": []},
    })
}

/// The answer to the request with this uid: all objects in their order, or the reason why there are none.
pub(super) fn answer(uid: &str, converted: Result<Vec<Value>, String>) -> Value {
    let response = match converted {
        Ok(objects) => json!({"uid": uid, "convertedObjects": objects, "result": {"status": "Success"}}),
        Err(why) => json!({
            "uid": uid,
            "convertedObjects": [],
            "result": {"status": "Failure", "message": why},
        }),
    };
    json!({"apiVersion": VERSION, "kind": KIND, "response": response})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_review_is_named() {
        let read = |value: Value| Request::read(value.to_string().as_bytes()).unwrap_err();
        assert!(read(json!([])).starts_with("the body is no ConversionReview: "));
        assert_eq!(
            read(json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": KIND})),
            "expected apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1beta1, \
             Kind=ConversionReview"
        );
        assert_eq!(
            read(json!({"apiVersion": VERSION, "kind": KIND})),
            "the ConversionReview has no request"
        );
        assert_eq!(
            Request::read(empty("g/v1").to_string().as_bytes()).unwrap().desired,
            "g/v1"
        );
    }
}
