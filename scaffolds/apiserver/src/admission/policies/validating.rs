//! Evaluates the ValidatingAdmissionPolicies that a request matches, and refuses it or warns.

use kubewright_schema::{
    condition::Spent,
    policy::{self, Failed, Input, Purpose},
};
use serde_json::Value;

use super::{
    super::{
        Attributes, Objects,
        webhooks::{matching::Asked, version::Versioned},
    },
    invocations::{self, Found, Invocation, Misconfigured},
    policies, refusal,
    request::{Request, Versions, namespace},
};
use crate::{
    policies::{Action, Policy, PolicyKind},
    state::Core,
    status::Status,
};

/// Evaluates all policies that a request matches.
///
/// # Errors
/// The refusal by the first policy that refuses; 404 if the namespace of the request does not exist.
pub(in crate::admission) async fn validate(
    core: &Core,
    attributes: &Attributes<'_>,
    objects: &Objects<'_>,
) -> Result<(), Status> {
    let policies = policies(core, attributes, PolicyKind::Validating);
    if policies.is_empty() {
        return Ok(());
    }
    let asked = Asked::new(attributes, objects);
    let found = invocations::find(core, &asked, objects, &policies).await;
    if found.is_empty() {
        return Ok(());
    }
    let namespace = namespace(core, &asked)?;
    let mut judge = Judge {
        core,
        asked: &asked,
        objects,
        namespace: &namespace,
        versions: Versions::default(),
        refusal: None,
    };
    for found in &found {
        match found {
            Found::Misconfigured(wrong) => judge.misconfigured(wrong),
            Found::Invocation(invocation) => judge.invoke(invocation).await,
        }
    }
    judge.refusal.map_or(Ok(()), Err)
}

/// One request before all policies.
struct Judge<'r> {
    core: &'r Core,
    asked: &'r Asked<'r>,
    objects: &'r Objects<'r>,
    namespace: &'r Value,
    versions: Versions,
    /// The first refusal. Upstream tells one of them, in no certain order.
    refusal: Option<Status>,
}

impl Judge<'_> {
    async fn invoke(&mut self, invocation: &Invocation<'_>) {
        let Invocation {
            policy,
            binding,
            matched,
            params,
        } = invocation;
        let seen = match self.versions.find(self.asked, matched, self.objects).await {
            Ok(place) => self.versions.at(place),
            Err(status) => {
                let why = format!("failed to convert object version: {}", status.message);
                let binding = Some(*binding);
                return self.misconfigured(&Misconfigured { policy, binding, why });
            }
        };
        let request = Request::new(self.core, self.asked, matched, self.namespace);
        for denied in evaluate(&request, policy, seen, params) {
            self.follow(invocation, &denied);
        }
    }

    /// Does what the binding says about a validation that failed.
    fn follow(&mut self, invocation: &Invocation<'_>, denied: &Denied) {
        let (name, bound, why) = (&invocation.policy.name, &invocation.binding.name, &denied.message);
        let actions = &invocation.binding.actions;
        if denied.is_always_refused || actions.contains(&Action::Deny) {
            let why = format!("ValidatingAdmissionPolicy '{name}' with binding '{bound}' denied request: {why}");
            self.refuse(&why, &denied.reason);
        } else if actions.contains(&Action::Warn) {
            self.asked.attributes.call.warnings.add(format!(
                "Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{bound}': {why}"
            ));
        }
    }

    /// Refuses the request because of a policy that cannot be evaluated, unless it ignores failures.
    fn misconfigured(&mut self, wrong: &Misconfigured<'_>) {
        let (name, why) = (&wrong.policy.name, wrong.message());
        let with = wrong.binding.map(|it| format!(" with binding '{}'", it.name));
        let with = with.unwrap_or_default();
        if !wrong.policy.ignores_failures {
            let message = format!("ValidatingAdmissionPolicy '{name}'{with} denied request: {why}");
            self.refuse(&message, "Invalid");
        }
    }

    fn refuse(&mut self, message: &str, reason: &str) {
        if self.refusal.is_some() {
            return;
        }
        let mut status = refusal(self.asked, self.objects, message).because("", message, "");
        status.code = match reason {
            "Forbidden" => 403,
            "RequestEntityTooLarge" => 413,
            _ => 422,
        };
        status.reason = reason.to_owned().into();
        self.refusal = Some(status);
    }
}

/// A validation that failed, or an error that counts as one.
struct Denied {
    message: String,
    reason: String,
    /// Whether the request is refused whatever the binding says, as for errors in audit annotations.
    is_always_refused: bool,
}

impl Denied {
    fn error(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            reason: "Invalid".to_owned(),
            is_always_refused: false,
        }
    }
}

/// The denials of a policy with a parameter, which is null if the policy has no parameter.
fn evaluate(request: &Request<'_>, policy: &Policy, seen: &Versioned, params: &Value) -> Vec<Denied> {
    let error = |message: &str| match policy.ignores_failures {
        true => Vec::new(),
        false => vec![Denied::error(message)],
    };
    match request.is_about(policy, seen, params) {
        Ok(true) => {}
        Ok(false) => return Vec::new(),
        Err(why) => return error(&why),
    }
    let input = request.input(seen, params);
    let mut denied = match validations(policy, &input) {
        Ok(denied) => denied,
        Err(Spent) => return error(Spent::MESSAGE),
    };
    match annotations(policy, &input) {
        Ok(more) => denied.extend(more),
        Err(Spent) => return error(Spent::MESSAGE),
    }
    denied
}

fn validations(policy: &Policy, input: &Input<'_>) -> Result<Vec<Denied>, Spent> {
    let failed = policy.expressions.validate(&policy.validations, input)?;
    let denied = failed.into_iter().filter_map(|failed| match failed {
        Ok(Failed { message, reason }) => Some(Denied {
            message,
            reason,
            is_always_refused: false,
        }),
        Err(why) => (!policy.ignores_failures).then(|| Denied::error(&why)),
    });
    Ok(denied.collect())
}

/// The errors of audit annotations, whose values go to the audit log alone, which does not exist here.
fn annotations(policy: &Policy, input: &Input<'_>) -> Result<Vec<Denied>, Spent> {
    let mut budget = policy::BUDGET;
    let all = policy.annotations.iter().map(Some);
    let values = policy
        .expressions
        .evaluate(Purpose::Annotation, all, input, &mut budget)?;
    let errors = values.into_iter().flatten().filter_map(Result::err);
    let errors = errors.filter(|_| !policy.ignores_failures);
    let denied = errors.map(|why| Denied {
        is_always_refused: true,
        ..Denied::error(&why)
    });
    Ok(denied.collect())
}
