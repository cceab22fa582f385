//! ConversionReview v1 (`apiextensions.k8s.io`): what the API server asks, and the answer.

use std::{fmt, iter, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};
use serde_json::{json, value::RawValue};

use crate::webhook::envelope;

const VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "ConversionReview";

/// The shortest object in bytes: `{"metadata":{"name":"a"}}`. API servers send longer ones. Without a limit, a list of empty
/// objects would take many times its length.
const SHORTEST: usize = 25;

/// The number of objects in a group. A place for each object would take as much memory as short objects.
const GROUP: usize = 32;
/// The longest uid and version in bytes. Kubernetes' own are shorter.
const LONGEST: usize = 1 << 10;

/// Objects, and the version that they are to be converted to.
#[derive(Debug, Deserialize)]
pub(super) struct ConversionRequest<'a> {
    pub(super) uid: String,
    #[serde(rename = "desiredAPIVersion")]
    pub(super) desired: String,
    /// Not decoded yet, so that an object that cannot be decoded spoils nothing but itself.
    #[serde(borrow, default)]
    objects: Objects<'a>,
}

#[derive(Debug, Default)]
struct Objects<'a> {
    count: usize,
    /// The first and the last object of each group.
    groups: Vec<(&'a str, &'a str)>,
}

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
        let mut objects = Objects::default();
        while let Some(object) = list.next_element::<&'de RawValue>()? {
            let object = object.get();
            if object.len() < SHORTEST || !object.starts_with('{') {
                return Err(A::Error::custom(format!("an object without metadata: {object:.40}")));
            }
            match objects.groups.last_mut() {
                Some((_, last)) if objects.count % GROUP > 0 => *last = object,
                _ => objects.groups.push((object, object)),
            }
            objects.count += 1;
        }
        Ok(objects)
    }
}

/// The objects in a part of the list, which are separated by commas.
pub(super) fn separate(part: &str) -> impl Iterator<Item = &str> {
    let mut rest = part;
    iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\n', '\r', '\t', ',']);
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        // They have been read once before.
        let object = objects.next()?.ok()?;
        rest = &rest[objects.byte_offset()..];
        Some(object.get())
    })
}

impl<'a> ConversionRequest<'a> {
    /// Reads a ConversionReview.
    ///
    /// # Errors
    ///
    /// The body is not a review; the message is the reason.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, String> {
        let request: Self = envelope::request(body, VERSION, KIND)?;
        if request.uid.len().max(request.desired.len()) > LONGEST {
            return Err(format!("the uid or the desired version has more than {LONGEST} bytes"));
        }
        Ok(request)
    }

    /// The number of objects.
    pub(super) fn count(&self) -> usize {
        self.objects.count
    }

    /// The positions of the objects in the body that this was read from: at most this many parts of the list, as [`separate`] takes
    /// them, of about the same number of objects.
    pub(super) fn parts(&self, body: &[u8], most: usize) -> Vec<Range<usize>> {
        let groups = &self.objects.groups;
        let start = body.as_ptr().addr();
        let part = |groups: &[(&str, &str)]| {
            let ((first, _), (_, last)) = (groups.first()?, groups.last()?);
            Some(first.as_ptr().addr() - start..last.as_ptr().addr() - start + last.len())
        };
        let length = groups.len().div_ceil(most).max(1);
        groups.chunks(length).filter_map(part).collect()
    }
}

/// The beginning and the end of the answer to the request with this uid, around the converted objects.
pub(super) fn around(uid: &str) -> [String; 2] {
    let uid = json!(uid);
    [
        format!(r#"{{"apiVersion":"{VERSION}","kind":"{KIND}","response":{{"uid":{uid},"convertedObjects":["#),
        r#"],"result":{"status":"Success"}}}"#.to_owned(),
    ]
}

/// The answer to the request with this uid, which failed for this reason.
pub(super) fn failed(uid: &str, why: &str) -> String {
    let result = json!({"status": "Failure", "message": why});
    let response = json!({"uid": uid, "convertedObjects": [], "result": result});
    json!({"apiVersion": VERSION, "kind": KIND, "response": response}).to_string()
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::component::certificates::empty_review;
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_is_no_review_is_named() {
        let read = |value: Value| ConversionRequest::read(value.to_string().as_bytes()).unwrap_err();
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
            ConversionRequest::read(empty_review("g/v1").to_string().as_bytes())
                .unwrap()
                .desired,
            "g/v1"
        );
    }

    #[test]
    fn the_parts_of_a_list_have_all_objects_in_their_order() {
        for count in [0, 1, 31, 32, 33, 64, 65, 500] {
            let objects: Vec<_> = (0..count)
                .map(|number| format!(r#"{{"metadata": {{"name":"{number},]"}}}}"#))
                .collect();
            let mut review = empty_review("g/v1").to_string();
            let list = format!("[ {}\n]", objects.join(" ,\t"));
            review = review.replace("[]", &list);
            let request = ConversionRequest::read(review.as_bytes()).unwrap();
            assert_eq!(request.count(), count);
            for most in [1, 2, 3, 100] {
                let parts = request.parts(review.as_bytes(), most);
                assert!(parts.len() <= most);
                let found: Vec<_> = parts.into_iter().flat_map(|part| separate(&review[part])).collect();
                assert_eq!(found, objects, "{count} in {most}");
            }
        }
    }
}
