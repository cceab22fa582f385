//! NamespaceLifecycle: nothing comes into a namespace that is not there or terminates, and some namespaces stay.

use std::{borrow::Cow, sync::Arc};

use serde::Deserialize;

use super::{Attributes, Objects, Operation};
use crate::{
    state::Core,
    status::{Status, Subject},
    store::{Key, Record},
};

/// Where the store keeps namespaces.
const NAMESPACES: &str = "/namespaces";
/// What answers about a namespace name.
const SUBJECT: Subject = Subject::new("", "namespaces");
/// Namespaces that nobody can delete.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Upstream's plugin does all of this among the mutating ones, and lets every other deletion pass.
///
/// # Errors
/// 404 for a namespace that is not there; 403 for a creation in one that terminates, and for the deletion of one that
/// stays.
pub(super) fn admit(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    match attributes.operation {
        Operation::Delete => deletion(attributes, objects),
        Operation::Update => home(core, attributes).map(|_| ()),
        Operation::Create => creation(core, attributes, objects),
    }
}

fn deletion(attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let subject = attributes.call.subject();
    if subject != SUBJECT || !IMMORTAL.contains(&objects.name()) {
        return Ok(());
    }
    Err(Status::forbidden(
        subject,
        objects.name(),
        "this namespace may not be deleted",
    ))
}

fn creation(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let Some(home) = home(core, attributes)? else {
        return Ok(());
    };
    if !is_terminating(&home)? {
        return Ok(());
    }
    let (subject, namespace) = (attributes.call.subject(), &home.key.name);
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let cause = format!("namespace {namespace} is being terminated");
    let status = Status::forbidden(subject, objects.given_name(), &why);
    Err(status.because("NamespaceTerminating", &cause, "metadata.namespace"))
}

/// The namespace of the request; none for cluster-scoped kinds.
fn home(core: &Core, attributes: &Attributes<'_>) -> Result<Option<Arc<Record>>, Status> {
    let namespace = attributes.call.namespace();
    if namespace.is_empty() {
        return Ok(None);
    }
    let missing = || Status::not_found(SUBJECT, namespace);
    let found = core.store.get(&Key::new(NAMESPACES, "", namespace));
    found.ok_or_else(missing).map(Some)
}

/// Whether a namespace is on its way out. Every creation asks, so nothing else of it is read.
fn is_terminating(namespace: &Record) -> Result<bool, Status> {
    #[derive(Deserialize)]
    struct Namespace<'a> {
        #[serde(borrow, default)]
        status: Phase<'a>,
    }
    #[derive(Default, Deserialize)]
    struct Phase<'a> {
        #[serde(borrow, default)]
        phase: Option<Cow<'a, str>>,
    }
    let read: Result<Namespace, _> = serde_json::from_slice(&namespace.object);
    let found = read.map_err(|error| Status::internal(&error.to_string()))?;
    Ok(found.status.phase.as_deref() == Some("Terminating"))
}
