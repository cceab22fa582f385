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
    check(&review["spec"], Vec::new())?;
    Ok(answer(asked, asked.user, &review["spec"]))
}

/// `SubjectAccessReview`.
pub(super) fn subject(asked: &Asked, review: &Value) -> Result<Value, Status> {
    let spec = &review["spec"];
    let user = user_of(spec);
    let mut causes = Vec::new();
    if user.name.is_empty() && user.groups.is_empty() {
        let why = "at least one of user or group must be specified";
        causes.push(Path::new("spec").child("user").invalid("", why));
    }
    check(spec, causes)?;
    Ok(answer(asked, &user, spec))
}

/// `LocalSubjectAccessReview`.
pub(super) fn local(asked: &Asked, review: &Value) -> Result<Value, Status> {
    let attributes_of = review["spec"].get("resourceAttributes");
    let said = attributes_of.map(|of| of["namespace"].as_str().unwrap_or_default());
    let namespace = meta::text(review, "namespace");
    if let Some(said) = said.filter(|said| *said != namespace) {
        let field = Path::new("spec").child("resourceAttributes").child("namespace");
        return refuse(&[field.invalid(said, "must match metadata.namespace")]);
    }
    if review["spec"].get("nonResourceAttributes").is_some() {
        let field = Path::new("spec").child("nonResourceAttributes");
        let shown = attributes(&review["spec"]["nonResourceAttributes"]);
        return refuse(&[field.invalid(shown, "disallowed on this kind of request")]);
    }
    subject(asked, review)
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

/// Checks that the spec has attributes of exactly one kind.
fn check(spec: &Value, mut causes: Vec<Cause>) -> Result<(), Status> {
    let path = Path::new("spec");
    match (spec.get("resourceAttributes"), spec.get("nonResourceAttributes")) {
        (Some(_), Some(other)) => {
            let why = "cannot be specified in combination with resourceAttributes";
            causes.insert(0, path.child("nonResourceAttributes").invalid(attributes(other), why));
        }
        (None, None) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            causes.insert(0, path.child("resourceAttributes").invalid(Value::Null, why));
        }
        (Some(resource), None)
            if ["fieldSelector", "labelSelector"]
                .iter()
                .any(|it| resource.get(it).is_some()) =>
        {
            return Err(Status::not_implemented("a selector in an access review"));
        }
        _ => {}
    }
    if causes.is_empty() { Ok(()) } else { refuse(&causes) }
}

/// The attributes in Go's notation of their struct.
fn attributes(other: &Value) -> Value {
    json!({"Path": other["path"].as_str().unwrap_or_default(), "Verb": other["verb"].as_str().unwrap_or_default()})
}

fn refuse<T>(causes: &[Cause]) -> Result<T, Status> {
    Err(Status::invalid(Subject::new(GROUP, ""), "", causes))
}
