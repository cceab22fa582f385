//! Compares two servers on many programs: several at a time, each with a time limit, and reports progress.

use anyhow::Result;
use futures::{StreamExt, stream};
use std::{
    collections::BTreeSet,
    fmt,
    time::{Duration, Instant},
};
use tokio::time::{MissedTickBehavior, interval};

use crate::{
    Program, Target,
    compare::{Difference, compare},
    shrink::shrink,
};

/// Concurrent programs: watches wait for a second, and both servers share the machine.
const AT_ONCE: usize = 8;

/// The interval of progress reports.
const NEWS: Duration = Duration::from_secs(30);

/// Two servers, and how to compare them.
pub struct Comparison {
    /// The reference server.
    pub real: Target,
    /// The tested server.
    pub ours: Target,
    /// The seeds whose differences the ledger explains: `seed 7`.
    pub known: BTreeSet<String>,
    /// Whether failing programs are printed whole instead of shrunk.
    pub whole: bool,
}

/// A namespace that no other run on this server uses.
pub fn namespace(run: u32, at: usize) -> String {
    format!("f{run:06x}-{at}")
}

impl Comparison {
    /// Prints every difference, and returns the number of programs that differ or could not be run.
    pub async fn of(&self, programs: Vec<Program>) -> usize {
        let run = fastrand::u32(..1 << 24);
        let mut so_far = SoFar::new(programs.len());
        let judge = |(at, program): (usize, Program)| async move {
            let outcome = self.judge(&program, &namespace(run, at)).await;
            (program, outcome)
        };
        let (alone, together): (Vec<_>, Vec<_>) = programs
            .into_iter()
            .enumerate()
            .partition(|(_, program)| program.sets_defaults());
        let judged = stream::iter(together)
            .map(judge)
            .buffer_unordered(AT_ONCE)
            .chain(stream::iter(alone).then(judge));
        let mut judged = std::pin::pin!(judged);
        let mut news = interval(NEWS);
        news.set_missed_tick_behavior(MissedTickBehavior::Delay);
        news.tick().await;
        loop {
            tokio::select! {
                outcome = judged.next() => match outcome {
                    Some((program, outcome)) => so_far.count(&program, outcome),
                    None => break,
                },
                _ = news.tick() => eprintln!("{so_far}"),
            }
        }
        let [answers, successful] = self.real.tally();
        println!(
            "{} programs with {} requests, {} differ, {} failed; {successful} of {answers} answers were successful",
            so_far.total, so_far.requests, so_far.differ, so_far.failed
        );
        so_far.differ + so_far.failed
    }

    async fn judge(&self, program: &Program, namespace: &str) -> Result<Option<Difference>> {
        let found = compare(program, &self.real, &self.ours, namespace).await?;
        let Some(difference) = found else { return Ok(None) };
        if self.known.contains(program.name.split(':').next().unwrap_or_default()) {
            println!("{}: differs as the ledger says", program.name);
            return Ok(None);
        }
        Ok(Some(match self.whole {
            true => difference,
            false => shrink(difference, &self.real, &self.ours, &format!("{namespace}-s")).await,
        }))
    }
}

/// The progress of a run.
struct SoFar {
    since: Instant,
    total: usize,
    done: usize,
    /// The requests of the programs, without those that repeat or shrink them.
    requests: usize,
    differ: usize,
    failed: usize,
}

impl SoFar {
    fn new(total: usize) -> Self {
        Self {
            since: Instant::now(),
            total,
            done: 0,
            requests: 0,
            differ: 0,
            failed: 0,
        }
    }

    fn count(&mut self, program: &Program, outcome: Result<Option<Difference>>) {
        self.done += 1;
        self.requests += program.steps.len();
        match outcome {
            Ok(None) => {}
            Ok(Some(smallest)) => {
                self.differ += 1;
                println!("{smallest}");
            }
            Err(error) => {
                self.failed += 1;
                println!("`{}` could not be run: {error:#}", program.name);
            }
        }
    }
}

impl fmt::Display for SoFar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            total,
            done,
            differ,
            failed,
            since,
            ..
        } = self;
        let seconds = since.elapsed().as_secs();
        write!(
            f,
            "{done} of {total} programs in {seconds} s, {differ} differ, {failed} failed"
        )
    }
}
