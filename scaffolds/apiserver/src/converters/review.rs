//! ConversionReviews: what is sent, and what may be answered.

use kubewright_machinery::go::{self, quote};
use serde_json::{Map, Value, json};

/// The ConversionReview that is sent for one object.
pub(super) fn sent(version: &str, uid: &str, object: &Value, api_version: &str) -> Value {
    json!({
        "kind": "ConversionReview",
        "apiVersion": format!("apiextensions.k8s.io/{version}"),
        "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": [object]},
        "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
    })
}

/// The expected answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedConversion<'a> {
    pub version: &'a str,
    pub uid: &'a str,
}

impl ExpectedConversion<'_> {
    /// Reads an answer: the converted objects, as the webhook sends them.
    ///
    /// # Errors
    /// The reason in the server's words.
    pub fn read(&self, review: &Map<String, Value>) -> Result<Vec<Value>, String> {
        let said = |field: &str| review.get(field).and_then(Value::as_str).unwrap_or_default();
        let (version, kind) = (said("apiVersion"), said("kind"));
        self.check_type(version, kind)?;
        let none = Map::new();
        let response = match review.get("response") {
            None | Some(Value::Null) => None,
            Some(Value::Object(response)) => Some(response),
            Some(other) => {
                let r#type = format!("{}.ConversionResponse", self.version);
                return Err(mismatch(other, "ConversionReview.response", &r#type));
            }
        };
        let fields = response.unwrap_or(&none);
        let uid = text(fields, "uid", "response.uid", "types.UID")?;
        let objects = match fields.get("convertedObjects") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(objects)) => objects.clone(),
            Some(other) => {
                let field = "ConversionResponse.response.convertedObjects";
                return Err(mismatch(other, field, "[]runtime.RawExtension"));
            }
        };
        let result = match fields.get("result") {
            None | Some(Value::Null) => &none,
            Some(Value::Object(result)) => result,
            Some(other) => {
                return Err(mismatch(other, "ConversionResponse.response.result", "v1.Status"));
            }
        };
        let status = text(result, "status", "response.result.status", "string")?;
        let message = text(result, "message", "response.result.message", "string")?;
        if self.version == "v1" {
            self.check_kind(version, kind)?;
        }
        if response.is_none() {
            return Err("no response provided".to_owned());
        }
        // The old version is not checked for it.
        if self.version == "v1" && uid != self.uid {
            return Err(format!(
                "expected response.uid={}, got {}",
                quote(self.uid),
                quote(&uid)
            ));
        }
        match (status.as_str(), message.as_str()) {
            ("Success", _) => Ok(objects),
            (status, "") => Err(format!("response.result.status was '{status}', not 'Success'")),
            (_, message) => Err(message.to_owned()),
        }
    }

    /// Whether upstream's decoder knows the kind.
    fn check_type(&self, version: &str, kind: &str) -> Result<(), String> {
        let own = self.version;
        let group = |version: &str| format!("apiextensions.k8s.io/{version}");
        let wanted = group(own);
        let version = if version.is_empty() { &wanted } else { version };
        let kind = if kind.is_empty() { "ConversionReview" } else { kind };
        let other = if own == "v1" { "v1beta1" } else { "v1" };
        let unknown = |from: &str| format!("converting ({from}) to ({own}.ConversionReview): unknown conversion");
        match (version, kind) {
            (version, "ConversionReview") if version == wanted => Ok(()),
            (version, "ConversionReview") if version == group(other) => {
                Err(unknown(&format!("{other}.ConversionReview")))
            }
            ("v1", "Status") => Err(unknown("v1.Status")),
            _ => Err(format!(
                "no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
                quote(kind),
                quote(version)
            )),
        }
    }

    /// An answer without its type is decoded, and refused afterwards.
    fn check_kind(&self, version: &str, kind: &str) -> Result<(), String> {
        let wanted = format!("apiextensions.k8s.io/{}", self.version);
        if version == wanted && kind == "ConversionReview" {
            return Ok(());
        }
        let slash = if version.contains('/') { "" } else { "/" };
        Err(format!(
            "expected webhook response of {wanted}, Kind=ConversionReview, got {slash}{version}, Kind={kind}"
        ))
    }
}

fn text(fields: &Map<String, Value>, field: &str, path: &str, r#type: &str) -> Result<String, String> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => {
            let owner = if path.starts_with("response.result.") {
                "Status"
            } else {
                "ConversionResponse"
            };
            Err(mismatch(other, &format!("{owner}.{path}"), r#type))
        }
    }
}

fn mismatch(value: &Value, field: &str, r#type: &str) -> String {
    let found = go::kind(value);
    format!("json: cannot unmarshal {found} into Go struct field {field} of type {type}")
}
