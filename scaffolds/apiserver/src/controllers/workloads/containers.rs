//! The state of a container at a moment, as a function of its behaviour and of the time since its Pod has started.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    behaviour::{Behaviour, Exit},
    fields::text,
};
use crate::meta;

/// The delays before the second and later restarts, in seconds, as a kubelet has them: doubled, up to five minutes.
const FIRST_DELAY: i64 = 10;
const LONGEST_DELAY: i64 = 300;
/// A container that is restarted runs for this many seconds at least.
const SHORTEST_RUN: i64 = 1;

/// The state of a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    pub state: Value,
    pub last: Option<Value>,
    pub restarts: i64,
    pub is_ready: bool,
    pub is_started: bool,
    /// The code with which it has ended for good.
    pub exit: Option<i64>,
    /// When the state changes by itself.
    pub next: Option<i64>,
}

impl State {
    pub fn waiting(reason: &str, message: &str) -> Self {
        let mut waiting = json!({"reason": reason});
        if !message.is_empty() {
            waiting["message"] = json!(message);
        }
        Self {
            state: json!({"waiting": waiting}),
            ..Self::default()
        }
    }

    /// A container that has ended for good.
    pub fn ended(started: i64, at: i64, exit: Exit) -> Self {
        Self {
            state: json!({"terminated": terminated(started, at, exit)}),
            exit: Some(exit.code),
            ..Self::default()
        }
    }

    fn running(started: i64, behaviour: &Behaviour, now: i64) -> Self {
        let ready = behaviour.ready_after.map(|after| started + after);
        Self {
            state: json!({"running": {"startedAt": time::text(started)}}),
            is_ready: ready.is_some_and(|ready| ready <= now),
            is_started: true,
            next: ready.filter(|ready| *ready > now),
            ..Self::default()
        }
    }
}

/// A container of a Pod that started at `started`.
pub(super) fn state(pod: &Value, name: &str, behaviour: &Behaviour, [started, now]: [i64; 2]) -> State {
    let Some(exit) = behaviour.exit else {
        return State::running(started, behaviour, now);
    };
    let policy = text(pod, "/spec/restartPolicy");
    let restarts = policy != "Never" && (policy != "OnFailure" || exit.code != 0);
    if !restarts {
        let end = started + behaviour.exit_after;
        return match end <= now {
            true => State::ended(started, end, exit),
            false => until(end, State::running(started, behaviour, now)),
        };
    }
    let length = behaviour.exit_after.max(SHORTEST_RUN);
    let (mut start, mut last, mut count) = (started, None, 0);
    loop {
        let end = start + length;
        let delay = delay(count);
        let mut state = if now < end {
            until(end, State::running(start, behaviour, now))
        } else if now < end + delay {
            last = Some(terminated(start, end, exit));
            let [namespace, pod_name, uid] = ["namespace", "name", "uid"].map(|field| meta::text(pod, field));
            let message =
                format!("back-off {delay}s restarting failed container={name} pod={pod_name}_{namespace}({uid})");
            until(end + delay, State::waiting("CrashLoopBackOff", &message))
        } else {
            last = Some(terminated(start, end, exit));
            start = end + delay;
            count += 1;
            continue;
        };
        state.restarts = count;
        state.last = last.map(|last| json!({"terminated": last}));
        return state;
    }
}

/// The delay after a run: none after the first one.
fn delay(restarts: i64) -> i64 {
    match restarts {
        0 => 0,
        1..6 => FIRST_DELAY << (restarts - 1),
        _ => LONGEST_DELAY,
    }
}

fn until(at: i64, state: State) -> State {
    let next = state.next.map_or(at, |next| next.min(at));
    State {
        next: Some(next),
        ..state
    }
}

fn terminated(started: i64, at: i64, exit: Exit) -> Value {
    let reason = match exit {
        Exit {
            is_out_of_memory: true, ..
        } => "OOMKilled",
        Exit { code: 0, .. } => "Completed",
        _ => "Error",
    };
    json!({
        "exitCode": exit.code, "reason": reason, "startedAt": time::text(started), "finishedAt": time::text(at),
    })
}
