//! The options of a connection to a container: what the query says, as an object, which is what admission sees and may change.

use kubewright_machinery::go::quote;
use serde_json::{Value, json};

use super::admit;
use crate::{
    admission::{Attributes, Operation, Phase},
    call::Call,
    request::query,
    state::Core,
    status::Status,
};

/// The options of `exec` and `attach` that are switches.
const SWITCHES: [&str; 4] = ["stdin", "stdout", "stderr", "tty"];

/// Reads the options, and passes them through admission.
///
/// # Errors
/// 400 for a dry run, and for a port that is not a number of 16 bits; the refusal of a webhook or a policy.
pub(super) async fn admitted(core: &Core, call: &Call) -> Result<Value, Status> {
    if call.parameters("dryRun").next().is_some() {
        return Err(Status::bad_request("dryRun is not supported"));
    }
    let mut options = read(call).map_err(Status::bad_request)?;
    let attributes = Attributes {
        operation: Operation::Connect,
        call,
        dry_run: false,
    };
    for phase in [Phase::Mutating, Phase::Validating] {
        admit(phase, core, &attributes, &mut options).await?;
    }
    Ok(options)
}

/// The query as upstream's conversion of URL values reads it.
fn read(call: &Call) -> Result<Value, String> {
    let kind = match call.subresource.as_str() {
        "exec" => "PodExecOptions",
        "attach" => "PodAttachOptions",
        _ => "PodPortForwardOptions",
    };
    let mut options = json!({"kind": kind, "apiVersion": "v1"});
    if kind == "PodPortForwardOptions" {
        let ports = ports(call)?;
        if !ports.is_empty() {
            options["ports"] = json!(ports);
        }
        return Ok(options);
    }
    for name in SWITCHES {
        if call.parameter(name).is_some_and(query::is_true) {
            options[name] = json!(true);
        }
    }
    if let Some(container) = call.parameter("container").filter(|name| !name.is_empty()) {
        options["container"] = json!(container);
    }
    if kind == "PodExecOptions" {
        let command: Vec<&str> = call.parameters("command").collect();
        options["command"] = if command.is_empty() {
            Value::Null
        } else {
            json!(command)
        };
    }
    Ok(options)
}

fn ports(call: &Call) -> Result<Vec<u16>, String> {
    let texts = call.parameters("ports").flat_map(|text| text.split(','));
    let port = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        text.parse::<u16>().ok().filter(|_| is_number).ok_or_else(|| {
            let why = if is_number {
                "value out of range"
            } else {
                "invalid syntax"
            };
            format!(
                "cannot convert to []int32: strconv.ParseUint: parsing {}: {why}",
                quote(text)
            )
        })
    };
    texts.map(port).collect()
}
