//! Reviews: questions about who somebody is and what they may do, answered and never stored.

use serde_json::{Value, json};

use super::{AUDIENCE, Authenticator, User, access};
use crate::{authorize::Authorizer, meta, status::Status, store::Store};

/// Whether a resource is a review.
pub fn is_review(group: &str) -> bool {
    ["authorization.k8s.io", "authentication.k8s.io"].contains(&group)
}

/// Who asks, when (seconds since 1970), and what the answer is found by.
pub struct Asked<'a> {
    /// Knows tokens.
    pub authenticator: &'a Authenticator,
    /// Knows rights.
    pub authorizer: &'a Authorizer,
    /// From which roles.
    pub store: &'a Store,
    /// Who asks.
    pub user: &'a User,
    /// Seconds since 1970.
    pub now: i64,
}

/// Answers a review of this plural, `object`.
///
/// # Errors
/// What the real server refuses.
pub fn review(asked: &Asked, plural: &str, mut object: Value) -> Result<Value, Status> {
    let status = match plural {
        "selfsubjectreviews" => {
            meta::set_text(&mut object, "creationTimestamp", &meta::time::text(asked.now));
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
    let audiences = if said.is_empty() { vec![AUDIENCE] } else { said };
    let found = asked.authenticator.user(token, &audiences, (asked.store, asked.now));
    Ok(match found {
        Ok((user, fitting)) => json!({"authenticated": true, "user": user.body(), "audiences": fitting}),
        Err(why) => json!({"user": {}, "error": why}),
    })
}
