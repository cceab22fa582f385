//! Compares the generated operator with equivalent ones on controller-runtime and on kube-rs' own Controller, each beside
//! the other in one run, and measures the command line. `make bench` builds everything and runs it; the output is
//! Markdown.

mod bare;
mod caches;
mod commands;
mod flags;
mod load;
mod requests;
mod server;
mod stats;
mod watching;
mod webhooks;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::{Context, Result, ensure};
use control_plane::{Api, Assets, ControlPlane, Operator, Project, Settings, root};

use crate::{
    flags::{Events, Flags, Part},
    load::{Figures, Place},
    server::Server,
    stats::{Row, Table},
};

/// The contender that the others are compared with.
const REFERENCE: &str = "controller-runtime";

/// The column of the requests without an operator: see `bare`.
const BARE: &str = "the requests alone";

/// An operator to measure.
struct Contender {
    name: &'static str,
    binary: PathBuf,
}

#[tokio::main]
async fn main() -> Result<()> {
    let flags = flags::parse(std::env::args().skip(1))?;
    if flags.has(Part::Requests) {
        print!("{}", requests::measure(flags.rounds).await?);
    }
    if flags.has(Part::Real) {
        for events in &flags.events {
            print!(
                "{}",
                on_real_server(&contenders(&flags, *events)?, *events, &flags).await?
            );
        }
    }
    if flags.has(Part::InProcess) {
        let contenders = contenders(&flags, Events::Neither)?;
        print!("{}", in_process(&contenders, &flags).await?);
    }
    if flags.has(Part::Caches) {
        let contenders = contenders(&flags, Events::Both)?;
        for objects in &flags.cached {
            let figures = caches::measure(&contenders, *objects, flags.rounds.min(3)).await?;
            print!(
                "{}",
                table(format!("{objects} objects read into the caches"), &contenders, figures)
            );
        }
    }
    if flags.has(Part::Webhooks) {
        let project = webhooks::project()?;
        let peer = root().join("target/bench").join(REFERENCE);
        let contenders = [("kubewright", project.release()?), (REFERENCE, peer)];
        let contenders = contenders.map(|(name, binary)| Contender { name, binary });
        let figures = webhooks::measure(&project, &contenders, flags.rounds).await?;
        let title = format!("Webhooks on kube-apiserver, {} rounds", flags.rounds);
        print!("{}", table(title, &contenders, figures));
    }
    if flags.has(Part::Commands) {
        let project = project("bench-operator")?;
        print!("{}", commands::measure(&project, flags.rounds, flags.first_build)?);
    }
    Ok(())
}

/// A project whose operator is measured.
fn project(name: &str) -> Result<Project> {
    let api = Api {
        group: "test",
        kind: "FooBar",
        flags: &["--finalizer"],
        ..Api::default()
    };
    Project::generate(name, &[api])
}

/// The release build of the generated operator, which is built once.
fn ours(events: Events) -> Result<PathBuf> {
    static BUILT: [OnceLock<PathBuf>; 2] = [const { OnceLock::new() }; 2];
    let built = &BUILT[events as usize];
    match built.get() {
        Some(binary) => Ok(binary.clone()),
        None => {
            let binary = build(events)?;
            Ok(built.get_or_init(|| binary).clone())
        }
    }
}

/// Builds it; without the events of its successes, if there are to be none.
fn build(events: Events) -> Result<PathBuf> {
    let silent = match events {
        Events::Both => return project("bench-operator")?.release(),
        Events::Neither => project("bench-silent")?,
    };
    let controller = silent.folder().join("src/controllers/foobar.rs");
    let text = fs::read_to_string(&controller)?;
    let is_event = |line: &&str| line.trim_start().starts_with("cx.event(EventType::Normal,") && line.ends_with(';');
    ensure!(
        text.lines().filter(is_event).count() == 2,
        "the generated controller has other events"
    );
    let lines: Vec<_> = text.lines().filter(|line| !is_event(line)).collect();
    fs::write(&controller, lines.join("\n"))?;
    silent.release()
}

fn contenders(flags: &Flags, events: Events) -> Result<Vec<Contender>> {
    let built = root().join("target/bench");
    let mut contenders = Vec::new();
    for name in ["kubewright", REFERENCE, "kube-rs"] {
        if !flags.only.iter().any(|only| only == name) {
            continue;
        }
        let binary = match (name, &flags.operator) {
            ("kubewright", Some(binary)) => binary.clone(),
            ("kubewright", None) => ours(events)?,
            ("kube-rs", _) => built.join("kube-rs/release/kube-rs-operator"),
            (name, _) if events == Events::Neither => built.join(format!("{name}-silent")),
            (name, _) => built.join(name),
        };
        let path = binary.display();
        ensure!(
            binary.is_file(),
            "no `{path}`\n\nhint: run `make bench`, which builds it"
        );
        contenders.push(Contender { name, binary });
    }
    Ok(contenders)
}

async fn on_real_server(contenders: &[Contender], events: Events, flags: &Flags) -> Result<Table> {
    let plane = ControlPlane::start(&Assets::find()?, Settings::default()).await?;
    let place = Place::of(&plane).await?;
    install(&contenders[0].binary, &place).await?;
    let calm = async || plane.calm().await;
    let figures = rounds(&place, contenders, flags, calm).await?;
    let title = format!("kube-apiserver, events {}, {}", events.describe(), flags.describe());
    Ok(table(title, contenders, figures))
}

async fn in_process(contenders: &[Contender], flags: &Flags) -> Result<Table> {
    let server = Server::start().await?;
    let place = server.place().await?;
    install(&contenders[0].binary, &place).await?;
    let figures = rounds(&place, contenders, flags, async || Ok(())).await?;
    let events = Events::Neither.describe();
    let title = format!("The in-process API server, events {events}, {}", flags.describe());
    Ok(table(title, contenders, figures))
}

/// Installs the kind, which all contenders share. The first one can.
async fn install(ours: &Path, place: &Place) -> Result<()> {
    let arguments = ["--install-crds", "--webhook-bind-address=0"];
    let mut operator = Operator::start(ours, &arguments, &place.kubeconfig, &place.folder)?;
    operator.ready(load::PATIENCE).await?;
    operator.terminate(load::PATIENCE).await?;
    Ok(())
}

/// Measures all contenders in turn, round by round, in a different order each time, so that other load affects all of
/// them equally.
async fn rounds(
    place: &Place,
    contenders: &[Contender],
    flags: &Flags,
    calm: impl AsyncFn() -> Result<()>,
) -> Result<Vec<Vec<Figures>>> {
    let mut all: Vec<Vec<Figures>> = contenders.iter().map(|_| Vec::new()).collect();
    let mut bare = Vec::new();
    for round in 0..flags.rounds {
        for turn in 0..contenders.len() {
            // No contender always runs after the same other one.
            let at = (round / 2 + turn) % contenders.len();
            let at = if round % 2 == 0 { at } else { contenders.len() - 1 - at };
            eprintln!("round {} of {}: {}", round + 1, flags.rounds, contenders[at].name);
            let namespace = format!("bench-{round}-{turn}");
            calm().await?;
            let figures = load::measure(place, &contenders[at].binary, &namespace, flags.amount).await;
            all[at].push(figures.with_context(|| contenders[at].name)?);
        }
        eprintln!("round {} of {}: {BARE}", round + 1, flags.rounds);
        calm().await?;
        let figures = bare::measure(place, &format!("bench-{round}-bare"), flags.amount).await;
        bare.push(figures.context(BARE)?);
    }
    all.push(bare);
    Ok(all)
}

/// A row for each figure of the first contender. Samples beyond the contenders' are those of the requests alone.
fn table(title: String, contenders: &[Contender], samples: Vec<Vec<Figures>>) -> Table {
    let figures = samples.first().and_then(|rounds| rounds.first()).into_iter().flatten();
    let rows = figures.map(|(what, _)| {
        let named = |figures: &Figures| figures.iter().find(|(name, _)| name == what).map(|(_, value)| *value);
        let columns = samples.iter().map(|rounds| rounds.iter().filter_map(named).collect());
        Row::new(what, columns)
    });
    let names = contenders.iter().map(|contender| contender.name).chain([BARE]);
    Table {
        title,
        columns: names.take(samples.len()).map(str::to_owned).collect(),
        reference: contenders.iter().position(|contender| contender.name == REFERENCE),
        rows: rows.collect(),
    }
}
