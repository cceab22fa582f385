//! MutatingAdmissionPolicy and ValidatingAdmissionPolicy: evaluates the policies that a request matches, which change the object,
//! refuse the request or warn.

pub(super) mod access;
mod invocations;
mod mutating;
mod mutation;
mod parameters;
mod request;
mod validating;

use std::sync::Arc;

use super::{Attributes, Objects, webhooks::matching::Asked};
use crate::{
    policies::{Policy, PolicyKind},
    state::Core,
    status::Status,
};
pub(super) use mutating::mutate;
pub(super) use validating::validate;

/// The kinds that no policy is evaluated for, so that a bad policy can be removed.
const EXEMPT: (&str, [&str; 4]) = (
    "admissionregistration.k8s.io",
    [
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    ],
);

/// The policies of a kind that may be about a request.
fn policies(core: &Core, attributes: &Attributes<'_>, kind: PolicyKind) -> Arc<[Policy]> {
    let resource = &attributes.call.resource;
    if resource.group == EXEMPT.0 && EXEMPT.1.contains(&resource.names.plural.as_str()) {
        return Arc::default();
    }
    core.policies.of(kind, &core.store)
}

/// The refusal by a policy, without its causes.
fn refusal(asked: &Asked<'_>, objects: &Objects<'_>, message: &str) -> Status {
    let name = match asked.name.as_str() {
        // Deleted collections name no object.
        "" if objects.new.is_none() => "Unknown",
        "" => objects.given_name(),
        name => name,
    };
    Status::forbidden(asked.attributes.call.subject(), name, message)
}
