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
    fault::Schedule,
    state::State,
    story::{Plan, Run, Stage},
};

/// A run that failed, and the number of its schedule.
pub(super) struct FailedSchedule {
    pub number: usize,
    pub run: Run,
}

/// Runs these schedules until one fails, and returns the first in their order that does. `progress` gets the number of
/// finished runs.
///
/// # Errors
/// A run cannot be started.
pub(super) fn first_failure(
    stage: &Stage,
    calm: &[State],
    schedules: &[Schedule],
    progress: &mut dyn FnMut(usize),
) -> Result<Option<FailedSchedule>, String> {
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
        let mut first: Option<FailedSchedule> = None;
        for (done, run) in ended.iter().enumerate() {
            progress(done + 1);
            let run = run?;
            let is_first = first.as_ref().is_none_or(|first| run.number < first.number);
            if run.run.finding.is_some() && is_first {
                first = Some(run);
            }
        }
        Ok(first)
    })
}
