//! Watches: streams of the changes of a collection.

mod bookmark;
mod event;
mod start;

pub use event::Event;

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use futures::{Stream, StreamExt, stream};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};

use super::{convert, list::options::ListParameters};
use crate::{
    call::Call,
    state::Core,
    status::Status,
    store::{Change, Compacted, Record, Watch},
};

/// The events of a watch. The stream ends after the requested time, after an ERROR, when the custom kind changes or is
/// removed, and when the server closes.
pub type Events = Pin<Box<dyn Stream<Item = Event> + Send>>;

/// Upstream's `--min-request-timeout`: a watch without a timeout lasts between this time and twice this time.
const LEAST: u64 = 30 * 60;
/// Time between bookmarks.
const BOOKMARKS: Duration = Duration::from_secs(60);
/// The time before its end at which a watch sends its last bookmark.
const FAREWELL: Duration = Duration::from_secs(2);

/// The time that a watch continues after its custom kind changes or is removed; measured upstream.
const CLOSING: Duration = Duration::from_secs(1);

/// The time that a watch waits before it tries again to convert a change.
const RETRY: Duration = Duration::from_secs(1);

/// The state of one watch.
struct Watching {
    call: Call,
    options: ListParameters,
    /// The initial objects that have yet to be sent.
    initial: VecDeque<Arc<Record>>,
    /// The revision of the bookmark after `initial`, until it is sent.
    initial_end: Option<u64>,
    changes: Watch,
    /// The revision that the client has: only later ones are worth a bookmark.
    known: u64,
    deadline: Instant,
    bookmark: Option<Instant>,
    /// Closes when the resource is removed or served differently.
    ends: Option<watch::Receiver<()>>,
    ended: bool,
}

/// Begins a watch.
///
/// # Errors
/// 400 and 422 for parameters, 500 for a `resourceVersion` that is not a number, as upstream. Later errors, for example
/// a compacted revision, are events of the stream.
pub(super) async fn watch(core: &Core, call: &Call) -> Result<Events, Status> {
    let options = ListParameters::read(call)?;
    let deadline = Instant::now() + lifetime(&options);
    let begun = match start::start(core, call, &options).await? {
        Ok(begun) => begun,
        Err(status) => return Ok(Box::pin(stream::iter([Event::error(&status)]))),
    };
    let watching = Watching {
        call: call.clone(),
        initial: begun.initial.into(),
        initial_end: begun.initial_end,
        changes: begun.changes,
        known: begun.revision,
        deadline,
        bookmark: options.bookmarks.then(|| next_bookmark(deadline)),
        options,
        ends: call
            .resource
            .rules()
            .custom
            .as_ref()
            .and_then(|rules| rules.ends.clone()),
        ended: false,
    };
    let next = |mut watching: Watching| async { watching.next().await.map(|event| (event, watching)) };
    Ok(Box::pin(stream::unfold(watching, next)))
}

/// The time that the watch lasts; a negative timeout is over at once.
fn lifetime(options: &ListParameters) -> Duration {
    match options.timeout {
        None | Some(0) => {
            let random = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), LEAST);
            Duration::from_secs(LEAST + random % LEAST)
        }
        // Longer than any client waits, and short enough to be added to any instant.
        Some(seconds) => Duration::from_secs(u64::try_from(seconds).unwrap_or_default().min(u64::from(u32::MAX))),
    }
}

async fn closed(ends: &mut Option<watch::Receiver<()>>) {
    if let Some(ends) = ends {
        while ends.changed().await.is_ok() {}
    }
}

fn next_bookmark(deadline: Instant) -> Instant {
    let now = Instant::now();
    let regular = now + BOOKMARKS;
    match deadline.checked_sub(FAREWELL) {
        Some(last) if last > now => regular.min(last),
        _ => regular,
    }
}

impl Watching {
    async fn next(&mut self) -> Option<Event> {
        if self.ended || Instant::now() >= self.deadline {
            return None;
        }
        if let Some(event) = self.next_initial() {
            return Some(event);
        }
        loop {
            let bookmark = self.bookmark.unwrap_or(self.deadline);
            tokio::select! {
                biased;
                () = sleep_until(self.deadline) => return None,
                change = self.changes.next() => match change? {
                    Ok(change) => {
                        let change = match self.converted(change).await? {
                            Ok(change) => change,
                            Err(status) => return Some(self.or_error(Err(status))),
                        };
                        if let Some(event) = self.event_for(&change) { return Some(event) }
                    },
                    Err(compacted) => return Some(self.expired(compacted)),
                },
                () = closed(&mut self.ends), if self.ends.is_some() => {
                    self.ends = None;
                    self.deadline = self.deadline.min(Instant::now() + CLOSING);
                }
                () = sleep_until(bookmark), if self.bookmark.is_some() => {
                    self.bookmark = Some(next_bookmark(self.deadline));
                    let revision = self.changes.position();
                    if revision > self.known {
                        return Some(bookmark::event(&self.call.resource, revision, false));
                    }
                }
            }
        }
    }

    /// The change in the version of the watch. While it cannot be converted, nothing is sent, as upstream: it is tried
    /// again until the watch ends.
    ///
    /// # Errors
    /// 501 in a build that cannot call webhooks.
    async fn converted(&mut self, change: Arc<Change>) -> Option<Result<Arc<Change>, Status>> {
        if self.call.resource.rules().conversion().is_none() {
            return Some(Ok(change));
        }
        loop {
            match convert::change(&self.call.resource, &change).await {
                Err(status) if status.code != 501 => {}
                done => return Some(done),
            }
            tokio::select! {
                biased;
                () = sleep_until(self.deadline) => return None,
                () = closed(&mut self.ends), if self.ends.is_some() => {
                    self.ends = None;
                    self.deadline = self.deadline.min(Instant::now() + CLOSING);
                }
                () = sleep(RETRY) => {}
            }
        }
    }

    fn next_initial(&mut self) -> Option<Event> {
        if let Some(record) = self.initial.pop_front() {
            return Some(self.or_error(Event::of("ADDED", &self.call, &record)));
        }
        let revision = self.initial_end.take()?;
        Some(bookmark::event(&self.call.resource, revision, true))
    }

    /// A change as seen through the selectors: an object that begins to match is added; one that no longer matches is
    /// deleted, with its previous state.
    fn event_for(&mut self, change: &Change) -> Option<Event> {
        let wanted = |record: &Arc<Record>| self.options.matches(&self.call, record);
        let before = change.previous.as_ref().filter(|record| wanted(record));
        let gone = change.kind == crate::store::ChangeKind::Deleted;
        let after = Some(&change.record).filter(|record| !gone && wanted(record));
        let event = match (before, after) {
            (None, None) => return None,
            (None, Some(record)) => Event::of("ADDED", &self.call, record),
            (Some(_), Some(record)) => Event::of("MODIFIED", &self.call, record),
            (Some(_), None) if gone => Event::of("DELETED", &self.call, &change.record),
            (Some(record), None) => Event::left(&self.call, record, change.revision),
        };
        Some(self.or_error(event))
    }

    fn expired(&mut self, Compacted { oldest }: Compacted) -> Event {
        self.ended = true;
        Event::error(&start::too_old(self.changes.position(), oldest))
    }

    fn or_error(&mut self, event: Result<Event, Status>) -> Event {
        event.unwrap_or_else(|status| {
            self.ended = true;
            Event::error(&status)
        })
    }
}
