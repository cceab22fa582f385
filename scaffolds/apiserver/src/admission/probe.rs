//! A member for tests: it notes every write that it sees, and refuses, changes or holds up those that a test chooses. Each
//! thread has its own, and so has each test on a runtime of one thread.

use std::{cell::RefCell, sync::Arc};

use serde_json::Value;
use tokio::sync::Notify;

use super::{Attributes, Objects, Operation, Phase};
use crate::status::Status;

/// What was seen of a write.
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

/// What a probe does.
#[derive(Default)]
struct Probe {
    seen: Vec<Seen>,
    refuses: Option<Phase>,
    /// A label that all next states get.
    label: Option<&'static str>,
    /// Which write is held up, by phase and subresource, and what lets it go.
    holds: Option<(Phase, &'static str, Arc<Notify>)>,
}

thread_local! {
    static PROBE: RefCell<Probe> = RefCell::default();
}

/// What was seen since this was asked last.
pub fn seen() -> Vec<Seen> {
    PROBE.with_borrow_mut(|probe| std::mem::take(&mut probe.seen))
}

/// Refuses everything in a phase.
pub fn refuse(phase: Option<Phase>) {
    PROBE.with_borrow_mut(|probe| probe.refuses = phase);
}

/// Gives all next states a label.
pub fn label(name: &'static str) {
    PROBE.with_borrow_mut(|probe| probe.label = Some(name));
}

/// Holds up the next write of a subresource in a phase, until it is notified.
pub fn hold(phase: Phase, subresource: &'static str) -> Arc<Notify> {
    let gate = Arc::new(Notify::new());
    PROBE.with_borrow_mut(|probe| probe.holds = Some((phase, subresource, Arc::clone(&gate))));
    gate
}

/// Whether a write is held up.
pub fn is_holding() -> bool {
    PROBE.with_borrow(|probe| probe.holds.is_none())
}

pub(super) async fn admit(phase: Phase, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> Result<(), Status> {
    let (refuses, gate) = PROBE.with_borrow_mut(|probe| {
        probe.seen.push(Seen::of(phase, attributes, objects));
        if let (Phase::Mutating, Some(name), Some(new)) = (phase, probe.label, objects.new.as_deref_mut()) {
            new["metadata"]["labels"][name] = Value::from("");
        }
        let subresource = attributes.call.subresource.as_str();
        let held = probe.holds.take_if(|held| (held.0, held.1) == (phase, subresource));
        (probe.refuses == Some(phase), held.map(|(_, _, gate)| gate))
    });
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
