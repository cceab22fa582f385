//! AdmissionReviews: what is sent, and what may be answered.

use kubewright_machinery::{
    base64::{self, Encoding},
    go::{self, quote},
};
use serde_json::{Map, Value, json};

use super::{
    matching::{Asked, Kind, Match},
    version::Versioned,
};
use crate::{
    call::Verb,
    request::{body, query},
    resource::Resource,
};

/// The AdmissionReview that is sent.
pub(super) fn sent(asked: &Asked<'_>, seen: &Versioned, version: &str, uid: &str) -> Value {
    let mut request = request(asked, &seen.matched);
    request["uid"] = json!(uid);
    request["object"] = seen.new.clone().unwrap_or_default();
    request["oldObject"] = seen.old.clone().unwrap_or_default();
    json!({
        "kind": "AdmissionReview",
        "apiVersion": format!("admission.k8s.io/{version}"),
        "request": request,
    })
}

/// The request without uid and objects.
pub(in crate::admission) fn request(asked: &Asked<'_>, matched: &Match) -> Value {
    let own = asked.resource();
    let own_kind = Kind::of(own, asked.subresource());
    let mut request = json!({
        "uid": "",
        "kind": kind(&matched.kind),
        "resource": resource(&matched.resource),
        "requestKind": kind(own_kind.as_ref().unwrap_or(&matched.kind)),
        "requestResource": resource(own),
        "operation": asked.operation(),
        "userInfo": asked.attributes.call.user.body(),
        "object": null,
        "oldObject": null,
        "dryRun": asked.attributes.dry_run,
        "options": options(asked),
    });
    let texts = [
        ("subResource", asked.subresource()),
        ("requestSubResource", asked.subresource()),
        ("name", &asked.name),
        ("namespace", &asked.namespace),
    ];
    for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        request[field] = json!(text);
    }
    request
}

fn kind(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.name})
}

fn resource(resource: &Resource) -> Value {
    json!({"group": resource.group, "version": resource.version, "resource": resource.names.plural})
}

/// The options of a request, as an object.
fn options(asked: &Asked<'_>) -> Value {
    let call = asked.attributes.call;
    let kind = match asked.operation() {
        "CREATE" => "CreateOptions",
        "UPDATE" => "UpdateOptions",
        // The options of a connection are its object.
        "CONNECT" => return Value::Null,
        _ => "DeleteOptions",
    };
    let mut options = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
    let sent = body::options(&call.content_type, &call.body).ok();
    if let (Verb::Delete | Verb::DeleteCollection, Some((sent, _)), false) = (call.verb, sent, call.body.is_empty()) {
        for field in DELETE_OPTIONS {
            match sent.get(field) {
                None | Some(Value::Null) => {}
                Some(value) => options[field] = value.clone(),
            }
        }
        return options;
    }
    let dry_run: Vec<&str> = call.parameters("dryRun").collect();
    if !dry_run.is_empty() {
        options["dryRun"] = json!(dry_run);
    }
    let fields: &[&str] = match kind {
        "DeleteOptions" => &["propagationPolicy"],
        _ => &["fieldManager", "fieldValidation"],
    };
    for field in fields {
        if let Some(text) = call.parameter(field).filter(|text| !text.is_empty()) {
            options[*field] = json!(text);
        }
    }
    if kind == "DeleteOptions" {
        if let Some(Ok(seconds)) = call.parameter("gracePeriodSeconds").map(query::integer) {
            options["gracePeriodSeconds"] = json!(seconds);
        }
        if let Some(orphan) = call.parameter("orphanDependents") {
            options["orphanDependents"] = json!(!["false", "False", "FALSE", "0"].contains(&orphan));
        }
    }
    options
}

const DELETE_OPTIONS: [&str; 5] = [
    "dryRun",
    "gracePeriodSeconds",
    "orphanDependents",
    "preconditions",
    "propagationPolicy",
];

/// An answer that is valid.
#[derive(Debug)]
pub(super) struct Answer {
    pub is_allowed: bool,
    /// Empty if there is none.
    pub patch: Vec<u8>,
    pub patch_type: String,
    /// A Status.
    pub result: Map<String, Value>,
    pub warnings: Vec<String>,
}

/// The expected answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedAdmission<'a> {
    pub version: &'a str,
    pub uid: &'a str,
    pub is_mutating: bool,
}

/// The reason that an answer is not one.
#[derive(Debug)]
pub(super) enum Unfit {
    /// It cannot be decoded.
    Undecodable(String),
    /// It is not the one that is expected.
    Invalid(String),
}

impl ExpectedAdmission<'_> {
    /// Reads an answer.
    ///
    /// # Errors
    /// The reason in the server's words.
    pub fn read(&self, review: &Map<String, Value>) -> Result<Answer, Unfit> {
        let text = |field: &str| review.get(field).and_then(Value::as_str).unwrap_or_default();
        let (version, kind) = (text("apiVersion"), text("kind"));
        let wanted = format!("admission.k8s.io/{}", self.version);
        self.check_type(version, kind).map_err(Unfit::Undecodable)?;
        let none = Map::new();
        let response = match review.get("response") {
            None | Some(Value::Null) => None,
            Some(Value::Object(response)) => Some(response),
            Some(other) => {
                return Err(Unfit::Undecodable(mismatch(
                    other,
                    "AdmissionReview.response",
                    "v1.AdmissionResponse",
                )));
            }
        };
        let fields = Fields(response.unwrap_or(&none));
        let uid = fields.text("uid", "types.UID").map_err(Unfit::Undecodable)?;
        let answer = fields.answer().map_err(Unfit::Undecodable)?;
        let invalid = |why: String| Err(Unfit::Invalid(why));
        if response.is_none() {
            return invalid("webhook response was absent".to_owned());
        }
        if self.version != "v1" {
            return Ok(self.loose(answer));
        }
        if uid != self.uid {
            return invalid(format!(
                "expected response.uid={}, got {}",
                quote(self.uid),
                quote(&uid)
            ));
        }
        if version != wanted || kind != "AdmissionReview" {
            let (group, slash) = if version.contains('/') { ("", "") } else { ("/", "") };
            return invalid(format!(
                "expected webhook response of {wanted}, Kind=AdmissionReview, got {group}{slash}{version}, Kind={kind}"
            ));
        }
        let has_type = fields.0.get("patchType").is_some_and(|it| !it.is_null());
        match (self.is_mutating, answer.patch.is_empty(), has_type) {
            (false, false, _) => invalid("validating webhook may not return response.patch".to_owned()),
            (false, true, true) => invalid("validating webhook may not return response.patchType".to_owned()),
            (true, false, false) => invalid("webhook returned response.patch but not response.patchType".to_owned()),
            (true, true, true) => invalid("webhook returned response.patchType but not response.patch".to_owned()),
            (true, false, true) if answer.patch_type.is_empty() => {
                invalid("webhook returned invalid response.patchType of \"\"".to_owned())
            }
            _ => Ok(answer),
        }
    }

    /// In the old version, neither uid nor type of the patch count.
    fn loose(&self, mut answer: Answer) -> Answer {
        if !self.is_mutating {
            answer.patch.clear();
        }
        "JSONPatch".clone_into(&mut answer.patch_type);
        answer
    }

    /// Whether upstream's decoder knows the kind.
    fn check_type(&self, version: &str, kind: &str) -> Result<(), String> {
        let wanted = format!("admission.k8s.io/{}", self.version);
        let version = if version.is_empty() { &wanted } else { version };
        let kind = if kind.is_empty() { "AdmissionReview" } else { kind };
        let other = match self.version {
            "v1" => "v1beta1",
            _ => "v1",
        };
        if version == wanted && kind == "AdmissionReview" {
            return Ok(());
        }
        if version == format!("admission.k8s.io/{other}") && kind == "AdmissionReview" {
            return Err(format!(
                "converting ({other}.AdmissionReview) to ({}.AdmissionReview): unknown conversion",
                self.version
            ));
        }
        if version == "v1" && kind == "Status" {
            return Err(format!(
                "converting (v1.Status) to ({}.AdmissionReview): unknown conversion",
                self.version
            ));
        }
        let (kind, version) = (quote(kind), quote(version));
        Err(format!(
            "no kind {kind} is registered for version {version} in scheme \"pkg/runtime/scheme.go:111\""
        ))
    }
}

/// The fields of a response.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn answer(&self) -> Result<Answer, String> {
        let is_allowed = match self.get("allowed") {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => return Err(wrong(other, "allowed", "bool")),
        };
        let patch = self.text("patch", "[]uint8")?;
        let patch = base64::decode(&patch, Encoding::Standard)
            .map_err(|at| format!("illegal base64 data at input byte {at}"))?;
        let result = match self.get("status") {
            None => Map::new(),
            Some(Value::Object(status)) => status.clone(),
            Some(other) => return Err(wrong(other, "status", "v1.Status")),
        };
        let warnings = match self.get("warnings") {
            None => Vec::new(),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| {
                    item.as_str()
                        .map(str::to_owned)
                        .ok_or_else(|| wrong(item, "warnings", "string"))
                })
                .collect::<Result<_, _>>()?,
            Some(other) => return Err(wrong(other, "warnings", "[]string")),
        };
        match self.get("auditAnnotations") {
            None | Some(Value::Object(_)) => {}
            Some(other) => return Err(wrong(other, "auditAnnotations", "map[string]string")),
        }
        Ok(Answer {
            is_allowed,
            patch,
            patch_type: self.text("patchType", "v1.PatchType")?,
            result,
            warnings,
        })
    }

    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn text(&self, field: &str, r#type: &str) -> Result<String, String> {
        match self.get(field) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(wrong(other, field, r#type)),
        }
    }
}

fn wrong(value: &Value, field: &str, r#type: &str) -> String {
    mismatch(value, &format!("AdmissionResponse.response.{field}"), r#type)
}

fn mismatch(value: &Value, field: &str, r#type: &str) -> String {
    let found = go::kind(value);
    format!("json: cannot unmarshal {found} into Go struct field {field} of type {type}")
}
