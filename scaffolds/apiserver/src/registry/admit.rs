//! What the admission of a real server refuses: content of namespaces that are not there or go away, and the deletion of
//! namespaces that must stay.

use std::{borrow::Cow, sync::Arc};

use serde::Deserialize;
use serde_json::Value;

use super::{storage, work::Work};
use crate::{authorize::Write, meta, status::Status, store::Record};

/// Namespaces that nobody can delete.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Whether an object may come into its namespace.
///
/// # Errors
/// 404 for a namespace that is not there; 403 for one that terminates, or while nothing of this kind may be created.
pub(super) fn creation(work: &Work, object: &Value) -> Result<(), Status> {
    let (resource, namespace) = (work.resource(), work.namespace());
    let name = match meta::text(object, "name") {
        "" => meta::text(object, "generateName"),
        name => name,
    };
    if let Some(why) = resource.strategy.forbids_creation() {
        return Err(Status::forbidden(work.subject(), name, why));
    }
    let Some(home) = home(work)? else { return Ok(()) };
    if !is_terminating(&home)? {
        return Ok(());
    }
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let cause = format!("namespace {namespace} is being terminated");
    let status = Status::forbidden(work.subject(), name, &why);
    Err(status.because("NamespaceTerminating", &cause, "metadata.namespace"))
}

/// Whether an object may change where it is.
///
/// # Errors
/// 404 for a namespace that is not there any more, although the object is.
pub(super) fn change(work: &Work) -> Result<(), Status> {
    home(work).map(|_| ())
}

/// Whether an object may be deleted.
///
/// # Errors
/// 403 for the namespaces that must stay.
pub(super) fn deletion(work: &Work, name: &str) -> Result<(), Status> {
    if work.subject() == ("", "namespaces") && IMMORTAL.contains(&name) {
        return Err(Status::forbidden(
            work.subject(),
            name,
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}

/// Whether a role or binding may grant what it grants.
///
/// # Errors
/// 403 for rights that the sender does not have.
pub(super) fn grant(work: &Work, new: &Value, old: Option<&Value>) -> Result<(), Status> {
    let (group, plural) = work.subject();
    if group != "rbac.authorization.k8s.io" || work.call.user.is_master() {
        return Ok(());
    }
    let write = Write {
        authorizer: &work.core.authorizer,
        store: &work.core.store,
        user: &work.call.user,
        resource: (group, plural),
        namespace: work.namespace(),
        name: &work.call.name,
    };
    match plural {
        "roles" | "clusterroles" => write.role(new, old),
        _ => write.binding(new, old),
    }
}

/// The namespace of the request; none for cluster-scoped kinds.
fn home(work: &Work) -> Result<Option<Arc<Record>>, Status> {
    let namespace = work.namespace();
    if namespace.is_empty() {
        return Ok(None);
    }
    let missing = || Status::not_found(("", "namespaces"), namespace);
    let found = work.core.store.get(&storage::namespace(namespace));
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
