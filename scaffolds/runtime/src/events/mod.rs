//! Events about objects, as `kubectl describe` shows them. Recording never waits; one background task counts equal events
//! together, holds back spam and writes.

mod correlate;
mod event;
mod sink;
mod yielding;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{StreamExt, stream::FuturesUnordered};
use k8s_openapi::{api::core::v1::ObjectReference, jiff::Timestamp};
use kube::Client;
use tokio::{
    select,
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval, sleep_until, timeout},
};

pub use self::event::EventType;
use self::{
    correlate::{Correlator, Seen},
    event::{Occurrence, Source},
    sink::{Sink, Written},
};
use crate::metrics::{Counter, Metrics};
pub(crate) use yielding::Reconciles;

/// Events that may wait to be looked at (client-go, `tools/events/event_broadcaster.go`: `maxQueuedEvents`).
const QUEUE: usize = 1000;
/// Events that may wait to be written, three quarters of those that are remembered.
const BACKLOG: usize = 3072;
/// When so many wait, they give way to nothing.
const PRESSING: usize = 2048;
/// Writes under way at once (client-go, ibid.: `recordWorkers`).
const WRITES: usize = 8;
/// How often series are looked through; they end and are written again after minutes.
const TICK: Duration = Duration::from_secs(60);
/// How long the last events may take to be written when the process ends.
const FLUSH: Duration = Duration::from_secs(3);

/// The events of one process.
pub struct Events {
    outbox: mpsc::Sender<Occurrence>,
    inbox: Mutex<Option<mpsc::Receiver<Occurrence>>>,
    sink: Sink,
    dropped: Dropped,
    reconciles: Reconciles,
}

/// Why events were not written, one counter each.
#[derive(Clone)]
struct Dropped {
    queue_full: Counter,
    spam: Counter,
    failed: Counter,
}

/// Records the events of one controller. Cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    source: Arc<Source>,
    outbox: mpsc::Sender<Occurrence>,
    dropped: Dropped,
    reconciles: Reconciles,
}

impl Recorder {
    /// The reconciles that events give way to.
    pub(crate) fn reconciles(&self) -> &Reconciles {
        &self.reconciles
    }

    /// Records that something happened to `regarding`. `reason` and `action` are one CamelCase word each: why, and what
    /// the controller was doing. `note` is for people.
    ///
    /// It never waits and never fails. Equal events (all but the time) are one event with a count, which is written when
    /// it first happens, when it happens again, and when it has stopped happening for six minutes, or each half hour.
    /// While objects are reconciled an event waits, up to a second, and up to ten while further objects wait for a worker;
    /// then events are written one at a time. An event has the time at which it was recorded.
    ///
    /// Per object and type 25 writes are free and then one each five minutes. What is beyond that, or beyond some thousand
    /// events that wait, is dropped and counted in `kubewright_events_dropped_total`. `note` is cut at 1024 bytes.
    pub fn event(&self, regarding: &ObjectReference, type_: EventType, reason: &str, action: &str, note: &str) {
        let occurrence = Occurrence {
            source: self.source.clone(),
            regarding: regarding.clone(),
            type_,
            reason: event::cut(reason, event::WORD),
            action: event::cut(action, event::WORD),
            note: event::cut(note, event::NOTE),
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

    /// A recorder for a controller of an operator. Events come from `<operator>/<controller>`, instance
    /// `<operator>-<host name>`.
    pub fn recorder(&self, operator: &str, controller: &str) -> Recorder {
        let source = Arc::new(Source::new(operator, controller));
        Recorder {
            source,
            outbox: self.outbox.clone(),
            dropped: self.dropped.clone(),
            reconciles: self.reconciles.clone(),
        }
    }

    /// Writes events until `stop` is true, then what is left, for three seconds at most. A second run ends at once.
    pub fn run(&self, stop: watch::Receiver<bool>) -> impl Future<Output = ()> + Send + 'static {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (sink, dropped, reconciles) = (self.sink.clone(), self.dropped.clone(), self.reconciles.clone());
        async move {
            let Some(inbox) = inbox else { return };
            let mut writer = Writer {
                correlator: Correlator::default(),
                due: VecDeque::new(),
                under_way: FuturesUnordered::new(),
                sink,
                dropped,
                reconciles,
                stop,
            };
            writer.run(inbox).await;
        }
    }
}

type Key = correlate::Key;

/// The background task.
struct Writer {
    correlator: Correlator,
    /// Series to be written, in order, and since when.
    due: VecDeque<(Key, Instant)>,
    under_way: FuturesUnordered<futures::future::BoxFuture<'static, (Key, Written)>>,
    sink: Sink,
    dropped: Dropped,
    reconciles: Reconciles,
    stop: watch::Receiver<bool>,
}

impl Writer {
    async fn run(&mut self, mut inbox: mpsc::Receiver<Occurrence>) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut stop, reconciles) = (self.stop.clone(), self.reconciles.clone());
        loop {
            let room = self.room(Instant::now());
            self.begin_writes(room);
            let (turn, waits) = (self.turn(), !self.due.is_empty());
            let alone = waits && self.under_way.is_empty();
            select! {
                occurrence = inbox.recv(), if self.due.len() < BACKLOG => match occurrence {
                    Some(occurrence) => self.see(occurrence),
                    None => break,
                },
                Some((key, written)) = self.under_way.next() => self.wrote(key, written),
                () = reconciles.ended(), if waits => {}
                () = sleep_until(turn), if alone => {}
                _ = tick.tick() => {
                    let due = self.correlator.tick(Instant::now());
                    self.extend(due);
                }
                // Also when nobody is left to say stop.
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        while let Ok(occurrence) = inbox.try_recv() {
            self.see(occurrence);
        }
        let unwritten = self.correlator.unwritten();
        self.extend(unwritten);
        // What is not written by then stays unwritten: events are a courtesy, the end of the process is not.
        let _ = timeout(FLUSH, self.flush()).await;
    }

    async fn flush(&mut self) {
        loop {
            self.begin_writes(WRITES);
            match self.under_way.next().await {
                Some((key, written)) => self.wrote(key, written),
                None => return,
            }
        }
    }

    fn see(&mut self, occurrence: Occurrence) {
        match self.correlator.see(occurrence, Instant::now()) {
            Seen::Due(key) => self.extend([key]),
            Seen::Counted => {}
            Seen::Spam => self.dropped.spam.inc(),
        }
    }

    fn extend(&mut self, due: impl IntoIterator<Item = Key>) {
        let now = Instant::now();
        self.due.extend(due.into_iter().map(|key| (key, now)));
    }

    /// When the first that is due has given way for long enough.
    fn turn(&self) -> Instant {
        let patience = self.reconciles.patience();
        self.due
            .front()
            .map_or_else(Instant::now, |(_, since)| *since + patience)
    }

    /// How many writes may be under way now.
    fn room(&self, now: Instant) -> usize {
        if !self.reconciles.are_under_way() || self.due.len() >= PRESSING {
            WRITES
        } else {
            usize::from(self.turn() <= now)
        }
    }

    fn begin_writes(&mut self, room: usize) {
        while self.under_way.len() < room {
            let Some((key, _)) = self.due.pop_front() else { return };
            if let Some(write) = self.correlator.begin(&key) {
                let (sink, stop) = (self.sink.clone(), self.stop.clone());
                self.under_way
                    .push(Box::pin(async move { (key, sink.write(write, stop).await) }));
            }
        }
    }

    fn wrote(&mut self, key: Key, written: Written) {
        if written == Written::Failed {
            self.dropped.failed.inc();
        }
        if let Some(again) = self.correlator.end(key, written == Written::Stored, Instant::now()) {
            self.extend([again]);
        }
    }
}

#[cfg(test)]
mod tests;
