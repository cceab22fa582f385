//! One run: users create the samples, change them and their children, and delete them, while the operator runs, dies and
//! starts again. After each phase, when all is quiet, the oracles look at the objects.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::{Instant, sleep, sleep_until};

use super::{
    super::account::is_namespaced,
    differences, external,
    fault::{At, Fault},
    oracle::{self, Finding, Oracle},
    panics, phase_faults,
    phases::{
        ALTERED, BEFORE_ALTERATION, CHANGED, EDITED, PHASES, PHASES_OF_ALTERATIONS, PHASES_OF_SIBLINGS, SIBLINGS,
        TEARDOWN, WIPED, WITHOUT_SIBLINGS,
    },
    plan::{Course, Plan},
    processes::{End, RESTART},
    reconciles,
    setup::Specs,
    state::{self, Live, State},
    users::{Marked, Users},
    world::Sent,
};

/// It is quiet when nothing was written or failed for this long: longer than the past and a request without answer last.
const QUIET: Duration = Duration::from_secs(75);
/// An operator that is not quiet after this long never will be.
const PATIENCE: Duration = Duration::from_secs(1200);
/// How long watches deliver nothing.
const MISSED: Duration = Duration::from_secs(60);
/// More than the longest delay after an error, with the defaults of the runtime and of client-go.
const LONGEST_DELAY: Duration = Duration::from_secs(1200);
/// The error of the clock of another machine, in seconds.
const SKEW: i64 = 300;
/// How often a process may end by itself while there are faults: the kubelet restarts it.
const EXITS: usize = 8;

/// A run's users and oracles.
pub(super) struct Story<'a> {
    pub bystanders: Vec<Live>,
    pub plan: &'a Plan<'a>,
    pub users: Users,
    pub marked: Marked,
    /// The keys of children that are created once.
    pub created_once: BTreeSet<String>,
    pub states: Vec<State>,
}

impl Story<'_> {
    pub(super) async fn play(&mut self) -> Option<Finding> {
        match self.plan.course {
            Course::Siblings => return self.play_siblings().await.err(),
            Course::Alters(specs) => return self.alter(specs).await.err(),
            Course::Whole | Course::Creates(_) => {}
        }
        for (phase, heading) in PHASES.iter().enumerate() {
            let world = self.users.world.clone();
            self.begin(phase);
            world.tell("", *heading);
            world.stir();
            let version = world.version();
            let faults = world.book().meet(At::Phase(phase));
            phase_faults::start(&world, &faults);
            phase_faults::delay_kinds(&world, self.plan.calm.map_or(&[][..], |calm| &calm.kinds));
            if faults.contains(&Fault::Missed) {
                // Users may wait for what the operator does when it sees the changes.
                let world = world.clone();
                tokio::spawn(async move {
                    sleep(MISSED).await;
                    phase_faults::end_watches(&world);
                });
            }
            if let Course::Creates(specs) = self.plan.course {
                self.users.create(specs).await;
                return self.settle(phase).await.err().or_else(|| self.judge(phase));
            }
            self.act(phase).await;
            if faults.contains(&Fault::Expired) {
                world.tell_fault(Fault::Expired);
                phase_faults::end_watches(&world);
            }
            if let Err(finding) = self.settle(phase).await {
                return Some(finding);
            }
            let was_late = phase_faults::end(&world);
            for fault in faults {
                let end = match fault {
                    Fault::RestartStale => End {
                        past: Some(version),
                        ..End::default()
                    },
                    Fault::ClockAhead => End {
                        skew: SKEW,
                        ..End::default()
                    },
                    Fault::ClockBehind => End {
                        skew: -SKEW,
                        ..End::default()
                    },
                    _ => continue,
                };
                world.tell_fault(fault);
                if let Err(finding) = self.restart(phase, end).await {
                    return Some(finding);
                }
            }
            if phase == EDITED
                && self.plan.calm.is_none()
                && let Err(finding) = self.find_created_once(phase).await
            {
                return Some(finding);
            }
            let mut finding = self.judge(phase);
            if finding.is_some() && was_late {
                // A right operator may have failed so often meanwhile that its next attempt is minutes away.
                sleep(LONGEST_DELAY).await;
                self.states.pop();
                finding = self.settle(phase).await.err().or_else(|| self.judge(phase));
            }
            if finding.is_some() {
                return finding;
            }
        }
        None
    }

    /// Without faults: what operators do to siblings of an object.
    async fn play_siblings(&mut self) -> Result<(), Finding> {
        for (n, heading) in PHASES_OF_SIBLINGS.iter().enumerate() {
            let (phase, users) = (PHASES.len() + n, self.users.clone());
            self.begin(phase);
            users.world.tell("", *heading);
            users.world.stir();
            match n {
                0 => users.create(Specs::First).await,
                1 => users.create_siblings().await,
                _ => users.delete_siblings().await,
            }
            match self.settle(phase).await {
                // The operator may refuse a sibling, for example because two objects want the same name.
                Err(finding) if phase == SIBLINGS && finding.is_lasting() => {}
                settled => settled?,
            }
            self.judge(phase).map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Without faults: what operators do with these specs.
    async fn alter(&mut self, specs: Specs) -> Result<(), Finding> {
        for (n, heading) in PHASES_OF_ALTERATIONS.iter().enumerate() {
            let (phase, users) = (BEFORE_ALTERATION + n, self.users.clone());
            self.begin(phase);
            users
                .world
                .tell("", format!("{heading}{}", users.setup.values(specs, n)));
            users.world.stir();
            match n {
                0 => users.create(Specs::First).await,
                _ => users.change(specs, phase == ALTERED).await,
            }
            self.settle(phase).await?;
            self.judge(phase).map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Begins a phase: its requests are counted from the first one that it has without faults.
    fn begin(&self, phase: usize) {
        let to_come = |sent: &[Sent]| -> Vec<_> {
            let its = sent.iter().enumerate().filter(|(_, sent)| sent.phase == phase);
            its.map(|(n, sent)| (n, sent.text.clone())).collect()
        };
        let book = &mut *self.users.world.book();
        book.phase = phase;
        if let Some(calm) = self.plan.calm {
            (book.writes_to_come, book.reads_to_come) = (to_come(&calm.writes), to_come(&calm.reads));
        }
    }

    /// A child that does not depend on the spec, and whose edits neither a new process nor a change of the spec repairs, is
    /// created once, and belongs to users afterwards. If one of them repairs the edits, the operator has missed them.
    async fn find_created_once(&mut self, phase: usize) -> Result<(), Finding> {
        let found = || state::comparable(&self.users.new_objects(), &self.users.setup.volatile);
        let (first, changed) = (&self.states[0], &self.states[CHANGED]);
        let edited = found();
        let keys: BTreeSet<_> = differences::different(first, &edited).cloned().collect();
        let is_constant = |key: &String| !self.users.setup.is_sample(key) && first.get(key) == changed.get(key);
        if keys.is_empty() || !keys.iter().all(is_constant) {
            return Ok(());
        }
        let (writes, reads) = {
            let book = self.users.world.book();
            (book.writes.len(), book.reads.len())
        };
        let is_repaired = || differences::different(&edited, &found()).any(|key| keys.contains(key));
        self.restart(phase, End::default()).await?;
        for forth in [true, false] {
            if !is_repaired() {
                self.users.change(Specs::Changed, forth).await;
                self.settle(phase).await?;
            }
        }
        if is_repaired() {
            let lines = differences::differences(first, &edited);
            let oracle = Oracle::State;
            return Err(Finding { oracle, phase, lines });
        }
        // Runs with faults have none of these requests.
        let book = &mut *self.users.world.book();
        book.writes.truncate(writes);
        book.reads.truncate(reads);
        for state in &mut self.states {
            state::mark_created_once(state, &keys);
        }
        self.created_once = keys;
        Ok(())
    }

    /// Restarts the process. Nobody else acts, so no object may be replaced.
    async fn restart(&self, phase: usize, end: End) -> Result<(), Finding> {
        let world = &self.users.world;
        let uids = || -> BTreeMap<_, _> {
            let lives = state::since(&world.server, self.users.since);
            lives.iter().map(|live| (live.key(), live.uid().to_owned())).collect()
        };
        let before = uids();
        // The run has a receiver.
        let _ = world.kill.send(end);
        sleep(RESTART).await;
        self.settle(phase).await?;
        let is_replaced = |key: &String, uid: &String| before.get(key).is_some_and(|before| before != uid);
        let replaced = uids().into_iter().filter(|(key, uid)| is_replaced(key, uid));
        let line = |key| format!("{key} was deleted and created again after the restart");
        let lines: Vec<_> = replaced.map(|(key, _)| line(key)).collect();
        match lines.is_empty() {
            true => Ok(()),
            false => Err(Finding {
                oracle: Oracle::State,
                phase,
                lines,
            }),
        }
    }

    async fn act(&mut self, phase: usize) {
        let users = self.users.clone();
        match phase {
            0 => users.create(Specs::First).await,
            CHANGED => {
                self.marked = users.mark().await;
                users.change(Specs::Changed, true).await;
            }
            2 => {
                self.marked.held.clear();
                users.remove_finalizers().await;
                users.change(Specs::Changed, false).await;
            }
            EDITED => users.edit_children().await,
            4 => users.delete_children().await,
            WIPED => users.wipe_status().await,
            6 => {
                // Jobs that ended, and that users deleted, are not compared up to here: a fault that recreates objects earlier
                // runs some of them again. From here on, new objects run all their Jobs.
                users.taken().ended.clear();
                users.recreate().await;
            }
            _ => users.delete().await,
        }
    }

    /// Waits until all is quiet.
    async fn settle(&self, phase: usize) -> Result<(), Finding> {
        let world = &self.users.world;
        let until = Instant::now() + PATIENCE;
        loop {
            let (active, hot) = {
                let book = world.book();
                (book.active, book.hot.clone())
            };
            let finding = |oracle, lines| Err(Finding { oracle, phase, lines });
            let panics = panics::take();
            if !panics.is_empty() {
                return finding(Oracle::Panic, panics);
            }
            let refused = oracle::refused(world, &self.users.setup);
            if !refused.is_empty() {
                return finding(Oracle::Permission, refused);
            }
            if let Some(text) = hot {
                return finding(
                    Oracle::HotLoop,
                    vec![format!("it {text} hundreds of times in a minute")],
                );
            }
            if let Some(reconcile) = reconciles::hot() {
                let (controller, object) = reconcile.split_once(' ').unwrap_or_default();
                let line =
                    format!("controller `{controller}` reconciles `{object}` more than a thousand times in a minute");
                return finding(Oracle::HotLoop, vec![line]);
            }
            let exits = world.book().ended.clone();
            let is_faulty = !world.schedule.0.is_empty();
            if exits.len() > if is_faulty { EXITS } else { 0 } {
                return finding(Oracle::Exit, exits);
            }
            if active.elapsed() >= QUIET {
                return Ok(());
            }
            if Instant::now() >= until {
                return finding(Oracle::Quiet, self.last_writes());
            }
            sleep_until((active + QUIET).min(Instant::now() + Duration::from_secs(10))).await;
        }
    }

    fn last_writes(&self) -> Vec<String> {
        let book = self.users.world.book();
        let last = book.steps.iter().rev().take(3);
        last.map(|step| format!("{} {}", step.who, step.what)).collect()
    }

    /// What is wrong at the end of a phase.
    fn judge(&mut self, phase: usize) -> Option<Finding> {
        if phase == WIPED || self.users.world.is_status_wiped() {
            self.marked.conditioned.clear();
        }
        let setup = self.users.setup.clone();
        let server = &self.users.world.server;
        let lives = state::since(server, self.users.since);
        let new = self.users.new_objects();
        let mut found = state::comparable(&new, &setup.volatile);
        state::mark_created_once(&mut found, &self.created_once);
        let held = external::held(&self.users.world, &new);
        let mut wrong = vec![
            (Oracle::Foreign, oracle::foreign(server, &self.bystanders, &lives)),
            (Oracle::Foreign, oracle::unmarked(&lives, &self.marked)),
            (Oracle::Finalizer, oracle::held(&setup, &new)),
        ];
        if phase == TEARDOWN {
            let line = |name: &String| format!("{name} exists");
            let lines = oracle::left(&new).into_iter().chain(held.keys().map(line));
            wrong.push((Oracle::Leftover, lines.collect()));
        } else {
            found.extend(held);
            wrong.push((Oracle::Generation, oracle::generations(&new)));
            let reference = match self.plan.calm {
                Some(calm) => calm.states.get(phase),
                None if matches!(phase, CHANGED | ALTERED) => self.plan.other,
                None if phase == SIBLINGS => None,
                None => self.states.first(),
            };
            let differences = reference.map(|reference| {
                let mut states = [reference, &found].map(State::clone);
                for state in &mut states {
                    state.retain(|key, _| !self.users.taken().ended.contains(key));
                }
                differences::differences(&states[0], &states[1])
            });
            wrong.push((Oracle::State, differences.unwrap_or_default()));
            if let (Some(before), true) = (self.states.first(), phase == WITHOUT_SIBLINGS) {
                // More than a difference: the operator has not cleaned up.
                wrong.insert(0, (Oracle::Leftover, oracle::surplus(before, &found)));
            }
            if phase == SIBLINGS {
                let before = self.states.first().cloned().unwrap_or_default();
                let mut lines = oracle::displaced(&before, &found);
                if oracle::failing(&new).is_empty() && !is_namespaced(&setup.roles) {
                    lines.extend(oracle::lacking(&setup, &before, &found));
                }
                wrong.push((Oracle::State, lines));
            } else {
                wrong.push((Oracle::Failing, oracle::failing(&new)));
            }
        }
        let objects: Vec<_> = new.iter().map(|live| live.object.clone()).collect();
        // Invariants are about the samples.
        for (name, invariant) in setup.invariants.iter().filter(|_| phase != SIBLINGS) {
            let line = invariant(&objects).err().map(|error| format!("{name}: {error}"));
            wrong.push((Oracle::Invariant, line.into_iter().collect()));
        }
        self.states.push(found);
        let (oracle, lines) = wrong.into_iter().find(|(_, lines)| !lines.is_empty())?;
        Some(Finding { oracle, phase, lines })
    }
}
