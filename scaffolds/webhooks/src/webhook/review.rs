//! AdmissionReviews (`admission.k8s.io/v1`): what the API server sends, and what it accepts as an answer.

use std::collections::BTreeMap;

use k8s_openapi::api::authentication::v1::UserInfo;
use kubewright_machinery::base64::{self, Encoding};
use kubewright_runtime::component::{NOT_CONVERTIBLE, unconverted};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::{Value, json, value::RawValue};

use super::envelope;
use crate::scope::Operation;

const VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// A request for admission.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) uid: String,
    pub(super) kind: GroupKind,
    #[serde(default)]
    pub(super) sub_resource: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: String,
    pub(super) operation: Operation,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) user_info: UserInfo,
    #[serde(default)]
    pub(super) object: Sent,
    #[serde(default)]
    pub(super) old_object: Sent,
    pub(super) dry_run: Option<bool>,
    #[serde(default)]
    pub(super) options: Value,
}

/// An object of a request: as text, so that one that cannot be decoded spoils nothing but itself. API servers accept deeper
/// objects than `serde_json` does.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Sent(Option<Box<RawValue>>);

/// Of an object, what is read whatever else is in it.
#[derive(Default, Deserialize)]
struct Metadata {
    name: Option<String>,
    #[serde(rename = "deletionTimestamp")]
    deleted: Option<String>,
}

impl Sent {
    /// The object as a `T`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If it does not fit, or could not be converted to the version of the webhook: then it would look like an empty object.
    pub(super) fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<Option<T>> {
        // By way of a value, which takes numbers and maps in other forms than the text.
        let text = self.0.as_deref().map(RawValue::get);
        if let Some(label) = text.and_then(unconverted) {
            let why = format!("it could not be converted: it has the label `{label}: {NOT_CONVERTIBLE}`");
            return Err(serde_json::Error::custom(why));
        }
        text.map(|text| serde_json::from_str(text).and_then(|value: Value| T::deserialize(value)))
            .transpose()
    }

    fn fields(&self) -> BTreeMap<String, &RawValue> {
        let text = self.0.as_deref().map(RawValue::get);
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// The values that a client may change, by field (fields of metadata by path), and the finalizers. `None` if there is no object with
    /// metadata.
    fn parts(&self) -> Option<(BTreeMap<String, &str>, Vec<String>)> {
        let mut parts = BTreeMap::new();
        let mut fields = self.fields();
        let metadata = fields.remove("metadata")?;
        let mut metadata: BTreeMap<String, &RawValue> = serde_json::from_str(metadata.get()).ok()?;
        let finalizers = metadata
            .remove("finalizers")
            .map(|text| serde_json::from_str(text.get()));
        let finalizers: Option<Vec<String>> = finalizers.transpose().ok()?.flatten();
        // API servers write these with each change.
        for name in ["managedFields", "resourceVersion", "generation"] {
            metadata.remove(name);
        }
        parts.extend(fields.into_iter().map(|(name, text)| (name, text.get())));
        let metadata = metadata.into_iter();
        parts.extend(metadata.map(|(name, text)| (format!("metadata.{name}"), text.get())));
        Some((parts, finalizers.unwrap_or_default()))
    }

    fn metadata(&self) -> Metadata {
        let metadata = self.fields().get("metadata").map(|text| text.get());
        metadata
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct GroupKind {
    #[serde(default)]
    pub(super) group: String,
    pub(super) kind: String,
}

fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

impl Request {
    /// Reads an AdmissionReview.
    ///
    /// # Errors
    ///
    /// The body is not an AdmissionReview; the text says why.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        envelope::request(body, VERSION, KIND)
    }

    /// Whether the object waits for its finalizers, and the request changes nothing but its metadata and status.
    pub(super) fn only_lets_an_object_go(&self) -> bool {
        let body = |sent: &Sent| -> BTreeMap<String, String> {
            let fields = sent.fields().into_iter();
            let fields = fields.filter(|(name, _)| !matches!(name.as_str(), "metadata" | "status"));
            fields.map(|(name, text)| (name, text.get().to_owned())).collect()
        };
        self.object.metadata().deleted.is_some() && body(&self.object) == body(&self.old_object)
    }

    /// Whether the object waits for its finalizers, and the request does nothing but remove some of them.
    pub(super) fn only_removes_finalizers(&self) -> bool {
        let [new, old] = [&self.object, &self.old_object].map(Sent::parts);
        let (Some((new, new_finalizers)), Some((old, finalizers))) = (new, old) else {
            return false;
        };
        let is_subset = new_finalizers.iter().all(|name| finalizers.contains(name));
        self.object.metadata().deleted.is_some() && is_subset && new == old
    }

    /// Kind, group and name of the object, as a Status names it.
    pub(super) fn subject(&self) -> [String; 3] {
        let name = [&self.object, &self.old_object]
            .into_iter()
            .find_map(|sent| sent.metadata().name);
        let name = name.unwrap_or_else(|| self.name.clone());
        [self.kind.kind.clone(), self.kind.group.clone(), name]
    }
}

/// The parts of the answer besides the verdict.
#[derive(Debug, Default)]
pub(super) struct ResponseExtras {
    /// For the client, as headers.
    pub(super) warnings: Vec<String>,
    /// For the audit log.
    pub(super) annotations: BTreeMap<String, String>,
}

/// The answer.
#[derive(Debug)]
pub(super) struct Answer {
    /// The Status of a refusal.
    pub(super) refusal: Option<Value>,
    /// The operations of a JSON patch; empty if nothing changes.
    pub(super) patch: Vec<Value>,
    pub(super) said: ResponseExtras,
}

impl Answer {
    /// The AdmissionReview for the request with this uid. Patch and its type are together or not at all, as the API
    /// server demands.
    pub(super) fn review(self, uid: &str) -> Value {
        let mut response = json!({"uid": uid, "allowed": self.refusal.is_none()});
        if let Some(status) = self.refusal {
            response["status"] = status;
        } else if !self.patch.is_empty() {
            let patch = Value::Array(self.patch).to_string();
            response["patch"] = json!(base64::encode(patch.as_bytes(), Encoding::Standard));
            response["patchType"] = json!("JSONPatch");
        }
        if !self.said.warnings.is_empty() {
            response["warnings"] = json!(self.said.warnings);
        }
        if !self.said.annotations.is_empty() {
            response["auditAnnotations"] = json!(self.said.annotations);
        }
        json!({"apiVersion": VERSION, "kind": KIND, "response": response})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_review_is_named() {
        let read = |value: Value| Request::read(value.to_string().as_bytes()).unwrap_err();
        assert!(read(json!([])).starts_with("the body is no AdmissionReview: "));
        assert_eq!(
            read(json!({"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview"})),
            "expected admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview"
        );
        let empty = read(json!({"apiVersion": VERSION, "kind": KIND}));
        assert_eq!(empty, "the AdmissionReview has no request");
    }

    #[test]
    fn a_patch_comes_with_its_type_and_a_refusal_without() {
        let patch = vec![json!({"op": "add", "path": "/a", "value": 1})];
        let answer = |refusal| {
            let (patch, said) = (patch.clone(), ResponseExtras::default());
            Answer { refusal, patch, said }.review("u")["response"].clone()
        };
        let allowed = answer(None);
        assert_eq!((&allowed["uid"], &allowed["allowed"]), (&json!("u"), &json!(true)));
        assert_eq!(allowed["patchType"], "JSONPatch");
        let refused = answer(Some(json!({"code": 403})));
        assert_eq!(refused, json!({"uid": "u", "allowed": false, "status": {"code": 403}}));
    }
}
