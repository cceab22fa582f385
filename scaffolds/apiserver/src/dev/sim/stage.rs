//! The stage of all runs: a server with the project's kinds and samples, the operator's program, and a runtime with a paused
//! clock for each run.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::mpsc, time::sleep};

use super::{
    groups::short,
    oracle::Finding,
    panics,
    phases::{PHASES, TEARDOWN},
    plan::{Course, Plan, Run},
    processes::{self, Program, Start},
    reconciles,
    setup::{BYSTANDER, Sample, Setup, SpecChange, Specs},
    state::{self, Live},
    story::Story,
    users::{Marked, Users},
    world::{Channels, Sent, World},
};
use crate::{
    dev::account,
    meta::{chance, generate},
};

/// The common part of all runs of a simulation.
#[derive(Clone)]
pub(super) struct Stage {
    pub setup: Arc<Setup>,
    pub start: Start,
    pub seed: u64,
    /// The kind whose samples take part; `None` for all samples of the project.
    pub kind: Option<String>,
    /// The changes that are not explored, with the reasons.
    pub omitted: Vec<String>,
}

impl Stage {
    /// The kinds of the samples.
    pub(super) fn kinds(&self) -> String {
        // If another group has a kind of the same name, the kind of the stage contains its group.
        let is_whole = self.kind.as_ref().is_some_and(|kind| kind.contains('.'));
        let kinds = self.setup.samples.iter().map(Sample::kind);
        let kinds: BTreeSet<_> = kinds.map(|kind| if is_whole { kind } else { short(kind) }).collect();
        Vec::from_iter(kinds).join(", ")
    }

    /// Leaves out the changes with which an object's reconcile fails: the operator refuses that spec.
    ///
    /// # Errors
    /// The server cannot be started.
    pub(super) fn without_refused(mut self) -> Result<Self, String> {
        let failed = self.failed_when_changed()?;
        for n in 0..self.setup.samples.len() {
            let sample = &self.setup.samples[n];
            if sample.changes.is_empty() {
                self.omitted
                    .push(format!("changes of {}: no other spec was accepted", sample.key));
            }
            if !failed.contains_key(sample.place()) {
                continue;
            }
            let (place, key) = (sample.place().to_owned(), sample.key.clone());
            let all = self.replace_changes(n, Vec::new());
            let mut accepted = Vec::new();
            for change in all {
                self.replace_changes(n, vec![change.clone()]);
                match self.failed_when_changed()?.remove(&place) {
                    None => accepted.push(change),
                    Some(error) => self
                        .omitted
                        .push(format!("changes of `{}` of {key}: {error}", change.pointer)),
                }
            }
            self.replace_changes(n, accepted);
        }
        Ok(self)
    }

    fn failed_when_changed(&self) -> Result<BTreeMap<String, String>, String> {
        let run = self.play(&Plan {
            course: Course::Creates(Specs::Changed),
            ..Plan::default()
        })?;
        let is_it = run.finding.as_ref().is_none_or(Finding::is_lasting);
        Ok(if is_it { run.failed } else { BTreeMap::new() })
    }

    /// Returns the changes so far.
    fn replace_changes(&mut self, n: usize, changes: Vec<SpecChange>) -> Vec<SpecChange> {
        let sample = Arc::make_mut(&mut self.setup).samples.get_mut(n);
        sample.map_or_else(Vec::new, |sample| std::mem::replace(&mut sample.changes, changes))
    }

    /// Runs the operator, the users and the oracles.
    ///
    /// # Errors
    /// The server cannot be started.
    pub(super) fn play(&self, plan: &Plan<'_>) -> Result<Run, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build();
        let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
        panics::watch();
        generate::seed(Some(chance::hash(self.seed, "names and uids")));
        let following = reconciles::follow();
        let run = runtime.block_on(self.run(plan));
        drop(runtime);
        drop(following);
        generate::seed(None);
        panics::unwatch();
        run
    }

    async fn run(&self, plan: &Plan<'_>) -> Result<Run, String> {
        let server = self.setup.server().await?;
        let (kill, killed) = mpsc::unbounded_channel();
        let (interfere, mut actions) = mpsc::unbounded_channel();
        let world = Arc::new(World::new(
            server,
            self.seed,
            plan.schedule.clone(),
            Channels { kill, interfere },
        ));
        self.setup.add_bystanders(&world).await;
        // The controllers of the server itself.
        sleep(Duration::from_secs(1)).await;
        let before = state::since(&world.server, 0);
        let users = Users {
            world: world.clone(),
            setup: self.setup.clone(),
            before: Arc::new(before.iter().map(Live::key).collect()),
            since: world.version(),
            taken: Arc::default(),
        };
        let mut story = Story {
            bystanders: before
                .into_iter()
                .filter(|live| live.key().ends_with(BYSTANDER))
                .collect(),
            plan,
            users: users.clone(),
            marked: Marked::default(),
            created_once: Default::default(),
            states: Vec::new(),
        };
        let program = Program {
            start: self.start.clone(),
            user: (!self.setup.roles.is_empty()).then(account::user),
        };
        let processes = tokio::spawn(processes::keep_running(world.clone(), program, killed));
        let interfering = tokio::spawn(async move {
            while let Some(action) = actions.recv().await {
                let is_possible = users.world.book().phase != TEARDOWN || !action.creates();
                if is_possible {
                    users.act(action).await;
                }
            }
        });
        let finding = story.play().await;
        processes.abort();
        interfering.abort();
        let mut book = world.book();
        Ok(Run {
            states: story.states,
            finding,
            steps: std::mem::take(&mut book.steps),
            writes: std::mem::take(&mut book.writes),
            reads: std::mem::take(&mut book.reads),
            kinds: in_each_phase(&book.watched),
            requests: std::mem::take(&mut book.requests),
            unmet: std::mem::take(&mut book.unmet),
            changes: world.version(),
            failed: failed(),
        })
    }
}

/// These kinds in each phase. If there is one kind, all watches are watches of it.
fn in_each_phase(plurals: &BTreeSet<String>) -> Vec<Sent> {
    if plurals.len() < 2 {
        return Vec::new();
    }
    let of = |phase| {
        plurals.iter().map(move |plural| Sent {
            phase,
            is_delete: false,
            text: plural.clone(),
        })
    };
    (0..PHASES.len()).flat_map(of).collect()
}

/// The objects whose reconciles failed the last time, with their errors.
fn failed() -> BTreeMap<String, String> {
    let mut failed = reconciles::failing();
    failed.extend(reconciles::refused());
    let place = |(reconcile, error): (String, String)| {
        let place = reconcile.split_once(' ').map_or("", |(_, place)| place);
        (place.to_owned(), error)
    };
    failed.into_iter().map(place).collect()
}
