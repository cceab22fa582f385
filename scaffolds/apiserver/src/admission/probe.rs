//! A member for tests: it records every write, and refuses, changes or delays those that a test selects. Its state is
//! per thread, so each test on a single-threaded runtime has its own.

use std::{cell::RefCell, sync::Arc};

use serde_json::Value;
use tokio::sync::Notify;

use super::{Attributes, Objects, Operation, Phase};
use crate::status::Status;

/// A recorded write.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    pub phase: Phase,
    pub operation: Operation,
    /// `apps/deployments/scale`.
    pub resource: String,
    /// `namespace/name`.
    pub object: String,
    pub user: String,
    pub dry_run: bool,
    /// The kinds of the next and of the present state.
    pub kinds: [Option<String>; 2],
}

/// The state of the probe.
#[derive(Default)]
struct Probe {
    seen: Vec<Seen>,
    refuses: Option<Phase>,
    /// The operation and the resource to refuse, and the code of the refusal.
    denies: Option<(Operation, &'static str, u16)>,
    /// A label that is added to all next states.
    label: Option<&'static str>,
    /// The phase and subresource of the write to delay, and the signal that lets it continue.
    holds: Option<(Phase, &'static str, Arc<Notify>)>,
}

thread_local! {
    static PROBE: RefCell<Probe> = RefCell::default();
}

/// Takes the writes recorded since the last call.
pub fn seen() -> Vec<Seen> {
    PROBE.with_borrow_mut(|probe| std::mem::take(&mut probe.seen))
}

/// Refuses all writes in a phase.
pub fn refuse(phase: Option<Phase>) {
    PROBE.with_borrow_mut(|probe| probe.refuses = phase);
}

/// The code with which [`deny`] causes a panic.
pub const PANIC: u16 = 0;

/// Refuses an operation on a resource (`apps/deployments/scale`) with a code, as only webhooks can.
pub fn deny(denied: Option<(Operation, &'static str, u16)>) {
    PROBE.with_borrow_mut(|probe| probe.denies = denied);
}

/// Adds a label to all next states.
pub fn label(name: &'static str) {
    PROBE.with_borrow_mut(|probe| probe.label = Some(name));
}

/// Delays the next write to a subresource in a phase until the returned value is notified.
pub fn hold(phase: Phase, subresource: &'static str) -> Arc<Notify> {
    let gate = Arc::new(Notify::new());
    PROBE.with_borrow_mut(|probe| probe.holds = Some((phase, subresource, Arc::clone(&gate))));
    gate
}

/// Whether a write is waiting.
pub fn is_holding() -> bool {
    PROBE.with_borrow(|probe| probe.holds.is_none())
}

pub(super) async fn admit(phase: Phase, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> Result<(), Status> {
    let seen = Seen::of(phase, attributes, objects);
    let (refuses, denied, gate) = PROBE.with_borrow_mut(|probe| {
        let denied = probe
            .denies
            .filter(|denied| (denied.0, denied.1) == (seen.operation, seen.resource.as_str()));
        probe.seen.push(seen);
        if let (Phase::Mutating, Some(name), Some(new)) = (phase, probe.label, objects.new.as_deref_mut()) {
            new["metadata"]["labels"][name] = Value::from("");
        }
        let subresource = attributes.call.subresource.as_str();
        let held = probe.holds.take_if(|held| (held.0, held.1) == (phase, subresource));
        (probe.refuses == Some(phase), denied, held.map(|(_, _, gate)| gate))
    });
    if let Some((_, _, code)) = denied {
        assert_ne!(code, PANIC, "the probe panics");
        return Err(Status::new(code, "", "the probe denies".to_owned()));
    }
    if let Some(gate) = gate {
        gate.notified().await;
    }
    match refuses {
        true => Err(Status::forbidden(
            attributes.call.subject(),
            objects.name(),
            "the probe refuses",
        )),
        false => Ok(()),
    }
}

impl Seen {
    fn of(phase: Phase, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Self {
        let call = attributes.call;
        let kind = |object: Option<&Value>| object.map(|object| object["kind"].as_str().unwrap_or_default().to_owned());
        Self {
            phase,
            operation: attributes.operation,
            resource: format!("{}/{}", call.resource.store_name(), call.subresource),
            object: format!("{}/{}", call.namespace(), objects.name()),
            user: call.user.name.clone(),
            dry_run: attributes.dry_run,
            kinds: [kind(objects.new.as_deref()), kind(objects.old)],
        }
    }
}
