//! Evaluates the MutatingAdmissionPolicies that a request matches, one after the other, and changes the object.
//!
//! A policy sees what those before it have changed, if it sees the object in the same version. As upstream, the object of the last
//! mutation is the result, so changes in other versions are lost.

use std::collections::BTreeSet;

use kubewright_machinery::go::quote;
use serde_json::Value;

use super::{
    super::{
        Attributes, Objects, Operation,
        rounds::{Caller, Rounds},
        webhooks::matching::Asked,
    },
    invocations::{self, Found, Invocation, Misconfigured},
    mutation::{Evaluation, Failed},
    policies, refusal,
    request::{Request, Versions, namespace},
};
use crate::{
    meta,
    policies::{Binding, Policy, PolicyKind},
    state::Core,
    status::Status,
};

/// Evaluates all policies that a request matches.
///
/// # Errors
/// The refusal by all policies that cannot be evaluated and do not ignore failures; 404 if the namespace of the request does not exist.
pub(in crate::admission) async fn mutate(
    core: &Core,
    attributes: &Attributes<'_>,
    objects: &mut Objects<'_>,
    rounds: &mut Rounds,
) -> Result<(), Status> {
    if attributes.operation == Operation::Delete {
        return Ok(());
    }
    let policies = policies(core, attributes, PolicyKind::Mutating);
    if policies.is_empty() {
        return Ok(());
    }
    let asked = Asked::new(attributes, objects);
    let mut errors = Errors::default();
    let mut invocations = Vec::new();
    for found in invocations::find(core, &asked, objects, &policies).await {
        match found {
            Found::Invocation(invocation) => invocations.push(invocation),
            Found::Misconfigured(wrong) => errors.misconfigured(&wrong),
        }
    }
    if !invocations.is_empty() {
        rounds.begin(Caller::Policies, objects.present());
        let namespace = namespace(core, &asked)?;
        let mut mutating = Mutating {
            core,
            asked: &asked,
            namespace: &namespace,
            versions: Versions::default(),
            mutated: BTreeSet::new(),
            last: None,
            errors: &mut errors,
        };
        let outcome = mutating.all(&invocations, objects, rounds).await;
        rounds.end(Caller::Policies, objects.present().clone());
        outcome?;
    }
    errors.refuse(&asked, objects)
}

/// One request before all policies.
struct Mutating<'r> {
    core: &'r Core,
    asked: &'r Asked<'r>,
    namespace: &'r Value,
    versions: Versions,
    /// The versions in which the object has been mutated, by their places.
    mutated: BTreeSet<usize>,
    /// The version of the last mutation.
    last: Option<usize>,
    errors: &'r mut Errors,
}

impl Mutating<'_> {
    async fn all(
        &mut self,
        invocations: &[Invocation<'_>],
        objects: &mut Objects<'_>,
        rounds: &mut Rounds,
    ) -> Result<(), Status> {
        for invocation in invocations {
            let Invocation { policy, matched, .. } = invocation;
            let place = match self.versions.find(self.asked, matched, objects).await {
                Ok(place) => place,
                Err(Status { message: why, .. }) => {
                    let binding = None;
                    self.errors.misconfigured(&Misconfigured { policy, binding, why });
                    continue;
                }
            };
            let request = Request::new(self.core, self.asked, matched, self.namespace);
            match request.is_about(policy, self.versions.at(place), &invocation.params) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(why) => {
                    self.errors.add(invocation, &why);
                    continue;
                }
            }
            let id = id(invocation);
            if !rounds.calls(Caller::Policies, &id) {
                continue;
            }
            if self.invoke(invocation, place, &request)? {
                rounds.change(Caller::Policies);
            }
            if policy.is_reinvoked {
                rounds.wait(Caller::Policies, id);
            }
        }
        self.finish(objects, rounds).await
    }

    /// Evaluates the mutations of a policy in their order. Returns whether they have changed the object.
    fn invoke(&mut self, invocation: &Invocation<'_>, place: usize, request: &Request<'_>) -> Result<bool, Status> {
        let before = self.versions.at(place).new.clone();
        for mutation in &invocation.policy.mutations {
            self.last = Some(place);
            let seen = self.versions.at_mut(place);
            let evaluation = Evaluation {
                core: self.core,
                asked: self.asked,
                policy: invocation.policy,
                seen,
                input: request.input(seen, &invocation.params),
            };
            match evaluation.object(mutation) {
                Ok(object) => {
                    seen.new = Some(object);
                    self.mutated.insert(place);
                }
                Err(Failed::Refused(status)) => return Err(status),
                Err(Failed::Policy(why)) => self.errors.add(invocation, &why),
            }
        }
        Ok(before != self.versions.at(place).new)
    }

    /// Brings the result to the version of the request.
    async fn finish(&mut self, objects: &mut Objects<'_>, rounds: &mut Rounds) -> Result<(), Status> {
        let Some(place) = self.last.filter(|place| self.mutated.contains(place)) else {
            return Ok(());
        };
        rounds.change(Caller::Policies);
        let seen = self.versions.at(place);
        if let (Some(object), Some(new)) = (&seen.new, objects.new.as_deref_mut()) {
            let converted = seen.patched(object.clone()).in_version_of(self.asked).await;
            *new = converted.map_err(|status| {
                let why = status.message;
                Status::internal(&format!("failed to convert object: {why}"))
            })?;
        }
        Ok(())
    }
}

/// By which a policy is known in the second round, with its binding and parameter.
fn id(invocation: &Invocation<'_>) -> String {
    let of_params = |field: &str| meta::text(&invocation.params, field);
    let (policy, binding) = (&invocation.policy.name, &invocation.binding.name);
    format!("{policy}/{binding}/{}/{}", of_params("namespace"), of_params("name"))
}

/// The reason that policies refuse a request: messages and reasons.
#[derive(Default)]
struct Errors(Vec<(String, &'static str)>);

impl Errors {
    /// Notes that a policy has failed, unless it ignores that.
    fn add(&mut self, invocation: &Invocation<'_>, why: &str) {
        let message = with_binding(invocation.policy, invocation.binding, why);
        self.note(invocation.policy, message, "Invalid");
    }

    /// Notes that a policy cannot be evaluated, unless it ignores that.
    fn misconfigured(&mut self, wrong: &Misconfigured<'_>) {
        let (name, why) = (quote(&wrong.policy.name), wrong.message());
        let message = match wrong.binding {
            Some(binding) => with_binding(wrong.policy, binding, &why),
            None => format!("policy {name} denied request: {why}"),
        };
        self.note(wrong.policy, message, "Forbidden");
    }

    fn note(&mut self, policy: &Policy, message: String, reason: &'static str) {
        if !policy.ignores_failures {
            self.0.push((message, reason));
        }
    }

    /// # Errors
    /// The refusal, if there is an error. The first one gives message and reason.
    fn refuse(&self, asked: &Asked<'_>, objects: &Objects<'_>) -> Result<(), Status> {
        let Some((message, reason)) = self.0.first() else {
            return Ok(());
        };
        let mut status = refusal(asked, objects, "");
        status.message.clone_from(message);
        status.reason = (*reason).into();
        let causes = self.0.iter();
        Err(causes.fold(status, |status, (message, _)| status.because("", message, "")))
    }
}

fn with_binding(policy: &Policy, binding: &Binding, why: &str) -> String {
    let (name, bound) = (&policy.name, &binding.name);
    format!("policy '{name}' with binding '{bound}' denied request: {why}")
}
