//! The background task of events: processes recorded events, and writes those that are due.

use std::time::Duration;

use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    select,
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval, sleep_until, timeout},
};

use super::{
    Dropped, EventType, Reconciles,
    correlate::{Correlator, Ended, Seen},
    event::Occurrence,
    key::Key,
    line::Line,
    sink::{Sink, Written},
};

/// Events that may wait to be written: three quarters of the remembered series.
const BACKLOG: usize = 3072;
/// The maximum of concurrent writes (client-go, `tools/events/event_broadcaster.go`: `recordWorkers`).
pub(super) const WRITES: usize = 8;
/// The interval of the checks of all series; they end, and are written again, after minutes.
const TICK: Duration = Duration::from_secs(60);
/// The time limit for the last writes when the process ends.
pub(super) const FLUSH: Duration = Duration::from_secs(3);

/// The events that are to be written, and those that are being written.
pub(super) struct Writer {
    correlator: Correlator,
    due: Line,
    under_way: FuturesUnordered<BoxFuture<'static, (Key, Written)>>,
    sink: Sink,
    dropped: Dropped,
    reconciles: Reconciles,
    stop: watch::Receiver<bool>,
}

impl Writer {
    pub(super) fn new(sink: Sink, dropped: Dropped, reconciles: Reconciles, stop: watch::Receiver<bool>) -> Self {
        Self {
            correlator: Correlator::default(),
            due: Line::default(),
            under_way: FuturesUnordered::new(),
            sink,
            dropped,
            reconciles,
            stop,
        }
    }

    /// Writes what it receives from the inbox until `stop` is true, then the remaining events.
    pub(super) async fn run(&mut self, mut inbox: mpsc::Receiver<Occurrence>) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut stop, reconciles) = (self.stop.clone(), self.reconciles.clone());
        loop {
            let (room, more) = self.due.room(&self.reconciles, Instant::now());
            self.begin_writes(room);
            let (waits, more) = (more.is_some(), more.unwrap_or_else(Instant::now));
            select! {
                occurrence = inbox.recv(), if self.due.len() < BACKLOG => match occurrence {
                    Some(occurrence) => self.see(occurrence),
                    None => break,
                },
                Some((key, written)) = self.under_way.next() => self.wrote(key, written),
                () = reconciles.ended(), if waits => {}
                () = sleep_until(more), if waits => {}
                _ = tick.tick() => {
                    let due = self.correlator.tick(Instant::now());
                    self.extend(due);
                }
                // Also stops when the sender is gone.
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        while let Ok(occurrence) = inbox.try_recv() {
            self.see(occurrence);
        }
        let unwritten = self.correlator.unwritten();
        self.extend(unwritten);
        // Events that are not written by then are dropped: they are best effort, and must not delay the end of the process.
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
        let (warns, now) = (occurrence.type_ == EventType::Warning, Instant::now());
        match self.correlator.see(occurrence, now) {
            Seen::Due(key) => self.due.join(key, warns, now),
            Seen::Counted => {}
            Seen::Spam => self.dropped.spam.inc(),
        }
    }

    /// Appends series whose first event has been reported already: only their counts change.
    fn extend(&mut self, due: impl IntoIterator<Item = Key>) {
        let now = Instant::now();
        due.into_iter().for_each(|key| self.due.join(key, false, now));
    }

    fn begin_writes(&mut self, room: usize) {
        while self.under_way.len() < room {
            let Some(key) = self.due.next() else { return };
            if let Some(write) = self.correlator.begin(&key) {
                let (sink, stop) = (self.sink.clone(), self.stop.clone());
                self.under_way
                    .push(Box::pin(async move { (key, sink.write(write, stop).await) }));
            }
        }
    }

    fn wrote(&mut self, key: Key, written: Written) {
        match self.correlator.end(key, written, Instant::now()) {
            Ended::Again(key) => self.extend([key]),
            Ended::Dropped => self.dropped.failed.inc(),
            Ended::Done => {}
        }
    }
}
