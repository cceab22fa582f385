//! The actions and results of a soak, as Markdown.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use control_plane::{IDLE, Usage};
use tokio::time::sleep;

use crate::{oracle::Verdict, scene::Scene, trouble::Trouble};

/// The limit for the growth of a process' memory, in MiB, in addition to half of its start value: the allocator keeps
/// memory that was needed once.
const GROWTH: f64 = 12.0;

/// The number of connections varies, also in a quiet state; this many more than at the start are not a leak.
const CONNECTIONS: usize = 3;

/// The same for tasks: two for each of those connections, for it and for its requests.
const TASKS: f64 = 2.0 * CONNECTIONS as f64;

/// The time after which what a burst leaves is gone: connections without a request ([`IDLE`]), and threads that ran blocking
/// work, which tokio keeps for 10 s.
const CALM: Duration = IDLE.saturating_add(Duration::from_secs(5));

#[derive(Default)]
pub struct Report {
    pub troubles: BTreeMap<Trouble, u64>,
    pub rounds: Vec<Verdict>,
    pub repaired: usize,
    pub replaced: u64,
    deeds: BTreeMap<&'static str, u64>,
    requests: (u64, u64),
    usage: Vec<Noted>,
}

/// The resource usage of the single process at some time.
#[derive(Debug)]
struct Noted {
    when: &'static str,
    usage: Usage,
    tasks: f64,
}

impl Noted {
    async fn now(when: &'static str, scene: &Scene) -> Result<Self> {
        sleep(CALM).await;
        // The answer about metrics needs a thread for blocking work.
        let usage = scene.crew.usage()?;
        let tasks = scene.crew.metric("kubewright_alive_tasks").await?;
        let noted = Self { when, usage, tasks };
        eprintln!("{noted:?}");
        Ok(noted)
    }

    fn check_growth(&self, first: &Self) -> Result<()> {
        ensure!(
            self.tasks <= first.tasks + TASKS,
            "oracle `no task is leaked`: {} tasks, then {}",
            first.tasks,
            self.tasks
        );
        let (start, end) = (&first.usage, &self.usage);
        ensure!(
            end.resident <= start.resident * 1.5 + GROWTH,
            "oracle `memory is back near its start`: {start:?}, then {end:?}"
        );
        ensure!(
            end.threads.len() <= start.threads.len(),
            "oracle `no thread is leaked`: {start:?}, then {end:?}"
        );
        ensure!(
            end.files <= start.files + CONNECTIONS,
            "oracle `no connection is leaked`: {start:?}, then {end:?}"
        );
        Ok(())
    }
}

impl Report {
    /// Records the resource usage of the single process before the faults.
    pub async fn note_start(&mut self, scene: &Scene) -> Result<()> {
        self.usage.push(Noted::now("at the start", scene).await?);
        Ok(())
    }

    /// Records the resource usage of the single process after the faults, and fails if it is not near that at the start.
    pub async fn note_end(&mut self, scene: &Scene) -> Result<()> {
        let last = Noted::now("at the end", scene).await?;
        let first = self.usage.first().context("not measured at the start")?;
        let checked = last.check_growth(first);
        self.usage.push(last);
        checked
    }

    /// Adds the counts of other parts.
    pub fn count(&mut self, scene: &Scene) {
        self.deeds = scene.users.deeds();
        self.requests = scene.proxy.counts();
        self.replaced = scene.crew.replaced;
    }

    pub fn print(&self, seed: u64, took: Duration) {
        let row = |what: &str, value: String| println!("| {what} | {value} |");
        println!("| soak | seed {seed} |\n|---|---|");
        row("minutes", format!("{:.1}", took.as_secs_f64() / 60.0));
        for (trouble, times) in &self.troubles {
            row(&format!("{trouble:?}"), times.to_string());
        }
        let deeds: Vec<_> = self
            .deeds
            .iter()
            .map(|(deed, times)| format!("{deed} {times}"))
            .collect();
        row("actions of users", deeds.join(", "));
        let (requests, spoilt) = self.requests;
        row(
            "requests of the operator",
            format!("{requests}, of which {spoilt} had a fault"),
        );
        row("processes replaced", self.replaced.to_string());
        row("undecodable objects, then repaired", self.repaired.to_string());
        row("rounds that passed", self.rounds.len().to_string());
        let orphans: usize = self.rounds.iter().map(|round| round.orphans).sum();
        row(
            "children that the garbage collector did not delete",
            orphans.to_string(),
        );
        let foobars = self.rounds.iter().map(|round| round.foobars).max().unwrap_or_default();
        row("FooBars at the end of a round, at most", foobars.to_string());
        let slowest = self.rounds.iter().map(|round| round.settled).max().unwrap_or_default();
        row(
            "last fault → desired state, at most",
            format!("{:.1} s", slowest.as_secs_f64()),
        );
        for Noted { when, usage, tasks } in &self.usage {
            let Usage {
                resident,
                threads,
                files,
                ..
            } = usage;
            row(
                when,
                format!(
                    "{resident:.1} MiB, {} threads, {tasks} tasks, {files} files",
                    threads.len()
                ),
            );
        }
    }
}
