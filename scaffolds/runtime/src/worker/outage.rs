//! Keeps an outage of the API server from filling the log: each object would have a line for each of its attempts.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::error::Error;

/// For this long after a line about an unanswered request, further ones are counted only.
const PAUSE: Duration = Duration::from_secs(10);

/// The failed reconciles of one controller that no answer of the API server explains.
#[derive(Default)]
pub(crate) struct Outage(Mutex<(Option<Instant>, u64)>);

/// Whether the log needs a line about a failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It does; with the number of those that had none since the last line, if any.
    New { unlogged: Option<u64> },
    /// Another object had one just now.
    Logged,
}

impl Outage {
    pub(super) fn seen(&self, error: &Error, now: Instant) -> Seen {
        if !error.is_unanswered() {
            return Seen::New { unlogged: None };
        }
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, unlogged) = &mut *state;
        if last.is_some_and(|last| now.duration_since(last) < PAUSE) {
            *unlogged += 1;
            return Seen::Logged;
        }
        *last = Some(now);
        let unlogged = std::mem::take(unlogged);
        Seen::New {
            unlogged: (unlogged > 0).then_some(unlogged),
        }
    }
}
