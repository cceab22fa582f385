//! ValidatingAdmissionPolicy: evaluates the policies that a request matches, and refuses it or warns.

pub(super) mod access;
mod decide;
mod parameters;

use serde_json::{Value, json};

use super::{
    Attributes, Objects,
    webhooks::{
        matching::{self, Asked, Match, NAMESPACES},
        version::Versioned,
    },
};
use crate::{
    policies::{Action, Binding, Policy},
    state::Core,
    status::Status,
    store::Key,
};
use decide::{Denied, Request};

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

/// Evaluates all policies that a request matches.
///
/// # Errors
/// The refusal by the first policy that refuses; 404 if the namespace of the request does not exist.
pub(super) async fn validate(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let resource = &attributes.call.resource;
    if resource.group == EXEMPT.0 && EXEMPT.1.contains(&resource.names.plural.as_str()) {
        return Ok(());
    }
    let policies = core.policies.validating(&core.store);
    if policies.is_empty() {
        return Ok(());
    }
    let asked = Asked::new(attributes, objects);
    let mut round = Round {
        core,
        asked: &asked,
        objects,
        refusal: None,
    };
    for policy in policies.iter() {
        match matching::find(core, &policy.selection, &asked, objects) {
            Ok(Some(matched)) => round.policy(policy, &matched).await?,
            Ok(None) => {}
            Err(status) => round.misconfigured(policy, None, &status.message),
        }
    }
    round.refusal.map_or(Ok(()), Err)
}

/// One request before all policies.
struct Round<'r> {
    core: &'r Core,
    asked: &'r Asked<'r>,
    objects: &'r Objects<'r>,
    /// The first refusal. Upstream tells one of them, in no certain order.
    refusal: Option<Status>,
}

impl Round<'_> {
    async fn policy(&mut self, policy: &Policy, matched: &Match) -> Result<(), Status> {
        let snapshot = self.core.catalogue.snapshot();
        let resource = policy.parameters.as_ref();
        let resource = resource.map(|it| snapshot.kind(&it.group, &it.version, &it.kind).cloned().ok_or(it));
        drop(snapshot);
        let resource = match resource.transpose() {
            Ok(resource) => resource,
            Err(kind) => {
                let why = format!("failed to find resource referenced by paramKind: '{kind}'");
                self.misconfigured(policy, None, &why);
                return Ok(());
            }
        };
        let mut seen = None;
        for binding in &policy.bindings {
            match self.matches(binding) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(status) => {
                    self.misconfigured(policy, Some(binding), &status.message);
                    continue;
                }
            }
            let found = parameters::collect(self.core, resource.as_deref(), binding, &self.asked.namespace).await;
            let parameters = match found {
                Ok(parameters) => parameters,
                Err(why) => {
                    self.misconfigured(policy, Some(binding), &why);
                    continue;
                }
            };
            if seen.is_none() && !parameters.is_empty() {
                match Versioned::of(self.asked, matched, self.objects).await {
                    Ok(versioned) => seen = Some(versioned),
                    Err(status) => {
                        let why = format!("failed to convert object version: {}", status.message);
                        self.misconfigured(policy, Some(binding), &why);
                        continue;
                    }
                }
            }
            let namespace = self.namespace()?;
            if let Some(seen) = &seen {
                let request = Request::new(self.core, self.asked, seen, &namespace);
                for denied in parameters.iter().flat_map(|it| request.evaluate(policy, it)) {
                    self.follow(policy, binding, &denied);
                }
            }
        }
        Ok(())
    }

    fn matches(&self, binding: &Binding) -> Result<bool, Status> {
        let Some(selection) = &binding.selection else {
            return Ok(true);
        };
        matching::find(self.core, selection, self.asked, self.objects).map(|found| found.is_some())
    }

    /// The namespace of the request as expressions see it; null for what is in none, and for Namespaces.
    fn namespace(&self) -> Result<Value, Status> {
        let name = self.asked.namespace.as_str();
        if name.is_empty() || self.asked.is_namespace() {
            return Ok(Value::Null);
        }
        let record = self.core.store.get(&Key::new("/namespaces", "", name));
        let record = record.ok_or_else(|| Status::not_found(NAMESPACES, name))?;
        let read: Result<Value, _> = serde_json::from_slice(&record.object);
        let mut namespace = read.map_err(|error| Status::internal(&error.to_string()))?;
        if let Some(metadata) = namespace["metadata"].as_object_mut() {
            metadata.retain(|field, _| !["managedFields", "ownerReferences"].contains(&field.as_str()));
        }
        Ok(json!({
            "metadata": namespace["metadata"],
            "spec": namespace["spec"],
            "status": namespace["status"],
        }))
    }

    /// Does what the binding says about a validation that failed.
    fn follow(&mut self, policy: &Policy, binding: &Binding, denied: &Denied) {
        let (name, bound, why) = (&policy.name, &binding.name, &denied.message);
        if denied.is_always_refused || binding.actions.contains(&Action::Deny) {
            let why = format!("ValidatingAdmissionPolicy '{name}' with binding '{bound}' denied request: {why}");
            self.refuse(&why, &denied.reason);
        } else if binding.actions.contains(&Action::Warn) {
            self.asked.attributes.call.warnings.add(format!(
                "Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{bound}': {why}"
            ));
        }
    }

    /// Refuses the request because of a policy that cannot be evaluated, unless it ignores failures.
    fn misconfigured(&mut self, policy: &Policy, binding: Option<&Binding>, why: &str) {
        let name = &policy.name;
        let message = match binding {
            None => format!("ValidatingAdmissionPolicy '{name}' denied request: failed to configure policy: {why}"),
            Some(binding) => format!(
                "ValidatingAdmissionPolicy '{name}' with binding '{}' denied request: failed to configure binding: {why}",
                binding.name
            ),
        };
        if !policy.ignores_failures {
            self.refuse(&message, "Invalid");
        }
    }

    fn refuse(&mut self, message: &str, reason: &str) {
        if self.refusal.is_some() {
            return;
        }
        let call = self.asked.attributes.call;
        let name = match self.asked.name.as_str() {
            // Deleted collections name no object.
            "" if self.objects.new.is_none() => "Unknown",
            "" => self.objects.given_name(),
            name => name,
        };
        let mut status = Status::forbidden(call.subject(), name, message).because("", message, "");
        status.code = match reason {
            "Forbidden" => 403,
            "RequestEntityTooLarge" => 413,
            _ => 422,
        };
        status.reason = reason.to_owned().into();
        self.refusal = Some(status);
    }
}
