//! Reviews: questions about who somebody is and what they may do, answered and never stored.

use kubewright_schema::cause::Path;
use serde_json::{Value, json};

use super::{AUTHENTICATED, Authenticator, MASTERS, User};
use crate::{meta, status::Status};

/// Whom tokens are for, as kubeadm sets it.
const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";
/// The group of the reviews about rights.
const AUTHORIZATION: &str = "authorization.k8s.io";

/// Whether a resource is a review.
pub fn is_review(group: &str) -> bool {
    [AUTHORIZATION, "authentication.k8s.io"].contains(&group)
}

/// Answers a review of this plural, `object`, which `user` asks at `now` (seconds since 1970).
///
/// # Errors
/// What the real server refuses; 501 for whom only RBAC could answer.
pub fn review(
    authenticator: &Authenticator,
    (user, now): (&User, i64),
    plural: &str,
    mut object: Value,
) -> Result<Value, Status> {
    let status = match plural {
        "selfsubjectreviews" => {
            meta::set_text(&mut object, "creationTimestamp", &meta::time::text(now));
            json!({"userInfo": user.body()})
        }
        "tokenreviews" => token(authenticator, &object["spec"])?,
        "selfsubjectaccessreviews" => {
            check_attributes(&object["spec"], Vec::new())?;
            access(&user.groups)?
        }
        "subjectaccessreviews" => subject(&object)?,
        "localsubjectaccessreviews" => local(&object)?,
        "selfsubjectrulesreviews" => rules(user, &mut object)?,
        _ => return Err(Status::no_such_resource()),
    };
    object["status"] = status;
    Ok(object)
}

fn token(authenticator: &Authenticator, spec: &Value) -> Result<Value, Status> {
    let token = spec["token"].as_str().unwrap_or_default();
    if token.is_empty() {
        return Err(Status::bad_request(
            "token is required for TokenReview in authentication",
        ));
    }
    let audiences = spec["audiences"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fits = audiences.is_empty() || audiences.iter().any(|audience| audience == AUDIENCE);
    Ok(match authenticator.user(token).filter(|_| fits) {
        Some(user) => json!({"authenticated": true, "user": user.body(), "audiences": [AUDIENCE]}),
        None => json!({"user": {}, "error": "invalid bearer token"}),
    })
}

fn subject(review: &Value) -> Result<Value, Status> {
    let spec = &review["spec"];
    let is_empty = |field: &str| {
        spec.get(field)
            .is_none_or(|it| it == "" || it.as_array().is_some_and(Vec::is_empty))
    };
    let mut causes = Vec::new();
    if is_empty("user") && is_empty("groups") {
        causes.push(
            Path::new("spec")
                .child("user")
                .invalid("", "at least one of user or group must be specified"),
        );
    }
    check_attributes(spec, causes)?;
    let groups: Vec<&str> = spec["groups"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    access(&groups)
}

fn local(review: &Value) -> Result<Value, Status> {
    let said = review["spec"]["resourceAttributes"]["namespace"].as_str();
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
    subject(review)
}

/// Exactly one kind of attributes.
fn check_attributes(spec: &Value, mut causes: Vec<kubewright_schema::Cause>) -> Result<(), Status> {
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

/// As Go shows its struct.
fn attributes(other: &Value) -> Value {
    json!({"Path": other["path"].as_str().unwrap_or_default(), "Verb": other["verb"].as_str().unwrap_or_default()})
}

fn refuse<T>(causes: &[kubewright_schema::Cause]) -> Result<T, Status> {
    Err(Status::invalid((AUTHORIZATION, ""), "", causes))
}

fn access<S: AsRef<str>>(groups: &[S]) -> Result<Value, Status> {
    if groups.iter().any(|group| group.as_ref() == MASTERS) {
        return Ok(json!({"allowed": true}));
    }
    Err(Status::not_implemented(
        "RBAC, for an access review of somebody outside the group system:masters,",
    ))
}

/// The rules of a member of `system:masters`, from the roles that every cluster has.
fn rules(user: &User, review: &mut Value) -> Result<Value, Status> {
    if review["spec"]["namespace"].as_str().unwrap_or_default().is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    access(&user.groups)?;
    // As the real server answers.
    review["spec"] = json!({});
    let create =
        |group: &str, resources: &[&str]| json!({"verbs": ["create"], "apiGroups": [group], "resources": resources});
    let read = |urls: &[&str]| json!({"verbs": ["get"], "nonResourceURLs": urls});
    let everything = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]});
    let mut resources = vec![everything];
    let mut others = vec![json!({"verbs": ["*"], "nonResourceURLs": ["*"]})];
    if user.groups.iter().any(|group| group == AUTHENTICATED) {
        resources.push(create(
            AUTHORIZATION,
            &["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        ));
        resources.push(create("authentication.k8s.io", &["selfsubjectreviews"]));
        let public = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
        let discovery = [
            "/api",
            "/api/*",
            "/apis",
            "/apis/*",
            "/healthz",
            "/livez",
            "/openapi",
            "/openapi/*",
            "/readyz",
            "/version",
            "/version/",
        ];
        others.splice(0..0, [read(&discovery), read(&public)]);
    }
    Ok(json!({"resourceRules": resources, "nonResourceRules": others, "incomplete": false}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(plural: &str, object: Value) -> Result<Value, Status> {
        let authenticator = Authenticator::new([("secret".to_owned(), User::admin())]);
        review(&authenticator, (&User::admin(), 0), plural, object).map(|mut answer| answer["status"].take())
    }

    #[test]
    fn tokens_are_known_or_invalid() {
        let known = ask("tokenreviews", json!({"spec": {"token": "secret"}})).unwrap();
        assert_eq!(
            known["user"],
            json!({"username": "admin", "uid": "admin", "groups": [MASTERS, AUTHENTICATED]})
        );
        let unknown = json!({"user": {}, "error": "invalid bearer token"});
        assert_eq!(ask("tokenreviews", json!({"spec": {"token": "x"}})).unwrap(), unknown);
        assert_eq!(
            ask("tokenreviews", json!({"spec": {"token": "secret", "audiences": ["x"]}})).unwrap(),
            unknown
        );
        assert_eq!(ask("tokenreviews", json!({"spec": {}})).unwrap_err().code, 400);
    }

    #[test]
    fn masters_may_and_for_others_rbac_is_missing() {
        let spec =
            |groups: Value| json!({"spec": {"user": "bob", "groups": groups, "resourceAttributes": {"verb": "get"}}});
        assert_eq!(
            ask("subjectaccessreviews", spec(json!([MASTERS]))).unwrap(),
            json!({"allowed": true})
        );
        let status = ask("subjectaccessreviews", spec(json!(["devs"]))).unwrap_err();
        assert!(status.code == 501 && status.message.starts_with("RBAC"), "{status:?}");
    }

    #[test]
    fn questions_that_are_none_are_refused_in_the_words_of_the_real_server() {
        let said = |plural, object| ask(plural, object).unwrap_err().message;
        assert_eq!(
            said("selfsubjectaccessreviews", json!({"spec": {}})),
            ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of \
             nonResourceAttributes or resourceAttributes must be specified"
        );
        let both = json!({"resourceAttributes": {}, "nonResourceAttributes": {"path": "/x", "verb": "get"}});
        assert_eq!(
            said("selfsubjectaccessreviews", json!({"spec": both})),
            ".authorization.k8s.io \"\" is invalid: spec.nonResourceAttributes: Invalid value: \
             {\"Path\":\"/x\",\"Verb\":\"get\"}: cannot be specified in combination with resourceAttributes"
        );
        assert_eq!(
            said(
                "subjectaccessreviews",
                json!({"spec": {"resourceAttributes": {"verb": "get"}}})
            ),
            ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of user or group must be \
             specified"
        );
        let elsewhere =
            json!({"metadata": {"namespace": "a"}, "spec": {"user": "x", "resourceAttributes": {"namespace": "b"}}});
        assert!(said("localsubjectaccessreviews", elsewhere).contains("must match metadata.namespace"));
        assert_eq!(
            said("selfsubjectrulesreviews", json!({"spec": {}})),
            "no namespace on request"
        );
    }
}
