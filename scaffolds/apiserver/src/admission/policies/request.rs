//! A request as the expressions of policies see it, and the match conditions of a policy.

use kubewright_schema::{
    condition::{Asked as Question, Authorizer, Input as Seen},
    policy::Input,
};
use serde_json::{Value, json};

use super::super::{
    Objects,
    webhooks::{
        conditions,
        matching::{Asked, Match, NAMESPACES},
        review,
        version::Versioned,
    },
};
use crate::{policies::Policy, state::Core, status::Status, store::Key};

/// A request in the version of a policy.
pub(super) struct Request<'r> {
    namespace: &'r Value,
    authorizer: Authorizer,
    resource: Question,
    /// The request as validations and mutations see it.
    request: Value,
    /// As match conditions see it.
    conditional: Value,
}

impl<'r> Request<'r> {
    pub fn new(core: &Core, asked: &Asked<'_>, matched: &Match, namespace: &'r Value) -> Self {
        Self {
            namespace,
            authorizer: conditions::authorizer(core, &asked.attributes.call.user),
            resource: conditions::question(asked),
            request: review::request(asked, matched),
            conditional: conditions::request(asked, matched),
        }
    }

    /// The inputs of expressions. `params` is null without a parameter.
    pub fn input<'a>(&'a self, seen: &'a Versioned, params: &'a Value) -> Input<'a> {
        Input {
            request: Seen {
                object: seen.new.as_ref().unwrap_or(&Value::Null),
                old_object: seen.old.as_ref().unwrap_or(&Value::Null),
                request: &self.request,
                authorizer: &self.authorizer,
                resource: &self.resource,
            },
            params,
            namespace: self.namespace,
        }
    }

    /// Whether all match conditions of a policy are true. They do not see the namespace.
    ///
    /// # Errors
    /// The reason that they have no value, in upstream's words.
    pub fn is_about(&self, policy: &Policy, seen: &Versioned, params: &Value) -> Result<bool, String> {
        if policy.conditions.is_empty() {
            return Ok(true);
        }
        let mut input = self.input(seen, params);
        (input.request.request, input.namespace) = (&self.conditional, &Value::Null);
        policy.expressions.matches(&policy.conditions, &input)
    }
}

/// The namespace of a request as expressions see it; null for what is in none, and for Namespaces.
///
/// # Errors
/// 404 if it does not exist.
pub(super) fn namespace(core: &Core, asked: &Asked<'_>) -> Result<Value, Status> {
    let name = asked.namespace.as_str();
    if name.is_empty() || asked.is_namespace() {
        return Ok(Value::Null);
    }
    let record = core.store.get(&Key::new("/namespaces", "", name));
    let record = record.ok_or_else(|| Status::not_found(NAMESPACES, name))?;
    let mut namespace: Value = record.read()?;
    if let Some(metadata) = namespace["metadata"].as_object_mut() {
        metadata.retain(|field, _| !["managedFields", "ownerReferences"].contains(&field.as_str()));
    }
    Ok(json!({
        "metadata": namespace["metadata"],
        "spec": namespace["spec"],
        "status": namespace["status"],
    }))
}

/// The objects of a request in the versions of the policies, each converted once.
#[derive(Default)]
pub(super) struct Versions(Vec<Versioned>);

impl Versions {
    /// The place of the objects in the version of a match.
    ///
    /// # Errors
    /// When a webhook has to convert them and cannot.
    pub async fn find(&mut self, asked: &Asked<'_>, matched: &Match, objects: &Objects<'_>) -> Result<usize, Status> {
        if let Some(place) = self.0.iter().position(|it| it.matched.kind == matched.kind) {
            return Ok(place);
        }
        self.0.push(Versioned::of(asked, matched, objects).await?);
        Ok(self.0.len() - 1)
    }

    /// The objects at a place that [`find`](Self::find) has returned.
    pub fn at(&self, place: usize) -> &Versioned {
        &self.0[place]
    }

    /// Like [`at`](Self::at), to change them.
    pub fn at_mut(&mut self, place: usize) -> &mut Versioned {
        &mut self.0[place]
    }
}
