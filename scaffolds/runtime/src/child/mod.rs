//! Owned objects: created from their owner's intent, repaired when they drift, and left alone if another object
//! controls them.

mod diff;
mod label;
mod name;
mod ownership;
mod record;
mod view;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::Patch;
use serde_json::{Value, json};

pub(crate) use self::label::ChildLabel;
pub use self::name::{child_name, job_name, label_value, stateful_set_name};
use self::{
    diff::{Action, Desired, diff},
    name::{Creator, hash_of},
    view::View,
};
pub(crate) use self::{
    ownership::{Ownership, applied_for, group_of, mark, mark_of, owners_of},
    record::{Applies, has_written},
};
use crate::{
    api::Requests,
    error::{Error, NotOwned, Result},
    intent::fields::without,
    key::ObjectKey,
    object::AnyObject,
};

/// The result of [`Context::apply_child`](crate::Context::apply_child), with the object as the API server has it, but
/// without its `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub enum Applied<C> {
    /// The child was missing and has been created.
    Created(C),
    /// The child differed and has been repaired.
    Updated(C),
    /// The child was as intended: no request was sent.
    Unchanged,
}

impl<C> Applied<C> {
    /// Whether anything was written.
    pub fn changed(&self) -> bool {
        !matches!(self, Self::Unchanged)
    }
}

/// The result of an apply.
pub(crate) struct Done<C> {
    pub(crate) applied: Applied<C>,
    /// Whether the response may contain changes that others made after the observed state: their watch events are older
    /// than the response, so they will not be delivered.
    pub(crate) news: bool,
}

impl<C> Done<C> {
    fn unchanged() -> Self {
        Self {
            applied: Applied::Unchanged,
            news: false,
        }
    }
}

/// The treatment of an existing object of the child's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// A child is repaired.
    Repaired,
    /// A child is repaired, and an object without an owner becomes a child.
    Adopted,
    /// A child stays as it is.
    Kept,
}

/// One child to be applied: the requests for it, and everything that it is compared with.
pub(crate) struct Child<'a, C> {
    pub(crate) requests: &'a Requests<'a, C>,
    pub(crate) key: &'a ObjectKey,
    pub(crate) ownership: &'a Ownership,
    /// The object that it is applied for.
    pub(crate) owner_key: &'a ObjectKey,
    pub(crate) intent: Value,
    pub(crate) manager: &'a str,
    pub(crate) applies: &'a Applies,
    pub(crate) existing: Existing,
    /// Whether the controller watches objects of this kind.
    pub(crate) watched: bool,
}

impl<C: AnyObject> Child<'_, C> {
    /// Whether an existing object is this child already, and is not being deleted.
    pub(crate) fn is(&self, found: &C) -> bool {
        self.ownership.is_on(found) && found.meta().deletion_timestamp.is_none()
    }

    /// Whether an existing object would get a reference to an owner that it does not name yet.
    pub(crate) fn adopts(&self, found: &C) -> bool {
        let owner = !matches!(self.ownership, Ownership::Unowned(_));
        owner && self.existing == Existing::Adopted && !self.ownership.is_on(found) && self.check_owner(found).is_ok()
    }

    /// Brings an existing child to the intent, with what it shares with other owners.
    pub(crate) async fn join(&self, observed: &C) -> Result<Done<C>> {
        if self.existing == Existing::Kept {
            self.check_owner(observed)?;
            return Ok(Done::unchanged());
        }
        match self.ownership.joined(&self.intent, observed) {
            Some(intent) => Box::pin(Self { intent, ..*self }.repair(observed)).await,
            None => Box::pin(self.repair(observed)).await,
        }
    }

    /// Brings an existing child to the intent.
    async fn repair(&self, observed: &C) -> Result<Done<C>> {
        let hash = hash_of(&self.intent);
        self.check_owner(observed)?;
        let version = observed.meta().resource_version.as_deref();
        if self.last_made(hash, version) {
            return Ok(Done::unchanged());
        }
        let before = self.view(observed)?;
        let creator = &Creator::of(self.manager, &self.intent, hash);
        let desired = Desired {
            intent: &self.intent,
            hash,
            creator,
        };
        let updated = match diff(&desired, &before, self.last().as_ref()) {
            None => return Ok(Done::unchanged()),
            Some(Action::Apply) => Box::pin(self.update(observed)).await?,
            Some(Action::Change) => Box::pin(self.change(observed, &before, creator)).await?,
            Some(Action::Remove(dropped)) => Box::pin(self.replace(observed, dropped, creator)).await?,
        };
        let after = self.view(&updated)?;
        self.remember(hash, &updated, &after);
        // A patch that changes nothing keeps the resource version.
        if updated.meta().resource_version.as_deref() == version {
            return Ok(Done::unchanged());
        }
        Ok(Done {
            news: after.shows_others(before),
            applied: Applied::Updated(updated),
        })
    }

    /// Creates the child, or returns the object that already has its name. A create can neither overwrite nor merge
    /// into an object of another owner that is not cached yet, and costs the API server less than an apply.
    pub(crate) async fn create(&self) -> Result<Result<Done<C>, C>> {
        let hash = hash_of(&self.intent);
        let creator = Creator::of(self.manager, &self.intent, hash);
        match self.requests.create(&self.intent, creator.name()).await {
            Ok(created) => {
                self.remember(hash, &created, &self.view(&created)?);
                Ok(Ok(Done {
                    applied: Applied::Created(created),
                    news: false,
                }))
            }
            // The server validates a Service's `nodePort` before it compares names: for an existing Service the answer
            // is 422, not 409.
            // Admission, such as a quota, refuses a create with 403 before names are compared, too.
            Err(error) if matches!(error.code(), Some(403 | 409 | 422)) => {
                match self.requests.get(self.key.name()).await {
                    Ok(Some(found)) => Ok(Err(found)),
                    Err(failed) if error.code() != Some(403) => Err(failed),
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn check_owner(&self, observed: &C) -> Result<()> {
        if !self.ownership.permits(observed, self.existing == Existing::Adopted) {
            return Err(Error::NotOwned(NotOwned {
                kind: self.requests.kind().kind().to_owned(),
                key: self.key.clone(),
                owner: owner_name(observed),
                watched: self.watched,
            }));
        }
        if observed.meta().deletion_timestamp.is_some() {
            // Its deletion notifies the controller; the delay is for a child that a finalizer keeps.
            return Err(Error::retry(format!(
                "{} `{}` is being deleted",
                self.requests.kind().kind(),
                self.key
            )));
        }
        Ok(())
    }

    /// Applies the whole intent server-side, in one request.
    ///
    /// The apply names the uid that was observed. The cache may be stale: without the uid, an apply would create a
    /// deleted child again, or would set a deleted owner on a child of its successor, and the garbage collector would
    /// delete that child.
    async fn update(&self, observed: &C) -> Result<C> {
        let mut intent = self.intent.clone();
        intent["metadata"]["uid"] = json!(observed.meta().uid);
        if self.ownership.depends_on_version(observed) {
            // Adopted, or shared, only in the version that was observed: any change since then, such as another owner,
            // is a conflict.
            intent["metadata"]["resourceVersion"] = json!(observed.meta().resource_version);
        }
        let patch = Patch::Apply(intent);
        match self.requests.patch(self.key.name(), None, &patch, self.manager).await {
            Err(error) if is_another(&error) => {
                let (kind, key) = (self.requests.kind().kind(), self.key);
                Err(Error::retry(format!("{kind} `{key}` was replaced by another object")))
            }
            applied => applied,
        }
    }

    /// Changes values alone, by a JSON patch of exactly the observed version: it costs the API server less than an apply, and leaves
    /// the record of the create as it is. An apply follows if the API server refuses the patch, because the child has changed since. An
    /// apply takes its place if only the server knows how to merge the intent.
    async fn change(&self, observed: &C, view: &View, creator: &Creator) -> Result<C> {
        let steps = view.steps(&self.intent, &Value::Null).unwrap_or_default();
        if steps.is_empty() {
            return self.update(observed).await;
        }
        let version = &observed.meta().resource_version;
        match self.send_steps(version, &steps, creator.name()).await {
            Err(error) if matches!(error.code(), Some(404 | 409 | 422)) => self.update(observed).await,
            patched => patched,
        }
    }

    /// Brings the child to the intent, and removes fields that have left it, although an apply would not remove them:
    /// the fields of a create are recorded under the operation `Update`. So this is one JSON patch, of exactly the
    /// observed version: any change since then is a conflict.
    ///
    /// A field that another field manager owns too is not removed. A cache does not contain the fields of others, so if
    /// there are any, the child is read first.
    async fn replace(&self, observed: &C, dropped: Value, creator: &Creator) -> Result<C> {
        let live;
        let (mut observed, mut dropped) = (observed, dropped);
        if self.has_others(observed) {
            live = self
                .requests
                .get(self.key.name())
                .await?
                .ok_or_else(|| self.replaced())?;
            self.check_owner(&live)?;
            let version = |object: &C| object.meta().resource_version.clone();
            if self.ownership.depends_on_version(&live) && version(&live) != version(observed) {
                return Err(self.replaced());
            }
            (observed, dropped) = (&live, without(&dropped, &self.of_others(&live)));
        }
        let view = self.view(observed)?;
        let version = &observed.meta().resource_version;
        // As in a create: see `View::surplus`.
        let manager = if view.is_applied() {
            self.manager
        } else {
            creator.name()
        };
        let Some(steps) = view.steps(&self.intent, &dropped) else {
            // A list of others that the intent names too: the server knows how to merge it.
            let removals = view.steps(&json!({}), &dropped).unwrap_or_default();
            self.patch_json(version, &removals, manager).await?;
            return self.update(observed).await;
        };
        let replaced = self.patch_json(version, &steps, manager).await?;
        if !view.is_applied() && self.last().is_none() && self.view(&replaced)?.has_surplus(&self.intent) {
            // The server has added fields, and this process does not know which. An apply records which ones are ours,
            // so that no later process asks again.
            return self.update(&replaced).await;
        }
        Ok(replaced)
    }

    async fn patch_json(&self, version: &Option<String>, steps: &[Value], manager: &str) -> Result<C> {
        match self.send_steps(version, steps, manager).await {
            Err(error) if error.code() == Some(404) || is_inapplicable(&error) => Err(self.replaced()),
            patched => patched,
        }
    }

    /// Sends a JSON patch of this version.
    async fn send_steps(&self, version: &Option<String>, steps: &[Value], manager: &str) -> Result<C> {
        let mut patch = vec![json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version})];
        patch.extend_from_slice(steps);
        self.requests.patch_json(self.key.name(), patch, manager).await
    }

    fn replaced(&self) -> Error {
        Error::retry(format!(
            "{} `{}` changed meanwhile",
            self.requests.kind().kind(),
            self.key
        ))
    }
}

/// Whether an apply was refused because the object's uid is not the one in the request. If the object no longer exists,
/// the response is a conflict.
fn is_another(error: &Error) -> bool {
    invalid_fields(error).is_some_and(|mut fields| fields.any(|field| field == "metadata.uid"))
}

/// Whether a JSON patch was refused because it does not fit the object, which has changed since.
fn is_inapplicable(error: &Error) -> bool {
    invalid_fields(error).is_some_and(|mut fields| fields.all(str::is_empty))
}

/// The fields that the API server refused with 422.
fn invalid_fields(error: &Error) -> Option<impl Iterator<Item = &str>> {
    let Error::Kube(source) = error else { return None };
    let kube::Error::Api(status) = &**source else {
        return None;
    };
    let causes = status.details.iter().flat_map(|details| &details.causes);
    (status.code == 422).then(|| causes.map(|cause| cause.field.as_str()))
}

/// The controller of an object as `Kind/name`, or, if it has none, the object that it is applied for.
pub(crate) fn owner_name<C: kube::Resource>(object: &C) -> Option<String> {
    let controller = controller_of(object).map(|owner| format!("{}/{}", owner.kind, owner.name));
    controller.or_else(|| mark_of(object).map(str::to_owned))
}

/// The owner reference with `controller: true`, of which an object has at most one.
pub(crate) fn controller_of<C: kube::Resource>(object: &C) -> Option<&OwnerReference> {
    object
        .meta()
        .owner_references
        .iter()
        .flatten()
        .find(|owner| owner.controller == Some(true))
}
