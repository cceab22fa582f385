//! The progress of a migration, for people who wait for it: on a terminal, after two seconds.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use tokio::time::Instant;

/// The time before the first output.
const QUIET: Duration = Duration::from_secs(2);
const PERIOD: Duration = Duration::from_millis(200);

/// A line on standard error that is written over and over.
pub(super) struct Progress<'a> {
    crd: &'a str,
    terminal: bool,
    since: Instant,
    shown: Option<Instant>,
    done: u64,
    all: u64,
}

impl<'a> Progress<'a> {
    /// The progress of the objects of this CRD.
    pub(super) fn of(crd: &'a str) -> Self {
        Self {
            crd,
            terminal: io::stderr().is_terminal(),
            since: Instant::now(),
            shown: None,
            done: 0,
            all: 0,
        }
    }

    /// Sets the number of objects, as far as it is known.
    pub(super) fn expect(&mut self, all: u64) {
        self.all = all.max(self.all);
    }

    /// One more object is done.
    pub(super) fn step(&mut self) {
        self.done += 1;
        self.show(&format!("{} of {} objects", self.done, self.all.max(self.done)));
    }

    /// Shows what is being done, unless that was shown a moment ago.
    fn show(&mut self, what: &str) {
        let due = self.shown.is_none_or(|shown| shown.elapsed() >= PERIOD);
        if self.terminal && due && self.since.elapsed() >= QUIET {
            self.shown = Some(Instant::now());
            // Without a terminal that can be written to, no progress is shown.
            _ = write!(io::stderr(), "\r\x1b[K{}: {what}", self.crd);
        }
    }

    /// Shows that the migration waits.
    pub(super) fn waits(&self, pause: Duration, why: &str) {
        if self.terminal && pause >= QUIET {
            _ = write!(io::stderr(), "\r\x1b[K{}: waiting for {pause:?}: {why}", self.crd);
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.terminal {
            _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
