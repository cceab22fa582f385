//! The conditions (`matchConditions`) of a webhook.

use std::sync::Arc;

use kubewright_schema::condition::{self, Asked as Question, Authorizer, Decision, Input, Spent};
use serde_json::Value;

use super::{
    matching::{Asked, Match},
    review,
    version::Versioned,
};
use crate::{authorize, state::Core, status::Status, user::User, webhooks::Hook};

/// Whether all conditions of a webhook are true. One that is false decides, whatever the others are.
///
/// # Errors
/// 403 when a condition has no value and failures are not ignored.
pub(super) fn hold(core: &Core, hook: &Hook, asked: &Asked<'_>, seen: &Versioned) -> Result<bool, Status> {
    match evaluate(core, hook, asked, seen) {
        Ok(holds) => Ok(holds),
        Err(_) if hook.ignores_failures => Ok(false),
        Err(why) => Err(Status::forbidden(asked.attributes.call.subject(), &asked.name, &why)),
    }
}

fn evaluate(core: &Core, hook: &Hook, asked: &Asked<'_>, seen: &Versioned) -> Result<bool, String> {
    let request = request(asked, &seen.matched);
    let authorizer = authorizer(core, &asked.attributes.call.user);
    let input = Input {
        object: seen.new.as_ref().unwrap_or(&Value::Null),
        old_object: seen.old.as_ref().unwrap_or(&Value::Null),
        request: &request,
        authorizer: &authorizer,
        resource: &question(asked),
    };
    let mut budget = condition::BUDGET;
    let mut values = Vec::new();
    for condition in &hook.conditions {
        values.push(match condition {
            Ok(condition) => condition
                .evaluate(&input, &mut budget)
                .map_err(|Spent| Spent::MESSAGE.to_owned())?,
            Err(why) => Err(format!("compilation error: {why}")),
        });
    }
    condition::all(values)
}

/// The request as conditions see it: with its own resource, and the kind of the objects.
pub(in crate::admission) fn request(asked: &Asked<'_>, matched: &Match) -> Value {
    review::request(
        asked,
        &Match {
            resource: Arc::clone(asked.resource()),
            kind: matched.kind.clone(),
        },
    )
}

/// The beginning of `authorizer.requestResource`.
pub(in crate::admission) fn question(asked: &Asked<'_>) -> Question {
    let resource = asked.resource();
    Question {
        group: resource.group.clone(),
        resource: resource.names.plural.clone(),
        subresource: asked.subresource().to_owned(),
        namespace: asked.namespace.clone(),
        name: asked.name.clone(),
        ..Question::default()
    }
}

/// Decides by the roles at this moment.
pub(in crate::admission) fn authorizer(core: &Core, user: &User) -> Authorizer {
    let policy = Arc::clone(&core.authorizer.policy(&core.store));
    let user = user.clone();
    Authorizer::new(move |question| {
        let asked = authorize::Attributes {
            is_resource: question.path.is_empty(),
            verb: question.verb.clone(),
            group: question.group.clone(),
            namespace: question.namespace.clone(),
            resource: question.resource.clone(),
            subresource: question.subresource.clone(),
            name: question.name.clone(),
            path: question.path.clone(),
        };
        let account = question.account.as_ref().map(|account| {
            let (namespace, name) = (&account.namespace, &account.name);
            let groups = [
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
            ];
            User::new(&format!("system:serviceaccount:{namespace}:{name}"), groups)
        });
        let user = account.as_ref().unwrap_or(&user);
        if user.is_master() {
            return Decision {
                allowed: true,
                reason: String::new(),
            };
        }
        let decision = policy.decide(user, &asked);
        Decision {
            allowed: decision.allowed,
            reason: decision.reason,
        }
    })
}
