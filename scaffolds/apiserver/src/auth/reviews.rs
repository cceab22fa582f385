//! Reviews: questions about users and their permissions, answered and never stored.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{Authenticator, User, access};
use crate::{authorize::Authorizer, meta, status::Status, store::Store};

/// Whether a resource is a review.
pub fn is_review(group: &str) -> bool {
    ["authorization.k8s.io", "authentication.k8s.io"].contains(&group)
}

/// The context of a review.
pub struct Asked<'a> {
    /// Authenticates tokens.
    pub authenticator: &'a Authenticator,
    /// Authorizes requests.
    pub authorizer: &'a Authorizer,
    /// The store with the roles.
    pub store: &'a Store,
    /// The user who asks.
    pub user: &'a User,
    /// Seconds since 1970.
    pub now: i64,
}

/// Answers the review `object`, of the resource `plural`.
///
/// # Errors
/// The Status with which the real server refuses it.
pub fn review(asked: &Asked, plural: &str, mut object: Value) -> Result<Value, Status> {
    meta::system::wipe(&mut object);
    let status = match plural {
        "selfsubjectreviews" => {
            object["metadata"] = json!({});
            meta::set_text(&mut object, "creationTimestamp", &time::text(asked.now));
            json!({"userInfo": asked.user.body()})
        }
        "tokenreviews" => token(asked, &object["spec"])?,
        "selfsubjectaccessreviews" => access::own(asked, &object)?,
        "subjectaccessreviews" => access::subject(asked, &object)?,
        "localsubjectaccessreviews" => access::local(asked, &object)?,
        "selfsubjectrulesreviews" => access::rules(asked, &mut object)?,
        _ => return Err(Status::no_such_resource()),
    };
    object["status"] = status;
    Ok(object)
}

fn token(asked: &Asked, spec: &Value) -> Result<Value, Status> {
    let token = spec["token"].as_str().unwrap_or_default();
    if token.is_empty() {
        return Err(Status::bad_request(
            "token is required for TokenReview in authentication",
        ));
    }
    let said: Vec<&str> = spec["audiences"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let own = asked.authenticator.audiences();
    let audiences = if said.is_empty() { own } else { said };
    let found = asked.authenticator.user(token, &audiences, asked.store, asked.now);
    Ok(match found {
        Ok((user, fitting)) => json!({"authenticated": true, "user": user.body(), "audiences": fitting}),
        Err(why) => json!({"user": {}, "error": why}),
    })
}
