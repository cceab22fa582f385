//! Connections to the containers of a Pod, which upstream forwards to the kubelet of the Pod's node. This server has no kubelet: a
//! Pod without a node gets upstream's answer, and a Pod with one a 501.

use kubewright_machinery::cause::Path;
use serde_json::Value;

use super::{options, pod};
use crate::{
    call::Call,
    meta,
    registry::Answer,
    state::Core,
    status::{Status, Subject},
};

/// The fields of a Pod that have containers.
const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// The log of a container; empty for a Pod without a node.
///
/// # Errors
/// 422 for invalid options, 404 if there is no such Pod, 400 if there is no such container, 501 for a Pod with a node.
pub(super) fn log(core: &Core, call: &Call) -> Result<Answer, Status> {
    check_options(call)?;
    let pod = pod::read(core, call)?;
    check_container(call.parameter("container").unwrap_or_default(), &pod)?;
    match node(&pod) {
        "" => Ok(Answer::Nothing),
        _ => Err(no_kubelet(call)),
    }
}

/// Connects to a container.
///
/// # Errors
/// The errors of admission; 404 if there is no such Pod, 400 if there is no such container or the Pod has no node, 501 for a Pod with a node.
pub(super) async fn stream(core: &Core, call: &Call) -> Result<Answer, Status> {
    let options = options::admitted(core, call).await?;
    let pod = pod::read(core, call)?;
    check_container(options["container"].as_str().unwrap_or_default(), &pod)?;
    Err(refusal(call, &pod))
}

/// Connects to ports.
///
/// # Errors
/// The errors of admission; 404 if there is no such Pod, 400 if it has no node, 501 if it has one.
pub(super) async fn forward(core: &Core, call: &Call) -> Result<Answer, Status> {
    options::admitted(core, call).await?;
    let pod = pod::read(core, call)?;
    Err(refusal(call, &pod))
}

fn refusal(call: &Call, pod: &Value) -> Status {
    match node(pod) {
        "" => Status::bad_request(format!("pod {} does not have a host assigned", call.name)),
        _ => no_kubelet(call),
    }
}

fn no_kubelet(call: &Call) -> Status {
    Status::not_implemented(&format!("the subresource {} of a Pod on a node", call.subresource))
}

fn node(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

/// Checks the name of a container, which may be empty if the Pod has only one.
fn check_container(container: &str, pod: &Value) -> Result<(), Status> {
    let names = |list: &str| {
        let items = pod["spec"][list].as_array().into_iter().flatten();
        let names = items.map(|it| it["name"].as_str().unwrap_or_default());
        names.collect::<Vec<_>>()
    };
    let all: Vec<&str> = LISTS.iter().flat_map(|list| names(list)).collect();
    let pod = meta::text(pod, "name");
    match container {
        "" if names("containers").len() == 1 => Ok(()),
        "" => Err(Status::bad_request(format!(
            "a container name must be specified for pod {pod}, choose one of: [{}]",
            all.join(" ")
        ))),
        name if all.contains(&name) => Ok(()),
        name => Err(Status::bad_request(format!(
            "container {name} is not valid for pod {pod}"
        ))),
    }
}

/// Checks the options of a log.
fn check_options(call: &Call) -> Result<(), Status> {
    let number = |name: &str| call.parameter(name).and_then(|text| text.parse::<i64>().ok());
    let mut causes = Vec::new();
    if let Some(lines) = number("tailLines").filter(|lines| *lines < 0) {
        causes.push(Path::new("tailLines").invalid(lines, "must be greater than or equal to 0"));
    }
    if let Some(bytes) = number("limitBytes").filter(|bytes| *bytes < 1) {
        causes.push(Path::new("limitBytes").invalid(bytes, "must be greater than 0"));
    }
    match (number("sinceSeconds"), call.parameter("sinceTime")) {
        (Some(_), Some(_)) => {
            let why = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            // Upstream writes a path without a name so.
            causes.push(Path::new("[]").forbidden(why));
        }
        (Some(seconds), None) if seconds < 1 => {
            causes.push(Path::new("sinceSeconds").invalid(seconds, "must be greater than 0"));
        }
        _ => {}
    }
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(Subject::new("", "PodLogOptions"), &call.name, &causes))
}
