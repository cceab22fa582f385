//! A Binding assigns a Pod to a node.

use kubewright_machinery::names::{self, Unit};
use kubewright_schema::{Cause, cause::Path};
use serde_json::Value;

use super::{
    admit,
    pod::{self, PodCondition},
};
use crate::{
    admission::{Attributes, Operation, Phase},
    call::Call,
    kinds, meta,
    registry::{Posted, direct},
    state::Core,
    status::{Status, Subject},
};

/// Binds the Pod named in the path, or, for `bindings`, the Pod with the Binding's name.
///
/// # Errors
/// 400 if the Binding's name is not the path's, 404 if there is no such Pod, 409 if the Pod has another UID or resource
/// version or cannot be bound, 500 if the Binding is invalid.
pub(super) async fn bind(core: &Core, call: &Call, posted: Posted) -> Result<(), Status> {
    let Posted {
        object: mut binding,
        dry_run,
    } = posted;
    let attributes = Attributes {
        operation: Operation::Create,
        call,
        dry_run,
    };
    if call.name.is_empty() {
        // The UID of a Binding is a precondition only in a request to the subresource of a Pod.
        meta::system::wipe(&mut binding);
    }
    admit(Phase::Mutating, core, &attributes, &mut binding).await?;
    let name = meta::text(&binding, "name").to_owned();
    if !call.name.is_empty() && call.name != name {
        return Err(Status::bad_request("name in URL does not match name in Binding object"));
    }
    check(&binding)?;
    admit(Phase::Validating, core, &attributes, &mut binding).await?;
    if name.is_empty() {
        return Err(Status::bad_request("Name parameter required."));
    }
    let about = pod::call(core, call, &name)?;
    let wanted = direct::Preconditions {
        uid: meta::text(&binding, "uid"),
        resource_version: meta::text(&binding, "resourceVersion"),
        dry_run,
    };
    let now = core.now();
    direct::amend(core, &about, dry_run, &|pod| {
        direct::check(core, &about, &wanted, pod)?;
        match refusal(pod) {
            Some(why) => Err(Status::conflict(Subject::new("", "pods/binding"), &name, &why)),
            None => {
                assign(pod, &binding, now);
                Ok(())
            }
        }
    })?;
    Ok(())
}

/// Validates a Binding. As upstream, an invalid one is answered with 500, not 422.
fn check(binding: &Value) -> Result<(), Status> {
    let target = |field: &str| binding["target"][field].as_str().unwrap_or_default();
    let (at, mut causes) = (Path::new("target"), Vec::new());
    if !["", "Node"].contains(&target("kind")) {
        causes.push(at.child("kind").unsupported(target("kind"), &["Node", "<empty>"]));
    }
    if target("name").is_empty() {
        causes.push(at.child("name").required(""));
    } else if causes.is_empty() {
        let faults = names::subdomain(target("name"), Unit::Characters);
        causes.extend(faults.iter().map(|rule| at.child("name").invalid(target("name"), rule)));
    }
    match causes.as_slice() {
        [] => Ok(()),
        [cause] => Err(Status::new(500, "", cause.to_string())),
        causes => {
            let causes: Vec<String> = causes.iter().map(Cause::to_string).collect();
            Err(Status::new(500, "", format!("[{}]", causes.join(", "))))
        }
    }
}

/// The reason that a Pod cannot be bound.
fn refusal(pod: &Value) -> Option<String> {
    let name = meta::text(pod, "name");
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let gates = pod["spec"]["schedulingGates"].as_array();
    if meta::is_deleting(pod) {
        return Some(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    if !node.is_empty() {
        return Some(format!("pod {name} is already assigned to node \"{node}\""));
    }
    let is_gated = gates.is_some_and(|gates| !gates.is_empty());
    is_gated.then(|| format!("pod {name} has non-empty .spec.schedulingGates"))
}

fn assign(pod: &mut Value, binding: &Value, now: i64) {
    if let Some(spec) = pod::section(pod, "spec") {
        spec.insert("nodeName".to_owned(), binding["target"]["name"].clone());
    }
    if let Some(status) = pod::section(pod, "status") {
        status.remove("nominatedNodeName");
    }
    for field in ["annotations", "labels"] {
        let added = meta::of(binding).get(field).and_then(Value::as_object);
        let Some(added) = added.filter(|added| !added.is_empty()) else {
            continue;
        };
        if let Some(fields) = pod::section(&mut pod["metadata"], field) {
            fields.extend(added.clone());
        }
    }
    kinds::drop_old_annotations(pod);
    let scheduled = PodCondition {
        name: "PodScheduled",
        reason: "",
        message: "",
    };
    pod::set(pod, &scheduled, now);
}
