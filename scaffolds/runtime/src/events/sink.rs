//! Writes events to the API server, with a limited number of tries.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use k8s_openapi::api::events::v1::Event;
use kube::{
    Client, Error, Resource,
    api::{Patch, PatchParams, PostParams},
    core::Request,
};
use serde::de::IgnoredAny;
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep},
};
use tracing::{debug, warn};

use super::correlate::Write;
use crate::{
    error::{NotLeader, describe, is_terminating_namespace, refusal},
    jitter::Jitter,
};

/// Tries before an event is dropped (client-go, `tools/events/event_broadcaster.go`: `maxTriesPerEvent`).
const TRIES: u32 = 12;
/// The delay between two tries, lengthened by up to a quarter (ibid.: `defaultSleepDuration`).
const DELAY: Duration = Duration::from_secs(10);
/// The delay while the process ends, which waits for the last writes for [`FLUSH`](super::writer::FLUSH).
const LAST_DELAY: Duration = Duration::from_millis(500);
/// After a warning about a refused event, the next ones are logged at debug level for this long.
const SILENCE: Duration = Duration::from_secs(60);

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The API server has stored it.
    Stored,
    /// The API server refuses it now, and may accept it later.
    Refused,
    /// No further try is made.
    Failed,
}

/// Writes events to the API server.
#[derive(Clone)]
pub(super) struct Sink {
    client: Client,
    /// When a refusal was last logged as a warning.
    last_warning: Arc<Mutex<Option<Instant>>>,
}

impl Sink {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            last_warning: Arc::default(),
        }
    }

    /// Writes, and tries again while the API server does not respond; once `stop` is true, sooner.
    pub(super) async fn write(self, write: Write, mut stop: watch::Receiver<bool>) -> Written {
        let (event, mut exists) = match write {
            Write::Create(event) => (event, false),
            Write::Series(event) => (event, true),
        };
        for tried in 1..=TRIES {
            let Err(error) = self.send(&event, exists).await else {
                return Written::Stored;
            };
            match next(&error, exists) {
                Next::GiveUp(written) => {
                    self.log_refusal(&event, &error);
                    return written;
                }
                // The API server has deleted the event after its --event-ttl.
                Next::Create => exists = false,
                Next::Stored => return Written::Stored,
                Next::Wait => {
                    debug!(tried, reason = event.reason, "an event could not be written: {error}");
                    let ending = async {
                        _ = stop.wait_for(|stop| *stop).await.is_ok();
                        sleep(LAST_DELAY).await;
                    };
                    select! {
                        () = sleep(Jitter::random().scale(DELAY, 1.0, 1.25)) => {}
                        () = ending => {}
                    }
                }
            }
        }
        Written::Failed
    }

    /// Logs that an event was refused, but as a warning only once in a while: a missing permission affects each event.
    /// In a namespace that is being deleted a refusal is expected.
    fn log_refusal(&self, event: &Event, error: &Error) {
        let text = describe(error);
        let mut last_warning = self.last_warning.lock().unwrap_or_else(PoisonError::into_inner);
        let quiet = last_warning.is_some_and(|at| at.elapsed() < SILENCE)
            || matches!(error, Error::Api(status) if is_terminating_namespace(status))
            || matches!(error, Error::Service(inner) if inner.is::<NotLeader>());
        if quiet {
            debug!(reason = event.reason, "an event was refused: {text}");
        } else {
            *last_warning = Some(Instant::now());
            let hint = refusal::hint(&text).map(tracing::field::display);
            warn!(reason = event.reason, hint, "an event was refused: {text}");
        }
    }

    async fn send(&self, event: &Event, exists: bool) -> Result<(), Error> {
        let (name, namespace) = (event.metadata.name.as_deref(), event.metadata.namespace.as_deref());
        let events = Request::new(Event::url_path(&(), namespace.or(Some("default"))));
        let request = if exists {
            // All other fields of an event are immutable.
            let series = Patch::Merge(serde_json::json!({"series": event.series}));
            events.patch(name.unwrap_or_default(), &PatchParams::default(), &series)
        } else {
            let event = serde_json::to_vec(event).map_err(Error::SerdeError)?;
            events.create(&PostParams::default(), event)
        };
        // The response is not used.
        let IgnoredAny = self.client.request(request.map_err(Error::BuildRequest)?).await?;
        Ok(())
    }
}

enum Next {
    Wait,
    Create,
    Stored,
    GiveUp(Written),
}

fn next(error: &Error, exists: bool) -> Next {
    match error {
        Error::Api(status) if status.code == 404 && exists => Next::Create,
        // No other event has a name of 64 random bits: an earlier try was carried out, and its response was lost.
        Error::Api(status) if status.reason == "AlreadyExists" => Next::Stored,
        Error::Api(status) if status.code == 429 || status.code >= 500 => Next::Wait,
        // Everything in such a namespace is about to go.
        Error::Api(status) if is_terminating_namespace(status) => Next::GiveUp(Written::Failed),
        // Such as a permission that is granted a moment later.
        Error::Api(_) => Next::GiveUp(Written::Refused),
        // An invalid response: the same request would fail again.
        Error::SerdeError(_) | Error::BuildRequest(_) => Next::GiveUp(Written::Failed),
        Error::Service(inner) if inner.is::<NotLeader>() => Next::GiveUp(Written::Failed),
        _ => Next::Wait,
    }
}
