//! The policies that a request invokes, with their bindings and parameters.

use std::sync::Arc;

use serde_json::Value;

use super::{
    super::{
        Objects,
        webhooks::matching::{self, Asked, Match},
    },
    parameters,
};
use crate::{
    policies::{Binding, Policy},
    resource::Resource,
    state::Core,
    status::Status,
};

/// A policy that is evaluated.
pub(super) struct Invocation<'p> {
    pub policy: &'p Policy,
    pub binding: &'p Binding,
    /// In which version.
    pub matched: Match,
    /// The parameter; null if there is none.
    pub params: Value,
}

/// The invocations, in the order of policies, bindings and parameters.
pub(super) enum Found<'p> {
    Invocation(Invocation<'p>),
    Misconfigured(Misconfigured<'p>),
}

/// A policy that should be evaluated and cannot be, or its binding.
pub(super) struct Misconfigured<'p> {
    pub policy: &'p Policy,
    pub binding: Option<&'p Binding>,
    pub why: String,
}

impl Misconfigured<'_> {
    /// The kind of misconfiguration, and its reason.
    pub fn message(&self) -> String {
        let what = if self.binding.is_some() { "binding" } else { "policy" };
        format!("failed to configure {what}: {}", self.why)
    }
}

/// Finds all invocations of a request.
pub(super) async fn find<'p>(
    core: &Core,
    asked: &Asked<'_>,
    objects: &Objects<'_>,
    policies: &'p [Policy],
) -> Vec<Found<'p>> {
    let mut search = Search {
        core,
        asked,
        objects,
        found: Vec::new(),
    };
    for policy in policies {
        match matching::find(core, &policy.selection, asked, objects) {
            Ok(Some(matched)) => search.policy(policy, &matched).await,
            Ok(None) => {}
            Err(status) => search.misconfigured(policy, None, status.message),
        }
    }
    search.found
}

struct Search<'r, 'p> {
    core: &'r Core,
    asked: &'r Asked<'r>,
    objects: &'r Objects<'r>,
    found: Vec<Found<'p>>,
}

impl<'p> Search<'_, 'p> {
    async fn policy(&mut self, policy: &'p Policy, matched: &Match) {
        let resource = match self.kind(policy) {
            Ok(resource) => resource,
            Err(why) => return self.misconfigured(policy, None, why),
        };
        for binding in &policy.bindings {
            match self.matches(binding) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(status) => {
                    self.misconfigured(policy, Some(binding), status.message);
                    continue;
                }
            }
            let namespace = &self.asked.namespace;
            match parameters::collect(self.core, resource.as_deref(), binding, namespace).await {
                Err(why) => self.misconfigured(policy, Some(binding), why),
                Ok(parameters) => self.found.extend(parameters.into_iter().map(|params| {
                    Found::Invocation(Invocation {
                        policy,
                        binding,
                        matched: matched.clone(),
                        params,
                    })
                })),
            }
        }
    }

    /// The resource of a policy's parameters, if it has any.
    fn kind(&self, policy: &Policy) -> Result<Option<Arc<Resource>>, String> {
        let Some(kind) = &policy.parameters else {
            return Ok(None);
        };
        let snapshot = self.core.catalogue.snapshot();
        let resource = snapshot.kind(&kind.group, &kind.version, &kind.kind).cloned();
        let missing = || format!("failed to find resource referenced by paramKind: '{kind}'");
        resource.ok_or_else(missing).map(Some)
    }

    fn matches(&self, binding: &Binding) -> Result<bool, Status> {
        let Some(selection) = &binding.selection else {
            return Ok(true);
        };
        matching::find(self.core, selection, self.asked, self.objects).map(|found| found.is_some())
    }

    fn misconfigured(&mut self, policy: &'p Policy, binding: Option<&'p Binding>, why: String) {
        self.found
            .push(Found::Misconfigured(Misconfigured { policy, binding, why }));
    }
}
