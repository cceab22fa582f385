//! Runs the generated operator under faults for a while, and checks that the final state is the same as without faults.
//! `make soak` runs it; the output is Markdown. The seed decides the faults, their order and their durations.

mod crew;
mod oracle;
mod report;
mod scene;
mod trouble;
mod users;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use tokio::sync::watch;

use crate::{crew::Crew, report::Report, scene::Scene, trouble::Trouble};

/// The time with faults in a round, before its checks.
const ROUND: Duration = Duration::from_secs(90);

struct Flags {
    minutes: f64,
    seed: u64,
    names: u64,
    malformed: usize,
    release: bool,
}

#[tokio::main]
async fn main() -> Result<()> {
    let flags = flags(std::env::args().skip(1))?;
    eprintln!("soak of {} minutes with seed {}", flags.minutes, flags.seed);
    let mut report = Report::default();
    let began = Instant::now();
    let ended = soak(&flags, &mut report).await;
    report.print(flags.seed, began.elapsed());
    ended.with_context(|| format!("seed {}, round {}", flags.seed, report.rounds.len() + 1))
}

fn flags(mut arguments: impl Iterator<Item = String>) -> Result<Flags> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let mut flags = Flags {
        minutes: 10.0,
        seed: now.as_secs(),
        names: 60,
        malformed: 1000,
        release: false,
    };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minutes" => flags.minutes = number(arguments.next())?,
            "--seed" => flags.seed = number(arguments.next())?,
            "--names" => flags.names = number(arguments.next())?,
            "--malformed" => flags.malformed = number(arguments.next())?,
            "--release" => flags.release = true,
            other => {
                bail!("`{other}` is not known\n\nhint: --minutes N, --seed N, --names N, --malformed N, --release")
            }
        }
    }
    Ok(flags)
}

fn number<T: std::str::FromStr>(argument: Option<String>) -> Result<T> {
    let value = argument.context("a number is missing")?;
    value.parse().ok().with_context(|| format!("`{value}` is not a number"))
}

/// Half of the time for one process that runs through all faults, the other half for two of which one leads.
async fn soak(flags: &Flags, report: &mut Report) -> Result<()> {
    let mut chance = Rng::with_seed(flags.seed);
    let mut scene = Scene::set(flags.names, flags.malformed, flags.release).await?;
    let ended = run(&mut scene, &mut chance, flags, report).await;
    report.count(&scene);
    if ended.is_err() {
        let kept = scene.keep_logs()?;
        eprintln!("all logs are kept in `{}`", kept.display());
    }
    ended
}

async fn run(scene: &mut Scene, chance: &mut Rng, flags: &Flags, report: &mut Report) -> Result<()> {
    scene.users.fill().await;
    // The baseline of its memory: all objects have been reconciled and changed once.
    scene.judge().await?;
    report.note_start(scene).await?;
    let half = Duration::from_secs_f64(flags.minutes * 30.0);
    play(scene, chance, half, report).await?;
    // The earlier ones may have been deleted with their definition.
    Trouble::Malformed.happen(scene, chance).await?;
    report.repaired = scene.repair_malformed().await?;
    report.note_end(scene).await?;

    // Not two crews at the same time: they do not share a lease.
    scene.crew.dismiss();
    scene.crew = Crew::pair(scene.start.clone()).await?;
    play(scene, chance, half, report).await
}

/// Rounds of faults, each with checks, until the time is over; at least one.
async fn play(scene: &mut Scene, chance: &mut Rng, time: Duration, report: &mut Report) -> Result<()> {
    let began = Instant::now();
    let mut due = Vec::new();
    loop {
        let round = Instant::now();
        let length = ROUND.min(time.saturating_sub(began.elapsed()));
        let (stop, stopped) = watch::channel(false);
        let users = tokio::spawn(scene.users.clone().meddle(chance.fork(), stopped));
        while round.elapsed() < length {
            if due.is_empty() {
                due = Trouble::shuffled(chance, scene.crew.is_lone());
            }
            let Some(trouble) = due.pop() else { continue };
            eprintln!("{:>6.1} s  {trouble:?}", began.elapsed().as_secs_f64());
            trouble
                .happen(scene, chance)
                .await
                .with_context(|| format!("{trouble:?}"))?;
            *report.troubles.entry(trouble).or_default() += 1;
            scene.crew.supervise()?;
            let calm = Duration::from_millis(chance.u64(0..2500));
            tokio::time::sleep(calm).await;
        }
        stop.send_replace(true);
        users.await?;
        let verdict = scene.judge().await?;
        eprintln!(
            "{:>6.1} s  {} FooBars in their desired state, {:.1} s after the last fault",
            began.elapsed().as_secs_f64(),
            verdict.foobars,
            verdict.settled.as_secs_f64()
        );
        report.rounds.push(verdict);
        if began.elapsed() >= time {
            return Ok(());
        }
    }
}
