//! Decides which events are equal, and which exceed the limits. Pure: time is an argument, and nothing is sent from
//! here.

use std::{collections::HashMap, time::Duration};

use k8s_openapi::{
    api::events::v1::{Event, EventSeries},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use tokio::time::Instant;

use super::{
    bucket::{BURST, Bucket},
    event::Occurrence,
    key::{Key, keys},
    sink::Written,
};

/// A series ends when it has had no event for this long (client-go, `tools/events/event_broadcaster.go`: `finishTime`).
const FINISH: Duration = Duration::from_secs(6 * 60);
/// A series that continues is written again after this long, before the API server deletes its event (ibid.:
/// `refreshTime`).
const REFRESH: Duration = Duration::from_secs(30 * 60);
/// The maximum of remembered series and objects (ibid.: `maxLruCacheEntries`); beyond that the oldest are dropped.
const REMEMBERED: usize = 4096;

/// The treatment of an event.
#[derive(Debug, PartialEq)]
pub(super) enum Seen {
    /// Its series has to be written.
    Due(Key),
    /// Its series is written later.
    Counted,
    /// Dropped: there are too many events of this object.
    Spam,
}

/// A write that is due.
#[derive(Debug, Clone)]
pub(super) enum Write {
    /// The event is new.
    Create(Box<Event>),
    /// The event exists, and only its series changes. `Create` if the event does not exist any more.
    Series(Box<Event>),
}

/// The fate of a series after a write.
#[derive(Debug, PartialEq)]
pub(super) enum Ended {
    /// It is due again.
    Again(Key),
    /// Nothing more is to be done now.
    Done,
    /// It is gone, and the API server does not have its last events.
    Dropped,
}

/// The series and the objects that are remembered.
#[derive(Default)]
pub(super) struct Correlator {
    series: HashMap<Key, Series>,
    buckets: HashMap<Key, Bucket>,
}

struct Series {
    /// The name of the event, which is built when it is written: most fields of an event stay empty.
    name: String,
    /// Set while the API server does not have the whole event: most events happen once, and thousands of series are
    /// remembered.
    first: Option<Box<Occurrence>>,
    count: i32,
    last: Timestamp,
    last_seen: Instant,
    /// The count that the API server has, and since when.
    stored: i32,
    stored_at: Option<Instant>,
    /// Whether the API server has refused the last write.
    refused: bool,
    writing: Option<i32>,
    again: bool,
    over: bool,
    /// Whether it waits to be written; it does not while it is being written.
    due: bool,
}

impl Correlator {
    /// Counts one more event.
    pub(super) fn see(&mut self, occurrence: Occurrence, now: Instant) -> Seen {
        let (key, object) = keys(&occurrence);
        let bucket = self.buckets.entry(object).or_insert_with(|| Bucket::full(now));
        if let Some(series) = self.series.get_mut(&key) {
            series.count = series.count.saturating_add(1);
            (series.last, series.last_seen, series.over) = (occurrence.at, now, false);
            series.first.get_or_insert_with(|| Box::new(occurrence));
            // The second event of a series is worth a write at once, unless the first one still waits and is written with
            // its count; the exact count is not urgent.
            let news = series.count == 2 && !series.due && bucket.take(now);
            if !news || series.writing.is_some() {
                series.again |= news;
                return Seen::Counted;
            }
            series.due = true;
            return Seen::Due(key);
        }
        if !bucket.take(now) {
            return Seen::Spam;
        }
        let last = occurrence.at;
        let series = Series {
            name: occurrence.unique_name(),
            first: Some(Box::new(occurrence)),
            count: 1,
            last,
            last_seen: now,
            stored: 0,
            stored_at: None,
            refused: false,
            writing: None,
            again: false,
            over: false,
            due: true,
        };
        self.series.insert(key, series);
        self.forget(now);
        Seen::Due(key)
    }

    /// The write that a due series needs; `None` if it is being written, or has no change.
    pub(super) fn begin(&mut self, key: &Key) -> Option<Write> {
        let series = self.series.get_mut(key)?;
        series.due = false;
        if series.writing.is_some() || series.count == series.stored {
            return None;
        }
        let mut event = series.first.as_ref()?.event(&series.name);
        series.writing = Some(series.count);
        if series.count > 1 {
            event.series = Some(EventSeries {
                count: series.count,
                last_observed_time: MicroTime(series.last),
            });
        }
        Some(if series.stored == 0 {
            Write::Create(event.into())
        } else {
            Write::Series(event.into())
        })
    }

    /// Records that the write of a series has ended. A refused one is due again at the next tick, until the series is over.
    pub(super) fn end(&mut self, key: Key, written: Written, now: Instant) -> Ended {
        let Some(series) = self.series.get_mut(&key) else {
            return Ended::Done;
        };
        let count = series.writing.take().unwrap_or_default();
        let again = std::mem::take(&mut series.again);
        series.refused = written == Written::Refused;
        if written == Written::Failed || series.over {
            self.series.remove(&key);
            return if written == Written::Stored {
                Ended::Done
            } else {
                Ended::Dropped
            };
        }
        if series.refused {
            return Ended::Done;
        }
        (series.stored, series.stored_at) = (count, Some(now));
        if series.count == count {
            series.first = None;
        }
        series.due = again;
        if again { Ended::Again(key) } else { Ended::Done }
    }

    /// Ends the series without recent events. Returns those to be written: a series that has ended, a last time, one whose write
    /// was refused, and one that continues, each half hour. A series that waits already is not returned again.
    pub(super) fn tick(&mut self, now: Instant) -> Vec<Key> {
        let is_old = |since: Instant, age| now.saturating_duration_since(since) >= age;
        let mut due = Vec::new();
        self.series.retain(|key, series| {
            let news = series.count != series.stored;
            series.over = is_old(series.last_seen, FINISH) && series.writing.is_none();
            let is_due = series.over || series.refused || series.stored_at.is_some_and(|at| is_old(at, REFRESH));
            if news && is_due && series.writing.is_none() && !std::mem::replace(&mut series.due, true) {
                due.push(*key);
            }
            news || !series.over
        });
        self.buckets.retain(|_, bucket| {
            bucket.fill(now);
            bucket.tokens < BURST
        });
        due
    }

    /// The series whose counts the API server does not have, and that do not wait.
    pub(super) fn unwritten(&self) -> Vec<Key> {
        self.series
            .iter()
            .filter(|(_, series)| series.count != series.stored && !series.due)
            .map(|(key, _)| *key)
            .collect()
    }

    /// Keeps the memory bounded: drops an eighth at once, so that the search for the oldest is rare.
    fn forget(&mut self, now: Instant) {
        let keep = REMEMBERED - REMEMBERED / 8;
        if self.series.len() > REMEMBERED {
            let mut seen: Vec<_> = self.series.values().map(|series| series.last_seen).collect();
            let (_, oldest, _) = seen.select_nth_unstable_by(keep, |one, two| two.cmp(one));
            let oldest = *oldest;
            let mut surplus = self.series.len() - keep;
            self.series.retain(|_, series| {
                let is_settled = (series.stored > 0 || series.refused) && series.writing.is_none();
                let goes = surplus > 0 && series.last_seen <= oldest && is_settled;
                surplus -= usize::from(goes);
                !goes
            });
        }
        if self.buckets.len() > REMEMBERED {
            self.buckets.values_mut().for_each(|bucket| bucket.fill(now));
            let mut tokens: Vec<_> = self.buckets.values().map(|bucket| bucket.tokens).collect();
            let (_, fullest, _) = tokens.select_nth_unstable_by(keep, f64::total_cmp);
            let fullest = *fullest;
            let mut surplus = self.buckets.len() - keep;
            self.buckets.retain(|_, bucket| {
                let goes = surplus > 0 && bucket.tokens >= fullest;
                surplus -= usize::from(goes);
                !goes
            });
        }
    }
}

#[cfg(test)]
#[path = "correlate_tests.rs"]
mod tests;
