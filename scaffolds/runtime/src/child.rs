//! Owned objects: made as their owner asks, repaired when they drift, and never touched when they are somebody else's.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, OwnerReference};
use kube::api::Patch;
use serde_json::{Value, json};

use crate::{
    Object,
    api::Requests,
    error::{Error, NotOwned, Result},
    informer::managed::fields,
    intent,
    key::ObjectKey,
};

/// What [`Context::apply_child`](crate::Context::apply_child) did, with the object as the API server has it, but for its
/// `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub enum Applied<C> {
    /// The child was missing and has been created.
    Created(C),
    /// The child differed and has been repaired.
    Updated(C),
    /// The child was as it should be: nothing was sent.
    Unchanged,
}

impl<C> Applied<C> {
    /// Whether anything was written.
    pub fn changed(&self) -> bool {
        !matches!(self, Self::Unchanged)
    }
}

/// The longest name that Kubernetes accepts for most kinds (a DNS-1123 subdomain).
const MAX_NAME: usize = 253;

/// The longest value that Kubernetes accepts for a label.
const MAX_LABEL: usize = 63;

/// `<name>-<suffix>`, the name of a child. One too long for Kubernetes (over 253 bytes) is cut and ends in a hash of the
/// whole, so that two long names that differ only at their ends stay apart. The same input gives the same name on
/// every machine and in every version.
pub fn child_name(name: &str, suffix: &str) -> String {
    shortened(format!("{name}-{suffix}"), MAX_NAME)
}

/// The name of an object as the value of a label. One too long for that (over 63 bytes) is cut as by [`child_name`].
pub fn label_value(name: &str) -> String {
    shortened(name.to_owned(), MAX_LABEL)
}

fn shortened(whole: String, max: usize) -> String {
    if whole.len() <= max {
        return whole;
    }
    let hash = format!("{:016x}", fnv1a(whole.as_bytes()));
    let end = whole.floor_char_boundary(max - hash.len() - 1);
    format!("{}-{hash}", whole[..end].trim_end_matches(['-', '.']))
}

/// FNV-1a, 64 bits: names are stored in clusters, so the hash must never change as std's may.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Between a field manager and what it has created.
const CREATED: char = '@';

/// The longest name of a field manager that Kubernetes accepts.
const MAX_MANAGER: usize = 128;

/// The name under which a child is created: the field manager's, and what the intent was. A process that comes later finds
/// both in the record of field ownership. Of a child that was made for the intent it has itself it knows that no field was
/// dropped since, though the record names what the server has added to it; and that each value stands which the record still
/// names, in whatever form the server keeps it: who changes a value takes it out of the record.
fn creator(manager: &str, hash: u64) -> String {
    let name = format!("{manager}{CREATED}{hash:016x}");
    if name.len() > MAX_MANAGER {
        manager.to_owned()
    } else {
        name
    }
}

/// What this process last applied to each child: the intent's hash and the version that came of it. While both stand
/// nothing needs to be compared, and a value that the server stores in another form is not sent for ever.
#[derive(Default)]
pub(crate) struct Applies(Mutex<HashMap<(TypeId, ObjectKey), (u64, String)>>);

impl Applies {
    fn remember<C: 'static>(&self, key: &ObjectKey, hash: u64, version: Option<&str>) {
        let mut applies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = (TypeId::of::<C>(), key.clone());
        match version {
            Some(version) => applies.insert(slot, (hash, version.to_owned())),
            None => applies.remove(&slot),
        };
    }

    fn stands<C: 'static>(&self, key: &ObjectKey, hash: u64, version: Option<&str>) -> bool {
        let applies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        applies
            .get(&(TypeId::of::<C>(), key.clone()))
            .is_some_and(|(h, v)| *h == hash && version == Some(v))
    }

    pub(crate) fn forget<C: 'static>(&self, key: &ObjectKey) {
        self.remember::<C>(key, 0, None);
    }
}

/// One child to be applied: the request's subject and everything it is compared with.
pub(crate) struct Child<'a, C> {
    pub(crate) requests: Requests<'a, C>,
    pub(crate) key: &'a ObjectKey,
    pub(crate) owner: &'a OwnerReference,
    pub(crate) intent: Value,
    pub(crate) manager: &'a str,
    pub(crate) applies: &'a Applies,
    /// Whether an object that nobody controls is taken over.
    pub(crate) adopts: bool,
    /// Whether the controller is woken by objects of this kind.
    pub(crate) watched: bool,
}

impl<C: Object> Child<'_, C> {
    /// Brings the child from `observed` to the intent.
    pub(crate) async fn apply(&self, observed: Option<&C>) -> Result<Applied<C>> {
        let hash = hash_of(&self.intent);
        let live;
        let observed = match observed {
            Some(observed) => observed,
            None => match self.create(hash).await? {
                Ok(created) => return Ok(Applied::Created(created)),
                Err(found) => {
                    live = found;
                    &live
                }
            },
        };
        self.check_owner(observed)?;
        let version = observed.meta().resource_version.as_deref();
        if self.applies.stands::<C>(self.key, hash, version) || !self.differs(observed, hash)? {
            return Ok(Applied::Unchanged);
        }

        let updated = self.update(observed).await?;
        let after = updated.meta().resource_version.as_deref();
        self.applies.remember::<C>(self.key, hash, after);
        // The server keeps the version of an apply that changed nothing.
        Ok(if after == version {
            Applied::Unchanged
        } else {
            Applied::Updated(updated)
        })
    }

    /// Creates the child, or returns the object that already has its name. A create can neither overwrite nor merge into
    /// a foreign object that the cache does not show yet, and costs the API server less than an apply.
    async fn create(&self, hash: u64) -> Result<Result<C, C>> {
        match self.requests.create(&self.intent, &creator(self.manager, hash)).await {
            Ok(created) => {
                self.applies
                    .remember::<C>(self.key, hash, created.meta().resource_version.as_deref());
                Ok(Ok(created))
            }
            Err(error) if error.code() == Some(409) => match self.requests.get(self.key.name()).await? {
                Some(found) => Ok(Err(found)),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    fn check_owner(&self, observed: &C) -> Result<()> {
        let controller = controller_of(observed);
        if !controller.map_or(self.adopts, |owner| owner.uid == self.owner.uid) {
            let owner = controller.map(|owner| format!("{}/{}", owner.kind, owner.name));
            return Err(Error::NotOwned(NotOwned {
                kind: C::kind(&()).into_owned(),
                key: self.key.clone(),
                owner,
                watched: self.watched,
            }));
        }
        if observed.meta().deletion_timestamp.is_some() {
            // Its deletion wakes the owner; the delay is for a child that somebody's finalizer holds.
            return Err(Error::retry(format!(
                "{} `{}` is being deleted",
                C::kind(&()),
                self.key
            )));
        }
        Ok(())
    }

    fn differs(&self, observed: &C, hash: u64) -> Result<bool> {
        let owned: Vec<_> = self
            .entries(observed)
            .filter_map(|entry| Some((entry, fields(entry)?)))
            .collect();
        // Without a record of what we own nothing can be said about dropped fields: apply, and remember.
        let [(entry, fields)] = owned.as_slice() else {
            return Ok(true);
        };
        let observed = serde_json::to_value(observed).map_err(Error::retry)?;
        let ours = entry.manager.as_deref() == Some(&creator(self.manager, hash));
        if ours && intent::stands(&self.intent, &observed, fields) {
            return Ok(false);
        }
        Ok(intent::would_change(&self.intent, &observed, fields))
    }

    /// Server-side apply of the whole intent. The fields of a child that was created are recorded under the operation
    /// `Update`, from which an apply drops nothing; so the first update turns that record into one of `Apply`.
    ///
    /// The apply names the uid that was observed: the cache may be behind, and an apply would make a child that is gone
    /// anew, or hand one that belongs to this owner's successor to the garbage collector, as an owner's that is gone.
    async fn update(&self, observed: &C) -> Result<C> {
        let name = self.key.name();
        let created = |object: &C| {
            self.entries(object)
                .any(|entry| entry.operation.as_deref() == Some("Update"))
        };
        // The cache keeps our own records only; the patch has to name everybody's.
        if created(observed)
            && let Some(live) = self.requests.get(name).await?
            && created(&live)
        {
            self.check_owner(&live)?;
            let patch = json!({"metadata": {
                "resourceVersion": live.meta().resource_version,
                "managedFields": self.as_applied(&live),
            }});
            self.requests
                .patch(name, None, &Patch::Merge(patch), self.manager)
                .await?;
        }
        let mut intent = self.intent.clone();
        intent["metadata"]["uid"] = json!(observed.meta().uid);
        if controller_of(observed).is_none() {
            // Adopted as it was seen: a change since then, another owner above all, is a conflict.
            intent["metadata"]["resourceVersion"] = json!(observed.meta().resource_version);
        }
        match self
            .requests
            .patch(name, None, &Patch::Apply(intent), self.manager)
            .await
        {
            Err(error) if is_another(&error) => {
                let (kind, key) = (C::kind(&()), self.key);
                Err(Error::retry(format!("{kind} `{key}` is not the one that was observed")))
            }
            applied => applied,
        }
    }

    fn as_applied(&self, live: &C) -> Vec<ManagedFieldsEntry> {
        let entries = live.meta().managed_fields.clone().unwrap_or_default();
        let (ours, mut others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| self.is_ours(entry));
        // An `Apply` record of ours, if there is one already, is made anew by the apply that follows.
        if let Some(mut entry) = ours
            .into_iter()
            .find(|entry| entry.operation.as_deref() == Some("Update"))
        {
            entry.operation = Some("Apply".to_owned());
            entry.manager = Some(self.manager.to_owned());
            others.push(entry);
        }
        others
    }

    fn entries<'c>(&'c self, object: &'c C) -> impl Iterator<Item = &'c ManagedFieldsEntry> {
        object
            .meta()
            .managed_fields
            .iter()
            .flatten()
            .filter(|entry| self.is_ours(entry))
    }

    fn is_ours(&self, entry: &ManagedFieldsEntry) -> bool {
        let manager = entry.manager.as_deref().unwrap_or_default();
        let ours = manager.strip_prefix(self.manager);
        ours.is_some_and(|rest| rest.is_empty() || rest.starts_with(CREATED))
            && entry.subresource.as_deref().unwrap_or_default().is_empty()
    }
}

/// Whether an apply was refused because the object has another uid than it names. Where there is no object any more, the
/// answer is a conflict.
fn is_another(error: &Error) -> bool {
    let Error::Kube(source) = error else { return false };
    let kube::Error::Api(status) = &**source else {
        return false;
    };
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    status.code == 422 && causes.any(|cause| cause.field == "metadata.uid")
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

/// Compared with that of other processes, of other versions too: see [`creator`].
fn hash_of(intent: &Value) -> u64 {
    fnv1a(intent.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_named_after_its_owner() {
        assert_eq!(child_name("sample", "foobar"), "sample-foobar");
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let (a, b) = (format!("{}a", "x".repeat(252)), format!("{}b", "x".repeat(252)));
        let (a, b) = (child_name(&a, "foobar"), child_name(&b, "foobar"));
        assert_eq!((a.len(), b.len()), (253, 253));
        assert_ne!(a, b);
    }

    #[test]
    fn the_longest_name_that_fits_is_kept_whole() {
        let name = "x".repeat(253 - "-foobar".len());
        assert_eq!(child_name(&name, "foobar"), format!("{name}-foobar"));
    }

    #[test]
    fn the_hash_of_a_name_never_changes() {
        // The published test vectors of FNV-1a.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_cut_never_leaves_a_dot_or_a_dash_before_the_hash() {
        let name = child_name(&format!("{}{}", "x".repeat(230), ".".repeat(23)), "foobar");
        assert!(!name.contains(".-") && !name.contains("--"), "{name}");
    }

    #[test]
    fn a_label_holds_any_name() {
        assert_eq!(label_value("sample"), "sample");
        let (a, b) = (format!("{}.a", "x".repeat(70)), format!("{}.b", "x".repeat(70)));
        let (a, b) = (label_value(&a), label_value(&b));
        assert_eq!((a.len(), b.len()), (63, 63));
        assert_ne!(a, b);
    }
}
