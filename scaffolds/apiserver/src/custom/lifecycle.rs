//! The effects of writing a CustomResourceDefinition: its names are accepted, it is established, and its resources are
//! served. When it is deleted, its objects are deleted with it.
//!
//! The real server has a controller for each of these steps. Here the write that causes them completes them all before
//! it is answered. The intermediate states of the definition are the same, and watches see each of them. If the deletion of an
//! object is refused, the definition remains, and the caller has to try again later.

use super::{
    approval,
    conditions::{DefinitionCondition, find, holds},
    definition::{FINALIZER, GROUP, PLURAL, bundle_fault},
    groups::Groups,
    instances, names, resources,
};
use crate::{
    call::{Call, Verb},
    registry::{self, Reply},
    release::AGENT,
    resource::Resource,
    state::Core,
    status::Subject,
    store::{Key, Range, Record},
};
use bytes::Bytes;
use kubewright_machinery::time;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio::sync::{Mutex, watch};

/// The store's key of definitions.
const STORED: &str = "apiextensions.k8s.io/customresourcedefinitions";

/// The served definitions. The effects of one write at a time are processed.
#[derive(Default)]
pub(crate) struct Definitions {
    known: Mutex<Known>,
}

/// The state of all definitions.
#[derive(Default)]
struct Known {
    served: BTreeMap<String, Served>,
    groups: Groups,
}

/// The state from which the resources of a definition were built, and the progress of its deletion.
struct Served {
    /// The spec and the accepted names.
    made_from: [Value; 2],
    /// Whether the definition is established, and whether it is terminating.
    state: (bool, bool),
    /// Dropped with the resources, which ends open watches.
    open: watch::Sender<()>,
    /// The revision up to which its objects were deleted, once its deletion has begun.
    emptied: Option<u64>,
    /// Whether a task is deleting its objects.
    is_emptying: bool,
    /// Whether a task tries to delete its objects again.
    is_retrying: bool,
}

impl Definitions {
    /// Updates the catalogue and every definition at the start, when the store may have definitions already. Returns the
    /// definitions to [`empty`](Self::empty).
    pub(crate) async fn restore(&self, core: &Core) -> BTreeSet<String> {
        let all = all(core);
        let mut known = self.known.lock().await;
        for record in &all {
            known.groups.put(&record.key.name, decoded(record).as_ref());
        }
        drop(known);
        let mut terminating = BTreeSet::new();
        for record in all {
            terminating.append(&mut self.settle(core, &record.key.name).await);
        }
        terminating
    }

    /// Whether a write has effects: one of a definition, or of an object for whose deletion a definition waits.
    pub(crate) fn follows(call: &Call) -> bool {
        is_definition(call) || call.resource.rules().forbids_creation.is_some()
    }

    /// Carries out the effects of a successful write. Returns the definitions to [`empty`](Self::empty).
    pub(crate) async fn follow(&self, core: &Core, call: &Call, reply: &Reply) -> BTreeSet<String> {
        match call.verb {
            _ if !is_definition(call) => {
                let Resource { group, names, .. } = call.resource.as_ref();
                self.settle(core, &format!("{}.{group}", names.plural)).await
            }
            // Any definition may have been deleted.
            Verb::DeleteCollection => self.restore(core).await,
            // The name may have been generated.
            Verb::Create => self.settle(core, &name_in(&reply.object)).await,
            _ => self.settle(core, &call.name).await,
        }
    }

    /// Deletes the objects of a terminating definition, then the definition if none is left. The lock is free meanwhile: webhooks
    /// may take long, and may write such objects. Returns false after a refusal.
    pub(crate) async fn empty(&self, core: &Core, name: &str) -> bool {
        while let Some((crd, emptied)) = self.begin_emptying(core, name).await {
            let emptied = instances::delete(core, &crd, emptied).await;
            if let Some(served) = self.known.lock().await.served.get_mut(name) {
                (served.is_emptying, served.emptied) = (false, emptied);
            }
            self.settle(core, name).await;
            if emptied.is_none() {
                return false;
            }
        }
        true
    }

    /// The definition, if it has objects to delete and no other task is deleting them. That task processes all changes that it
    /// finds at its end.
    async fn begin_emptying(&self, core: &Core, name: &str) -> Option<(Value, Option<u64>)> {
        let mut known = self.known.lock().await;
        let (crd, _) = load(core, name).filter(|(crd, _)| is_losing_objects(crd))?;
        let served = known.served.get_mut(name).filter(|served| !served.is_emptying)?;
        let now = core.store.revision();
        if instances::are_pending(core, &crd, served.emptied) {
            served.is_emptying = true;
            return Some((crd, served.emptied));
        }
        served.emptied = Some(now);
        None
    }

    /// Records that a task tries to delete the objects again. Returns false if there is one already.
    pub(crate) async fn begin_retrying(&self, name: &str) -> bool {
        let mut known = self.known.lock().await;
        let served = known.served.get_mut(name);
        served.is_some_and(|served| !std::mem::replace(&mut served.is_retrying, true))
    }

    /// Records that this task has ended.
    pub(crate) async fn end_retrying(&self, name: &str) {
        if let Some(served) = self.known.lock().await.served.get_mut(name) {
            served.is_retrying = false;
        }
    }

    /// Carries out all steps for a definition, and for the definitions that its change unblocks. Returns the definitions whose
    /// objects have to be deleted first.
    async fn settle(&self, core: &Core, name: &str) -> BTreeSet<String> {
        let mut known = self.known.lock().await;
        let mut todo = BTreeSet::from([name.to_owned()]);
        let mut terminating = BTreeSet::new();
        while let Some(name) = todo.pop_first() {
            while let Some(changed) = step(core, &name, &mut known).await {
                if changed == Changed::Names {
                    todo.extend(known.groups.unsettled(&name));
                }
            }
            if load(core, &name).is_some_and(|(crd, _)| is_losing_objects(&crd)) {
                terminating.insert(name);
            }
        }
        terminating
    }
}

/// Whether the objects of a definition have to be deleted before it is.
fn is_losing_objects(crd: &Value) -> bool {
    is_terminating(crd) && has_begun(crd)
}

fn is_definition(call: &Call) -> bool {
    call.subject() == Subject::new(GROUP, PLURAL)
}

/// The change of a step: names, which may unblock other definitions, or only the status.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Changed {
    Names,
    Status,
}

/// Takes the next step for a definition; `None` if there is none left.
async fn step(core: &Core, name: &str, known: &mut Known) -> Option<Changed> {
    let Some((crd, revision)) = load(core, name) else {
        known.groups.put(name, None);
        let (plural, group) = name.split_once('.')?;
        known.served.remove(name)?;
        core.catalogue.remove_custom(group, plural);
        return Some(Changed::Names);
    };
    known.groups.put(name, Some(&crd));
    publish(core, &crd, revision, &mut known.served);
    let mut next = crd.clone();
    let now = time::text(core.now());
    if is_terminating(&crd) && terminate(core, &mut next, &now).is_some() {
        return write(core, &next).await.then_some(Changed::Status);
    }
    if !names::are_settled(&crd) && names::accept(&mut next, known.groups.taken(name), &now) {
        return write(core, &next).await.then_some(Changed::Names);
    }
    let condition = established(&crd)
        .or_else(|| approval::condition(&crd))
        .filter(|it| !it.stands_in(&crd))?;
    condition.set(&mut next, &now);
    write(core, &next).await.then_some(Changed::Status)
}

/// The condition of a definition whose names are accepted and that is not established yet.
fn established(crd: &Value) -> Option<DefinitionCondition> {
    if !holds(crd, "NamesAccepted") || holds(crd, "Established") {
        return None;
    }
    let condition = |status, reason, message| DefinitionCondition::new("Established", status, reason, message);
    let established = match bundle_fault(crd) {
        None => condition(true, "InitialNamesAccepted", "the initial names have been accepted"),
        Some(_) => condition(false, "InvalidCABundle", "The conversion webhook CABundle is invalid"),
    };
    Some(established).filter(|it| !it.stands_in(crd))
}

/// Takes a step of a definition's deletion. `None` while there are objects of it.
fn terminate(core: &Core, crd: &mut Value, now: &str) -> Option<()> {
    let terminating = |status, reason, message| DefinitionCondition::new("Terminating", status, reason, message);
    if !has_begun(crd) {
        terminating(
            true,
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
        )
        .set(crd, now);
        return Some(());
    }
    let end = if !holds(crd, "Established") {
        terminating(false, "NeverEstablished", "resource was never established")
    } else if !instances::exist(core, crd) {
        terminating(false, "InstanceDeletionCompleted", "removed all instances")
    } else {
        return None;
    };
    end.set(crd, now);
    if let Some(finalizers) = crd["metadata"]["finalizers"].as_array_mut() {
        finalizers.retain(|it| it != FINALIZER);
    }
    Some(())
}

/// Serves the resources of the definition, unless they are served already. Watches continue if only its conditions have
/// changed.
fn publish(core: &Core, crd: &Value, revision: u64, served: &mut BTreeMap<String, Served>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = text(&crd["metadata"]["name"]);
    let made_from = [crd["spec"].clone(), crd["status"]["acceptedNames"].clone()];
    let state = (holds(crd, "Established"), holds(crd, "Terminating"));
    let before = served.remove(&name);
    let known = before.is_some();
    let next = match before {
        Some(same) if same.made_from == made_from && same.state == state => {
            served.insert(name, same);
            return;
        }
        Some(same) if same.made_from == made_from => Served { state, ..same },
        _ => Served {
            made_from,
            state,
            open: watch::channel(()).0,
            emptied: None,
            is_emptying: false,
            is_retrying: false,
        },
    };
    let resources = resources::of(core, crd, revision, &next.open.subscribe());
    let (group, plural) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["plural"]));
    if known || !resources.is_empty() {
        core.catalogue.replace_custom(&group, &plural, resources);
    }
    served.insert(name, next);
}

/// Whether the definition is being deleted, and waits for the end of its objects.
fn is_terminating(crd: &Value) -> bool {
    let finalizers = crd["metadata"]["finalizers"].as_array();
    let is_kept = finalizers.is_some_and(|all| all.iter().any(|it| it == FINALIZER));
    is_kept && !crd["metadata"]["deletionTimestamp"].is_null()
}

/// Whether the definition reports that its objects are being deleted.
fn has_begun(crd: &Value) -> bool {
    find(crd, "Terminating").is_some_and(|it| it["reason"] == "InstanceDeletionInProgress")
}

fn load(core: &Core, name: &str) -> Option<(Value, u64)> {
    let record = core.store.get(&Key::new(STORED, "", name))?;
    Some((decoded(&record)?, record.revision))
}

fn all(core: &Core) -> Vec<Arc<Record>> {
    // Cannot fail: the present revision is never compacted.
    core.store
        .list(&Range::new(STORED, ""), None, None, 0)
        .map(|page| page.records)
        .unwrap_or_default()
}

fn decoded(record: &Record) -> Option<Value> {
    serde_json::from_slice(&record.object).ok()
}

fn name_in(object: &[u8]) -> String {
    let object: Value = serde_json::from_slice(object).unwrap_or_default();
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// Writes the status as the server. Returns false if another writer came first; that write carries out the effects too.
async fn write(core: &Core, crd: &Value) -> bool {
    let Some(resource) = core.catalogue.resource(GROUP, "v1", PLURAL) else {
        return false;
    };
    let call = Call {
        name: crd["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
        subresource: "status".to_owned(),
        content_type: "application/json".to_owned(),
        body: Bytes::from(crd.to_string()),
        ..Call::by_server(AGENT, Verb::Update, resource)
    };
    registry::write(core, &call, &mut Vec::new()).await.is_ok()
}
