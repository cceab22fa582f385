//! The effects of writing a CustomResourceDefinition: its names are accepted, it is established, and its resources are
//! served. When it is deleted, its objects are deleted with it.
//!
//! The real server has a controller for each of these steps. Here the write that causes them completes them all before
//! it is answered. The intermediate states of the definition are the same, and watches see each of them.

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
}

impl Definitions {
    /// Updates the catalogue and every definition at the start, when the store may have definitions already.
    pub(crate) async fn restore(&self, core: &Core) {
        let all = all(core);
        let mut known = self.known.lock().await;
        for record in &all {
            known.groups.put(&record.key.name, decoded(record).as_ref());
        }
        drop(known);
        for record in all {
            self.settle(core, &record.key.name).await;
        }
    }

    /// Whether a write has effects: one of a definition, or of an object for whose deletion a definition waits.
    pub(crate) fn follows(call: &Call) -> bool {
        is_definition(call) || call.resource.rules().forbids_creation.is_some()
    }

    /// Carries out the effects of a successful write.
    pub(crate) async fn follow(&self, core: &Core, call: &Call, reply: &Reply) {
        match call.verb {
            _ if !is_definition(call) => {
                let Resource { group, names, .. } = call.resource.as_ref();
                self.settle(core, &format!("{}.{group}", names.plural)).await;
            }
            // Any definition may have been deleted.
            Verb::DeleteCollection => self.restore(core).await,
            // The name may have been generated.
            Verb::Create => self.settle(core, &name_in(&reply.object)).await,
            _ => self.settle(core, &call.name).await,
        }
    }

    /// Carries out all steps for a definition, and for those that its change unblocks.
    async fn settle(&self, core: &Core, name: &str) {
        let mut known = self.known.lock().await;
        let mut todo = BTreeSet::from([name.to_owned()]);
        while let Some(name) = todo.pop_first() {
            while let Some(changed) = step(core, &name, &mut known).await {
                if changed == Changed::Names {
                    todo.extend(known.groups.unsettled(&name));
                }
            }
        }
    }
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
    if has_finalizer(&crd) && !crd["metadata"]["deletionTimestamp"].is_null() {
        let emptied = known.served.get_mut(name).map(|served| &mut served.emptied);
        if terminate(core, &mut next, emptied, &now).await.is_some() {
            return write(core, &next).await.then_some(Changed::Status);
        }
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

/// Takes a step of a definition's deletion. `None` while finalizers keep some of its objects.
async fn terminate(core: &Core, crd: &mut Value, emptied: Option<&mut Option<u64>>, now: &str) -> Option<()> {
    let terminating = |status, reason, message| DefinitionCondition::new("Terminating", status, reason, message);
    let begun = find(crd, "Terminating").is_some_and(|it| it["reason"] == "InstanceDeletionInProgress");
    if !begun {
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
    } else if instances::delete(core, crd, emptied.unwrap_or(&mut None)).await {
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
        },
    };
    let resources = resources::of(core, crd, revision, &next.open.subscribe());
    let (group, plural) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["plural"]));
    if known || !resources.is_empty() {
        core.catalogue.replace_custom(&group, &plural, resources);
    }
    served.insert(name, next);
}

fn has_finalizer(crd: &Value) -> bool {
    let finalizers = crd["metadata"]["finalizers"].as_array();
    finalizers.is_some_and(|all| all.iter().any(|it| it == FINALIZER))
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
