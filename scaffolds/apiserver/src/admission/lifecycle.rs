//! NamespaceLifecycle: no objects are created in a missing or terminating namespace, and some namespaces cannot be deleted.

use std::borrow::Cow;

use serde::Deserialize;

use super::{Attributes, Objects, Operation};
use crate::{
    state::Core,
    status::{Status, Subject},
    store::{Key, Record},
};

/// The path of namespaces in the store.
const NAMESPACES: &str = "/namespaces";
/// The resource that errors about namespaces name.
const SUBJECT: Subject = Subject::new("", "namespaces");
/// Namespaces that nobody can delete.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Upstream's plugin runs among the mutating ones, and allows updates and all other deletions.
///
/// # Errors
/// 404 if the namespace does not exist, 403 if it is terminating, and 403 for the deletion of a protected namespace.
pub(super) fn admit(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    match attributes.operation {
        Operation::Delete => deletion(attributes, objects),
        Operation::Create => creation(core, attributes, objects),
        Operation::Update | Operation::Connect => Ok(()),
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
    let namespace = attributes.call.namespace();
    if namespace.is_empty() {
        return Ok(());
    }
    let found = core.store.get(&Key::new(NAMESPACES, "", namespace));
    let home = found.ok_or_else(|| Status::not_found(SUBJECT, namespace))?;
    if !is_terminating(&home)? {
        return Ok(());
    }
    let subject = attributes.call.subject();
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let cause = format!("namespace {namespace} is being terminated");
    let status = Status::forbidden(subject, objects.given_name(), &why);
    Err(status.because("NamespaceTerminating", &cause, "metadata.namespace"))
}

/// Whether a namespace is terminating. Every create request needs this: a namespace without the word `Terminating` is not
/// decoded, and of any other only the phase is.
fn is_terminating(namespace: &Record) -> Result<bool, Status> {
    const TERMINATING: &[u8] = br#""Terminating""#;
    if !namespace
        .object
        .windows(TERMINATING.len())
        .any(|word| word == TERMINATING)
    {
        return Ok(false);
    }
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
    let found: Namespace = serde_json::from_slice(&namespace.object)?;
    Ok(found.status.phase.as_deref() == Some("Terminating"))
}
