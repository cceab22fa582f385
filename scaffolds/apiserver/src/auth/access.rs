//! Access reviews: may I, may they, and what may I do.

use kubewright_machinery::{Cause, cause::Path};
use serde_json::{Value, json};

use super::{Asked, User};
use crate::{
    authorize::{Attributes, Rule},
    meta,
    status::{Status, Subject},
};

/// The API group of access reviews.
const GROUP: &str = "authorization.k8s.io";

/// `SelfSubjectAccessReview`.
pub(super) fn own(asked: &Asked, review: &Value) -> Result<Value, Status> {
    let spec = &review["spec"];
    let mut causes = Vec::from_iter(attributes_missing(spec)?);
    causes.extend(metadata(review, &[]));
    refuse_any(&causes)?;
    Ok(answer(asked, asked.user, spec))
}

/// `SubjectAccessReview`.
pub(super) fn subject(asked: &Asked, review: &Value) -> Result<Value, Status> {
    let spec = &review["spec"];
    let user = user_of(spec);
    let mut causes = of_user(spec, &user)?;
    causes.extend(metadata(review, &[]));
    refuse_any(&causes)?;
    Ok(answer(asked, &user, spec))
}

/// `LocalSubjectAccessReview`.
pub(super) fn local(asked: &Asked, review: &Value) -> Result<Value, Status> {
    let spec = &review["spec"];
    let user = user_of(spec);
    let mut causes = of_user(spec, &user)?;
    causes.extend(metadata(review, &["namespace"]));
    let attributes_of = spec.get("resourceAttributes");
    let said = attributes_of.map(|of| of["namespace"].as_str().unwrap_or_default());
    let namespace = meta::text(review, "namespace");
    if let Some(said) = said.filter(|said| *said != namespace) {
        let field = Path::new("spec").child("resourceAttributes").child("namespace");
        causes.push(field.invalid(said, "must match metadata.namespace"));
    }
    if let Some(other) = spec.get("nonResourceAttributes") {
        let field = Path::new("spec").child("nonResourceAttributes");
        causes.push(field.invalid(attributes(other), "disallowed on this kind of request"));
    }
    refuse_any(&causes)?;
    if namespace.is_empty() {
        return Err(Status::bad_request("namespace is required on this type: "));
    }
    Ok(answer(asked, &user, spec))
}

/// `SelfSubjectRulesReview`.
pub(super) fn rules(asked: &Asked, review: &mut Value) -> Result<Value, Status> {
    let namespace = review["spec"]["namespace"].as_str().unwrap_or_default().to_owned();
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    // The real server's answer does not repeat the spec.
    review["spec"] = json!({});
    review["metadata"] = json!({});
    let (rules, failed) = asked.authorizer.policy(asked.store).rules_of(asked.user, &namespace);
    let some = |list: fn(&Rule) -> &Vec<String>| rules.iter().filter(move |rule| !list(rule).is_empty());
    let resources: Vec<Value> = some(|rule| &rule.resources).map(resource_rule).collect();
    let others: Vec<Value> = some(|rule| &rule.non_resource_urls)
        .map(|rule| json!({"verbs": rule.verbs, "nonResourceURLs": rule.non_resource_urls}))
        .collect();
    let mut status = json!({"resourceRules": resources, "nonResourceRules": others, "incomplete": false});
    if let Some(failed) = failed {
        status["evaluationError"] = failed.into();
    }
    Ok(status)
}

fn resource_rule(rule: &Rule) -> Value {
    let mut shown = json!({"verbs": rule.verbs, "apiGroups": rule.api_groups, "resources": rule.resources});
    if !rule.resource_names.is_empty() {
        shown["resourceNames"] = json!(rule.resource_names);
    }
    shown
}

fn answer(asked: &Asked, user: &User, spec: &Value) -> Value {
    let decision = asked.authorizer.decide(asked.store, user, &wanted(spec));
    let mut status = json!({"allowed": decision.allowed});
    if !decision.reason.is_empty() {
        status["reason"] = decision.reason.into();
    }
    status
}

fn wanted(spec: &Value) -> Attributes {
    let attributes = spec.get("resourceAttributes");
    let of = attributes.unwrap_or(&spec["nonResourceAttributes"]);
    let text = |field: &str| of[field].as_str().unwrap_or_default().to_owned();
    Attributes {
        is_resource: attributes.is_some(),
        verb: text("verb"),
        group: text("group"),
        namespace: text("namespace"),
        resource: text("resource"),
        subresource: text("subresource"),
        name: text("name"),
        path: text("path"),
    }
}

fn user_of(spec: &Value) -> User {
    let text = |field: &str| spec[field].as_str().unwrap_or_default().to_owned();
    let groups = spec["groups"].as_array().into_iter().flatten();
    User {
        name: text("user"),
        uid: text("uid"),
        groups: groups.filter_map(Value::as_str).map(str::to_owned).collect(),
        ..User::default()
    }
}

/// Checks a spec that names a user.
fn of_user(spec: &Value, user: &User) -> Result<Vec<Cause>, Status> {
    let mut causes = Vec::from_iter(attributes_missing(spec)?);
    if user.name.is_empty() && user.groups.is_empty() {
        let why = "at least one of user or group must be specified";
        causes.push(Path::new("spec").child("user").invalid("", why));
    }
    Ok(causes)
}

/// Checks that the spec has attributes of exactly one kind.
///
/// # Errors
/// 501 for selectors.
fn attributes_missing(spec: &Value) -> Result<Option<Cause>, Status> {
    let shown = match (spec.get("resourceAttributes"), spec.get("nonResourceAttributes")) {
        (Some(_), Some(other)) => attributes(other),
        (None, None) => Value::Null,
        (Some(resource), None)
            if ["fieldSelector", "labelSelector"]
                .iter()
                .any(|it| resource.get(it).is_some()) =>
        {
            return Err(Status::not_implemented("a selector in an access review"));
        }
        _ => return Ok(None),
    };
    let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    Ok(Some(Path::new("spec").invalid(shown, why)))
}

/// Checks that the metadata is empty, apart from the managed fields and `allowed` fields.
fn metadata(review: &Value, allowed: &[&str]) -> Option<Cause> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) => false,
    };
    let metadata = meta::of(review);
    let is_allowed = |field: &str| field == "managedFields" || allowed.contains(&field);
    let mut others = metadata.iter().filter(|(field, _)| !is_allowed(field));
    let why = match allowed {
        [] => "must be empty".to_owned(),
        allowed => format!("must be empty except for {}", allowed.join(", ")),
    };
    let is_set = others.any(|(_, value)| !is_empty(value));
    is_set.then(|| Path::new("metadata").invalid(Value::Object(metadata.clone()), &why))
}

/// The attributes in Go's notation of their struct.
fn attributes(other: &Value) -> Value {
    json!({"Path": other["path"].as_str().unwrap_or_default(), "Verb": other["verb"].as_str().unwrap_or_default()})
}

fn refuse_any(causes: &[Cause]) -> Result<(), Status> {
    match causes {
        [] => Ok(()),
        causes => Err(Status::invalid(Subject::new(GROUP, ""), "", causes)),
    }
}
