//! Runs schedules on all cores. Each run has one thread; which failure is reported does not depend on the number of
//! threads.

use std::{
    num::NonZero,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use super::{
    fault::{Point, Schedule},
    plan::{Plan, Run},
    stage::Stage,
};

/// A run, and the number of its schedule.
pub(super) struct FailedSchedule {
    pub number: usize,
    pub run: Run,
}

/// The outcome of schedules.
pub(super) struct TriedSchedules {
    /// The first in their order that failed.
    pub failed: Option<FailedSchedule>,
    /// The faults of each that did not happen.
    pub unmet: Vec<Vec<Point>>,
}

/// Runs these schedules until one fails. `progress` gets the number of finished runs.
///
/// # Errors
/// A run cannot be started.
pub(super) fn first_failure(
    stage: &Stage,
    calm: &Run,
    schedules: &[Schedule],
    progress: &mut dyn FnMut(usize),
) -> Result<TriedSchedules, String> {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let (sender, ended) = mpsc::channel();
    let work = &|sender: mpsc::Sender<Result<FailedSchedule, String>>| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(schedule) = schedules.get(number) else { return };
            if number > failed.load(Ordering::Relaxed) {
                return;
            }
            let run = stage.play(&Plan::faulty(schedule, calm));
            if run.as_ref().map_or(true, |run| run.finding.is_some()) {
                failed.fetch_min(number, Ordering::Relaxed);
            }
            // The receiver waits for all.
            let _ = sender.send(run.map(|run| FailedSchedule { number, run }));
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        for sender in std::iter::repeat_n(sender, cores) {
            scope.spawn(move || work(sender));
        }
        let (mut first, mut unmet): (Option<FailedSchedule>, _) = (None, vec![Vec::new(); schedules.len()]);
        for (done, run) in ended.iter().enumerate() {
            progress(done + 1);
            let mut run = run?;
            unmet[run.number] = std::mem::take(&mut run.run.unmet);
            let is_first = first.as_ref().is_none_or(|first| run.number < first.number);
            if run.run.finding.is_some() && is_first {
                first = Some(run);
            }
        }
        Ok(TriedSchedules { failed: first, unmet })
    })
}
