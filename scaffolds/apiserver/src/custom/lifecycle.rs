//! The effects of writing a CustomResourceDefinition: its names are accepted, it is established, and its resources are
//! served. When it is deleted, its objects are deleted with it.
//!
//! The real server has a controller for each of these steps. Here the write that causes them completes them all before
//! it is answered. The intermediate states of the definition are the same, and watches see each of them. If a write of its status
//! is refused, the caller has to try again later.

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
    status::{Status, Subject},
    store::Key,
};
use bytes::Bytes;
use kubewright_machinery::time;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
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
    /// The definitions with a refused write, which a task sends again.
    refused: BTreeSet<String>,
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
    /// Updates the catalogue and every definition at the start, when the store may have definitions already. Returns the
    /// definitions to [`retry`](Self::retry).
    pub(crate) async fn restore(&self, core: &Core) -> BTreeSet<String> {
        let all = core.store.all(STORED, "");
        let mut known = self.known.lock().await;
        for record in &all {
            let crd: Option<Value> = record.read().ok();
            known.groups.put(&record.key.name, crd.as_ref());
            // All are served before a write may have to wait.
            crd.iter()
                .for_each(|crd| _ = publish(core, crd, record.revision, &mut known.served));
        }
        drop(known);
        let mut refused = BTreeSet::new();
        for record in all {
            refused.append(&mut self.settle(core, &record.key.name).await);
        }
        refused
    }

    /// Whether a write has effects: one of a definition, or of an object for whose deletion a definition waits.
    pub(crate) fn follows(call: &Call) -> bool {
        is_definition(call) || call.resource.rules().forbids_creation.is_some()
    }

    /// The definition whose deletion waits for the objects of a call now, if it does.
    pub(crate) fn waiting_for(core: &Core, call: &Call) -> Option<String> {
        if call.resource.rules().is_built_in() {
            return None;
        }
        let Resource { group, names, .. } = call.resource.as_ref();
        let snapshot = core.catalogue.snapshot();
        snapshot.stored(&call.resource.store_name())?.rules().forbids_creation?;
        Some(format!("{}.{group}", names.plural))
    }

    /// Carries out the effects of a successful write. Returns the definitions to [`retry`](Self::retry).
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

    /// Carries out the steps of a definition, as after a refused write. Returns the definitions to retry once more.
    pub(crate) async fn retry(&self, core: &Core, name: &str) -> BTreeSet<String> {
        self.known.lock().await.refused.remove(name);
        self.settle(core, name).await
    }

    /// Carries out all steps for a definition, and for the definitions that its change unblocks. Returns those with a refused
    /// write that no task sends again.
    async fn settle(&self, core: &Core, name: &str) -> BTreeSet<String> {
        let mut known = self.known.lock().await;
        let mut todo = BTreeSet::from([name.to_owned()]);
        let mut refused = BTreeSet::new();
        while let Some(name) = todo.pop_first() {
            loop {
                match step(core, &name, &mut known).await {
                    Ok(None) => break,
                    Ok(Some(Changed::Status)) => {}
                    Ok(Some(Changed::Names)) => todo.extend(known.groups.unsettled(&name)),
                    Err(_) => {
                        if known.refused.insert(name.clone()) {
                            refused.insert(name);
                        }
                        break;
                    }
                }
            }
        }
        refused
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
///
/// # Errors
/// The Status of the refused write.
async fn step(core: &Core, name: &str, known: &mut Known) -> Result<Option<Changed>, Status> {
    let Some((crd, revision)) = load(core, name) else {
        known.groups.put(name, None);
        let served = known.served.remove(name).and(name.split_once('.'));
        return Ok(served.map(|(plural, group)| {
            core.catalogue.remove_custom(group, plural);
            Changed::Names
        }));
    };
    known.groups.put(name, Some(&crd));
    let served = publish(core, &crd, revision, &mut known.served);
    let mut next = crd.clone();
    let now = time::text(core.now());
    let is_ending = is_terminating(&crd) && terminate(core, &mut next, &now, &mut served.emptied).is_some();
    let are_named = !is_ending && !names::are_settled(&crd) && names::accept(&mut next, known.groups.taken(name), &now);
    if !is_ending && !are_named {
        let condition = established(&crd).or_else(|| approval::condition(&crd));
        let Some(condition) = condition.filter(|it| !it.stands_in(&crd)) else {
            return Ok(None);
        };
        condition.set(&mut next, &now);
    }
    write(core, &next).await?;
    Ok(Some(if are_named { Changed::Names } else { Changed::Status }))
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

/// Takes a step of a definition's deletion. `None` while finalizers keep objects of it.
fn terminate(core: &Core, crd: &mut Value, now: &str, emptied: &mut Option<u64>) -> Option<()> {
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
    } else if instances::delete(core, crd, emptied) {
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
fn publish<'s>(core: &Core, crd: &Value, revision: u64, served: &'s mut BTreeMap<String, Served>) -> &'s mut Served {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = text(&crd["metadata"]["name"]);
    let made_from = [crd["spec"].clone(), crd["status"]["acceptedNames"].clone()];
    let state = (holds(crd, "Established"), holds(crd, "Terminating"));
    let before = served.remove(&name);
    let known = before.is_some();
    let open = match before {
        Some(same) if same.made_from == made_from && same.state == state => {
            return served.entry(name).or_insert(same);
        }
        Some(same) if same.made_from == made_from => same.open,
        _ => watch::channel(()).0,
    };
    let next = Served {
        made_from,
        state,
        open,
        emptied: None,
    };
    let resources = resources::of(core, crd, revision, &next.open.subscribe());
    let (group, plural) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["plural"]));
    if known || !resources.is_empty() {
        core.catalogue.replace_custom(&group, &plural, resources);
    }
    served.entry(name).or_insert(next)
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
    Some((record.read().ok()?, record.revision))
}

fn name_in(object: &[u8]) -> String {
    let object: Value = serde_json::from_slice(object).unwrap_or_default();
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// Writes the status as the server.
///
/// # Errors
/// The Status of a refused write; 409 also if another writer came first.
async fn write(core: &Core, crd: &Value) -> Result<(), Status> {
    let resource = core.catalogue.resource(GROUP, "v1", PLURAL);
    let resource = resource.ok_or_else(Status::no_such_resource)?;
    let call = Call {
        name: crd["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
        subresource: "status".to_owned(),
        content_type: "application/json".to_owned(),
        body: Bytes::from(crd.to_string()),
        ..Call::by_server(AGENT, Verb::Update, resource)
    };
    registry::write(core, &call, &mut Vec::new()).await.map(drop)
}
