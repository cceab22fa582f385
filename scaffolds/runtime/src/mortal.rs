//! The end of an operator under test in the middle of its work: after so many writes.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    client::WriteGate,
    error::{Error, Result},
};

/// The number of writes after which the process is killed. Read by operators that are built with the feature `testing`.
pub(crate) const TEST_WRITES: &str = "KUBEWRIGHT_TEST_WRITES";

/// The gate of an operator whose test has not set a number of writes, or a gate at which the process ends when it is about
/// to send one more.
pub(crate) fn gate(gate: WriteGate) -> Result<WriteGate> {
    let Ok(text) = std::env::var(TEST_WRITES) else {
        return Ok(gate);
    };
    let invalid = |error| {
        Error::Setup(format!(
            "{TEST_WRITES}: `{}` is no number: {error}",
            text.escape_debug()
        ))
    };
    let left = AtomicUsize::new(text.parse().map_err(invalid)?);
    Ok(WriteGate::new(move || {
        let take = |left: usize| left.checked_sub(1);
        if gate.is_open() && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            // As a node that fails: no destructor runs, and no connection is closed in good order.
            std::process::abort();
        }
        gate.is_open()
    }))
}
