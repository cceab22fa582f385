//! ConversionReview v1 (`apiextensions.k8s.io`): what the API server asks, and the answer.

use std::{fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

use crate::webhook::envelope;

const VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "ConversionReview";

/// The shortest object in bytes: `{"metadata":{"name":"a"}}`. API servers send longer ones. Without a limit, a list of empty
/// objects would take many times its length.
const SHORTEST: usize = 25;

/// Objects, and the version that they are to be converted to.
#[derive(Debug, Deserialize)]
pub(super) struct Request<'a> {
    pub(super) uid: String,
    #[serde(rename = "desiredAPIVersion")]
    pub(super) desired: String,
    /// Not decoded yet, so that an object that cannot be decoded spoils nothing but itself.
    #[serde(borrow, default)]
    objects: Objects<'a>,
}

#[derive(Debug, Default)]
struct Objects<'a>(Vec<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for Objects<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Collect)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Objects<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Objects<'de>, A::Error> {
        let mut objects = Vec::new();
        while let Some(object) = list.next_element::<&'de RawValue>()? {
            if object.get().len() < SHORTEST {
                return Err(A::Error::custom(format!("an object without metadata: {object}")));
            }
            objects.push(object.get());
        }
        Ok(Objects(objects))
    }
}

impl<'a> Request<'a> {
    /// Reads a ConversionReview.
    ///
    /// # Errors
    ///
    /// The body is not one; the message says why.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, String> {
        envelope::request(body, VERSION, KIND)
    }

    /// Where the objects are in the body that this was read from.
    pub(super) fn places(&self, body: &[u8]) -> Vec<Range<usize>> {
        let start = body.as_ptr().addr();
        let place = |object: &&str| {
            let from = object.as_ptr().addr() - start;
            from..from + object.len()
        };
        self.objects.0.iter().map(place).collect()
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

/// The answer to the request with this uid: all objects in their order, as JSON, or the reason for the failure.
pub(super) fn answer(uid: &str, converted: Result<Vec<String>, String>) -> String {
    let response = match converted {
        Ok(objects) => {
            let (uid, objects) = (json!(uid), objects.join(","));
            format!(r#"{{"uid":{uid},"convertedObjects":[{objects}],"result":{{"status":"Success"}}}}"#)
        }
        Err(why) => {
            let result = json!({"status": "Failure", "message": why});
            json!({"uid": uid, "convertedObjects": [], "result": result}).to_string()
        }
    };
    format!(r#"{{"apiVersion":"{VERSION}","kind":"{KIND}","response":{response}}}"#)
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
