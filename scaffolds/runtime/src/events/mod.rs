//! Events about objects, as `kubectl describe` shows them. Recording never waits; one background task combines equal
//! events, limits spam and writes.

mod bucket;
mod correlate;
mod event;
mod key;
mod line;
mod sink;
mod writer;
mod yielding;

use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::{api::core::v1::ObjectReference, jiff::Timestamp};
use kube::Client;
use tokio::sync::{mpsc, watch};

pub use self::event::EventType;
pub(crate) use self::yielding::Reconciles;
use self::{
    event::{EventSource, Occurrence},
    sink::Sink,
    writer::Writer,
};
use crate::{
    metrics::{Counter, Metrics},
    status::cut,
};

/// Recorded events that the background task has not processed yet (client-go, `tools/events/event_broadcaster.go`:
/// `maxQueuedEvents`).
const QUEUE: usize = 1000;

/// The events of one process.
pub struct Events {
    outbox: mpsc::Sender<Occurrence>,
    inbox: Mutex<Option<mpsc::Receiver<Occurrence>>>,
    sink: Sink,
    dropped: Dropped,
    reconciles: Reconciles,
}

/// Counters of events that were not written, one for each reason.
#[derive(Clone)]
struct Dropped {
    queue_full: Counter,
    spam: Counter,
    failed: Counter,
}

/// Records the events of one controller. Cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    source: Arc<EventSource>,
    outbox: mpsc::Sender<Occurrence>,
    dropped: Dropped,
    reconciles: Reconciles,
}

impl Recorder {
    /// The reconciles that events yield to.
    pub(crate) fn reconciles(&self) -> &Reconciles {
        &self.reconciles
    }

    /// Records an event about `regarding`. `reason` and `action` are one CamelCase word each: why it happened, and what
    /// the controller was doing. `note` is for people.
    ///
    /// It never waits and never fails. Equal events (all fields but the time) become one event with a count, which is
    /// written at the first occurrence, at the second, and after six minutes without one, or each half hour. While
    /// objects are reconciled, and for 50 ms after that, an event yields: for up to five seconds while reconciles keep
    /// ending, for one if none ends. Events are written one at a time; one more at once for each second beyond the five,
    /// and if more than 2,048 wait. A [`Warning`](EventType::Warning) is written first, and waits for a second at most. An
    /// event has the time at which it was recorded. Waiting events are written when the process is asked to terminate,
    /// and lost if it is killed. While the API server refuses an event, it is written again each minute, until six minutes
    /// after its last occurrence.
    ///
    /// Per object and type, 25 writes are allowed at once and then one every five minutes. Further events, and those
    /// beyond some thousand that wait, are dropped and counted in `kubewright_events_dropped_total`. `note` is cut at
    /// 1024 bytes.
    pub fn event(&self, regarding: &ObjectReference, type_: EventType, reason: &str, action: &str, note: &str) {
        let occurrence = Occurrence {
            source: self.source.clone(),
            regarding: regarding.clone(),
            type_,
            reason: cut(reason, event::WORD),
            action: cut(action, event::WORD),
            note: cut(note, event::NOTE),
            at: Timestamp::now(),
        };
        if self.outbox.try_send(occurrence).is_err() {
            self.dropped.queue_full.inc();
        }
    }
}

impl Events {
    /// Events to be written with `client`. Nothing is written before [`run`](Self::run).
    pub fn new(client: Client, metrics: &Metrics) -> Self {
        let (outbox, inbox) = mpsc::channel(QUEUE);
        let counter = |reason| {
            let help = "Events that were not written, by reason.";
            metrics.counter("kubewright_events_dropped_total", help, &[("reason", reason)])
        };
        let dropped = Dropped {
            queue_full: counter("queue_full"),
            spam: counter("spam"),
            failed: counter("write_failed"),
        };
        Self {
            outbox,
            inbox: Mutex::new(Some(inbox)),
            sink: Sink::new(client),
            dropped,
            reconciles: Reconciles::default(),
        }
    }

    /// A recorder for a controller of an operator. The reporting controller of its events is `<operator>/<controller>`,
    /// the instance `<operator>-<host name>`.
    pub fn recorder(&self, operator: &str, controller: &str) -> Recorder {
        let source = Arc::new(EventSource::new(operator, controller));
        Recorder {
            source,
            outbox: self.outbox.clone(),
            dropped: self.dropped.clone(),
            reconciles: self.reconciles.clone(),
        }
    }

    /// Writes events until `stop` is true, then the remaining ones, for three seconds at most. A second call returns at
    /// once.
    pub fn run(&self, stop: watch::Receiver<bool>) -> impl Future<Output = ()> + Send + 'static {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (sink, dropped, reconciles) = (self.sink.clone(), self.dropped.clone(), self.reconciles.clone());
        async move {
            let Some(inbox) = inbox else { return };
            Writer::new(sink, dropped, reconciles, stop).run(inbox).await;
        }
    }
}

#[cfg(test)]
mod tests;
