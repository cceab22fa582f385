//! A kubelet that runs nothing: it reports of each Pod on a node what its annotation says, and
//! removes Pods that are being deleted once their containers have stopped.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    Decision,
    behaviour::{Behaviour, Exit},
    containers::{self, State},
    fields::{items, text},
    node, placement,
    write::Write,
};
use crate::meta;

/// The code of a container that is killed after its grace period.
const KILLED: Exit = Exit {
    code: 137,
    is_out_of_memory: false,
};
const STOPPED: Exit = Exit {
    code: 0,
    is_out_of_memory: false,
};
/// The code of a container that ends by SIGTERM before it has done its work.
const INTERRUPTED: Exit = Exit {
    code: 143,
    is_out_of_memory: false,
};

/// The next write for a Pod, and when to look at it again.
pub fn decide(pod: &Value, now: i64) -> Decision {
    if node::is_unassigned(pod) {
        return assign(pod, now);
    }
    if text(pod, "/spec/nodeName").is_empty() {
        return Decision::default();
    }
    let is_finished = ["Succeeded", "Failed"].contains(&text(pod, "/status/phase"));
    if meta::is_deleting(pod) {
        let is_last = meta::number(pod, "deletionGracePeriodSeconds") == Some(0);
        if is_finished && !is_last {
            return Write::Delete(pod.clone(), Some(0)).into();
        }
        if !is_finished {
            return stop(pod, now);
        }
    }
    match is_finished {
        true => Decision::default(),
        false => report(pod, now),
    }
}

fn assign(pod: &Value, now: i64) -> Decision {
    let behaviour = Behaviour::of(pod);
    if !behaviour.is_ok_and(|behaviour| behaviour.is_unschedulable) {
        let mut assigned = pod.clone();
        assigned["spec"]["nodeName"] = json!(placement::target(pod).unwrap_or(node::NAME));
        return Write::Bind(assigned).into();
    }
    unschedulable(pod, "1 node(s) didn't satisfy the annotation.", now)
}

/// The status of a Pod that no node takes.
pub(super) fn unschedulable(pod: &Value, why: &str, now: i64) -> Decision {
    let message = format!("0/1 nodes are available: {why}");
    let mut status = pod["status"].clone();
    let values = ["False", "Unschedulable", &message];
    status["conditions"] = json!([condition(pod, "PodScheduled", values, now)]);
    Decision::about_status(pod, status, None)
}

/// The status of a Pod whose containers are to run.
fn report(pod: &Value, now: i64) -> Decision {
    let started = time::seconds(text(pod, "/status/startTime")).unwrap_or(now);
    let behaviour = Behaviour::of(pod);
    let state = |container: &Value| match &behaviour {
        Err(why) => State::waiting("CreateContainerConfigError", why),
        Ok(behaviour) if !behaviour.is_pulled => {
            let image = text(container, "/image");
            let message = format!("Back-off pulling image {image:?}: ErrImagePull: the annotation says so");
            State::waiting("ImagePullBackOff", &message)
        }
        Ok(behaviour) => containers::state(pod, text(container, "/name"), behaviour, [started, now]),
    };
    let has_begun = behaviour.as_ref().is_ok_and(|behaviour| behaviour.is_pulled);
    let initial = |container: &Value| match has_begun {
        true if is_sidecar(container) => State {
            is_ready: true,
            is_started: true,
            state: json!({"running": {"startedAt": time::text(started)}}),
            ..State::default()
        },
        true => State {
            is_ready: true,
            ..State::ended(started, started, STOPPED)
        },
        false => state(container),
    };
    let init: Vec<State> = items(pod, "/spec/initContainers").iter().map(initial).collect();
    let main = items(pod, "/spec/containers").iter();
    let main: Vec<State> = match has_begun || init.is_empty() {
        true => main.map(state).collect(),
        false => main.map(|_| State::waiting("PodInitializing", "")).collect(),
    };
    let again = main.iter().filter_map(|state| state.next).min();
    Decision::about_status(pod, status(pod, [&init, &main], [started, now]), again)
}

/// The status of a Pod that is being deleted: as before until its containers have stopped, or are killed.
fn stop(pod: &Value, now: i64) -> Decision {
    let grace = meta::number(pod, "deletionGracePeriodSeconds").unwrap_or_default();
    let end = time::seconds(meta::text(pod, "deletionTimestamp")).unwrap_or(now);
    let takes = Behaviour::of(pod).map_or(0, |behaviour| behaviour.stop_after);
    let stopped = end - grace + takes.min(grace);
    if now < stopped {
        return Decision::at(stopped);
    }
    let started = time::seconds(text(pod, "/status/startTime")).unwrap_or(now);
    let exit = match text(pod, "/spec/restartPolicy") {
        _ if takes > grace => KILLED,
        "OnFailure" | "Never" => INTERRUPTED,
        _ => STOPPED,
    };
    let ended = |list: &str| -> Vec<State> {
        let all = items(pod, list).iter();
        all.map(|_| State::ended(started, stopped.max(started), exit)).collect()
    };
    let [init, main] = ["/spec/initContainers", "/spec/containers"].map(ended);
    Decision::about_status(pod, status(pod, [&init, &main], [started, now]), None)
}

fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

/// The status with these states of the init containers and of the others.
fn status(pod: &Value, [init, main]: [&[State]; 2], [started, now]: [i64; 2]) -> Value {
    let mut status = pod["status"].clone();
    let address = address(meta::text(pod, "uid"));
    for (field, value) in [
        ("startTime", json!(time::text(started))),
        ("hostIP", json!(node::ADDRESS)),
        ("hostIPs", json!([{"ip": node::ADDRESS}])),
        ("podIP", json!(address)),
        ("podIPs", json!([{"ip": address}])),
        ("phase", json!(phase(main))),
        (
            "observedGeneration",
            json!(meta::number(pod, "generation").unwrap_or(1)),
        ),
    ] {
        status[field] = value;
    }
    for (list, field, states) in [
        ("/spec/initContainers", "initContainerStatuses", init),
        ("/spec/containers", "containerStatuses", main),
    ] {
        let all = items(pod, list).iter().zip(states);
        let all: Vec<Value> = all
            .map(|(container, state)| container_status(pod, container, state))
            .collect();
        if !all.is_empty() {
            status[field] = json!(all);
        }
    }
    status["conditions"] = json!(conditions(pod, [init, main], now));
    status
}

fn phase(main: &[State]) -> &'static str {
    let has_ended = |state: &State| state.exit.is_some();
    let has_run = |state: &State| state.state["waiting"].is_null() || state.restarts > 0 || state.last.is_some();
    if main.iter().all(has_ended) {
        return match main.iter().all(|state| state.exit == Some(0)) {
            true => "Succeeded",
            false => "Failed",
        };
    }
    if main.iter().all(has_run) { "Running" } else { "Pending" }
}

fn conditions(pod: &Value, [init, main]: [&[State]; 2], now: i64) -> Vec<Value> {
    const FINE: [&str; 3] = ["True", "", ""];
    let unready = |states: &[State], list: &str| -> Vec<String> {
        let all = items(pod, list).iter().zip(states).filter(|(_, state)| !state.is_ready);
        all.map(|(container, _)| text(container, "/name").to_owned()).collect()
    };
    let initial = unready(init, "/spec/initContainers");
    let names = [unready(init, "/spec/initContainers"), unready(main, "/spec/containers")].concat();
    let message = format!("containers with unready status: [{}]", names.join(" "));
    let waiting = format!("containers with incomplete status: [{}]", initial.join(" "));
    let ready = match phase(main) {
        "Succeeded" => ["False", "PodCompleted", ""],
        "Failed" => ["False", "PodFailed", ""],
        _ if names.is_empty() => FINE,
        _ => ["False", "ContainersNotReady", &message],
    };
    let initialized = match initial.is_empty() || phase(main) != "Pending" {
        true => FINE,
        false => ["False", "ContainersNotInitialized", &waiting],
    };
    let gates = items(pod, "/spec/readinessGates").iter();
    let is_set = |gate: &Value| {
        let found = items(pod, "/status/conditions")
            .iter()
            .find(|it| it["type"] == gate["conditionType"]);
        found.is_some_and(|it| it["status"] == "True")
    };
    let gated = match ready == FINE && !gates.clone().all(is_set) {
        true => [
            "False",
            "ReadinessGatesNotReady",
            "a condition of the readiness gates is not true",
        ],
        false => ready,
    };
    let own = [
        ("PodReadyToStartContainers", FINE),
        ("Initialized", initialized),
        ("Ready", gated),
        ("ContainersReady", ready),
        ("PodScheduled", FINE),
    ];
    let foreign = items(pod, "/status/conditions").iter();
    let foreign = foreign.filter(|it| !own.iter().any(|(name, _)| it["type"] == *name));
    let own = own.iter().map(|(name, values)| condition(pod, name, *values, now));
    own.chain(foreign.cloned()).collect()
}

/// A condition of the Pod. The time of its transition changes with its status.
fn condition(pod: &Value, name: &str, [status, reason, message]: [&str; 3], now: i64) -> Value {
    let before = items(pod, "/status/conditions").iter().find(|it| it["type"] == name);
    let same = before.filter(|it| it["status"] == status);
    let since = same.map_or_else(|| json!(time::text(now)), |it| it["lastTransitionTime"].clone());
    let mut condition = json!({
        "type": name, "status": status, "lastProbeTime": null, "lastTransitionTime": since,
        "observedGeneration": meta::number(pod, "generation").unwrap_or(1),
    });
    for (field, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            condition[field] = json!(text);
        }
    }
    condition
}

fn container_status(pod: &Value, container: &Value, state: &State) -> Value {
    let image = text(container, "/image");
    let has_run = state.state["waiting"].is_null() || state.last.is_some();
    let mut status = json!({
        "name": text(container, "/name"), "state": state.state, "lastState": state.last.clone().unwrap_or(json!({})),
        "ready": state.is_ready, "restartCount": state.restarts, "image": image, "imageID": "",
        "started": state.is_started,
    });
    if has_run {
        let id = format!(
            "none://{}-{}-{}",
            meta::text(pod, "uid"),
            text(container, "/name"),
            state.restarts
        );
        status["containerID"] = json!(id);
        status["imageID"] = json!(image);
    }
    status
}

/// An address for the Pod of this uid. Nothing listens there.
fn address(uid: &str) -> String {
    let bits = uid
        .get(..6)
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .unwrap_or_default();
    let [_, second, third, fourth] = bits.to_be_bytes();
    format!("10.{}.{third}.{}", second | 0x80, fourth.clamp(1, 254))
}
