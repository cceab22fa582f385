//! The row of a Pod: its readiness, and the one word that sums up its state.

use serde_json::{Value, json};

use crate::kinds::{
    located::Located,
    row::{Row, or, since},
};

/// The sums over all containers.
#[derive(Default)]
struct Summary {
    reason: String,
    ready: usize,
    total: usize,
    restarts: i64,
    sidecar_restarts: i64,
    /// The latest times at which earlier runs of any container, and of sidecars, ended. Times in this form sort as
    /// texts.
    last: String,
    sidecar_last: String,
    initializing: bool,
}

pub(in crate::kinds) fn cells(row: &Row<'_>) -> Vec<Value> {
    let summary = summary(row);
    let mut restarts = summary.restarts.to_string();
    if summary.restarts != 0 && !summary.last.is_empty() {
        let last = json!(summary.last);
        restarts = format!("{restarts} ({} ago)", since(&Located::root(&last), row.now));
    }
    let ip = row.get("status.podIPs").items().next();
    let ip = ip.map_or("", |ip| ip.get("ip").str());
    vec![
        row.name(),
        json!(format!("{}/{}", summary.ready, summary.total)),
        json!(summary.reason),
        json!(restarts),
        row.age(),
        or(ip, "<none>"),
        or(row.get("spec.nodeName").str(), "<none>"),
        or(row.get("status.nominatedNodeName").str(), "<none>"),
        gates(row),
    ]
}

fn summary(row: &Row<'_>) -> Summary {
    let phase = row.get("status.phase").str();
    let said = row.get("status.reason").str();
    let mut summary = Summary {
        reason: if said.is_empty() { phase } else { said }.to_owned(),
        total: row.get("spec.containers").len(),
        ..Summary::default()
    };
    for condition in row.get("status.conditions").items() {
        if condition.get("type").str() == "PodScheduled" && condition.get("reason").str() == "SchedulingGated" {
            "SchedulingGated".clone_into(&mut summary.reason);
        }
    }
    init_containers(row, &mut summary);
    if !summary.initializing || has_condition(row, "Initialized") {
        main_containers(row, &mut summary);
    }
    if row.is_deleted() && said == "NodeLost" {
        "Unknown".clone_into(&mut summary.reason);
    } else if row.is_deleted() && !matches!(phase, "Succeeded" | "Failed") {
        "Terminating".clone_into(&mut summary.reason);
    }
    summary
}

fn init_containers(row: &Row<'_>, summary: &mut Summary) {
    let is_sidecar = |name: &str| {
        let mut specs = row.get("spec.initContainers").items();
        specs.any(|spec| spec.get("name").str() == name && spec.get("restartPolicy").str() == "Always")
    };
    let specs = row.get("spec.initContainers");
    summary.total += specs
        .items()
        .filter(|spec| spec.get("restartPolicy").str() == "Always")
        .count();
    for (index, status) in row.get("status.initContainerStatuses").items().enumerate() {
        let sidecar = is_sidecar(status.get("name").str());
        let restarts = status.get("restartCount").int();
        let ended = status.at("lastState.terminated.finishedAt").str();
        summary.restarts += restarts;
        later(&mut summary.last, ended);
        if sidecar {
            summary.sidecar_restarts += restarts;
            later(&mut summary.sidecar_last, ended);
        }
        let terminated = status.at("state.terminated");
        if terminated.is_set() && terminated.get("exitCode").int() == 0 {
            continue;
        }
        if sidecar && status.get("started").is_true() {
            summary.ready += usize::from(status.get("ready").is_true());
            continue;
        }
        let waiting = status.at("state.waiting.reason").str();
        summary.reason = if terminated.is_set() {
            format!("Init:{}", end(&terminated))
        } else if !waiting.is_empty() && waiting != "PodInitializing" {
            format!("Init:{waiting}")
        } else {
            format!("Init:{index}/{}", specs.len())
        };
        summary.initializing = true;
        break;
    }
}

fn main_containers(row: &Row<'_>, summary: &mut Summary) {
    summary.restarts = summary.sidecar_restarts;
    summary.last.clone_from(&summary.sidecar_last);
    let (mut running, mut error) = (false, String::new());
    let statuses: Vec<Located<'_>> = row.get("status.containerStatuses").items().collect();
    for status in statuses.iter().rev() {
        summary.restarts += status.get("restartCount").int();
        later(&mut summary.last, status.at("lastState.terminated.finishedAt").str());
        let (waiting, terminated) = (status.at("state.waiting.reason").str(), status.at("state.terminated"));
        if !waiting.is_empty() {
            waiting.clone_into(&mut summary.reason);
        } else if terminated.is_set() {
            summary.reason = end(&terminated);
            if terminated.get("exitCode").int() != 0 {
                error.clone_from(&summary.reason);
            }
        } else if status.get("ready").is_true() && status.at("state.running").is_set() {
            running = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" {
        if running && has_condition(row, "Ready") {
            "Running".clone_into(&mut summary.reason);
        } else if !error.is_empty() {
            summary.reason = error;
        } else if running {
            "NotReady".clone_into(&mut summary.reason);
        }
    }
}

fn end(terminated: &Located<'_>) -> String {
    let (reason, signal) = (terminated.get("reason").str(), terminated.get("signal").int());
    match (reason, signal) {
        ("", 0) => format!("ExitCode:{}", terminated.get("exitCode").int()),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn later(last: &mut String, other: &str) {
    if other > last.as_str() {
        other.clone_into(last);
    }
}

fn has_condition(row: &Row<'_>, name: &str) -> bool {
    let mut conditions = row.get("status.conditions").items();
    conditions.any(|condition| condition.get("type").str() == name && condition.get("status").str() == "True")
}

fn gates(row: &Row<'_>) -> Value {
    let gates = row.get("spec.readinessGates");
    if gates.len() == 0 {
        return json!("<none>");
    }
    let open = gates
        .items()
        .filter(|gate| has_condition(row, gate.get("conditionType").str()))
        .count();
    json!(format!("{open}/{}", gates.len()))
}
