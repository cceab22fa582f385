//! Compares the generated operator with equivalent ones on controller-runtime and on kube-rs' own Controller, on one
//! control plane in one run, and measures the command line. `make bench` builds everything and runs it; the output is
//! Markdown.

mod commands;
mod load;
mod scale;
mod stats;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use control_plane::{Api, Assets, ControlPlane, Operator, Project, Settings, root};

use crate::{
    load::{Amount, Sample},
    stats::{Row, Table},
};

/// The contender that the others are compared with.
const REFERENCE: &str = "controller-runtime";

/// An operator to measure.
struct Contender {
    name: &'static str,
    binary: PathBuf,
}

struct Flags {
    rounds: usize,
    only: Vec<String>,
    /// A binary to measure instead of the generated operator.
    operator: Option<PathBuf>,
    amount: Amount,
    operators: bool,
    commands: bool,
    scale: bool,
    /// The number of FooBars of the largest scale.
    most: usize,
    first_build: bool,
}

#[tokio::main]
async fn main() -> Result<()> {
    let flags = flags(std::env::args().skip(1))?;
    let binary = match &flags.operator {
        Some(binary) => binary.clone(),
        None => project()?.release()?,
    };
    if flags.operators {
        let contenders = contenders(&binary, &flags.only)?;
        print!("{}", operators(&binary, &contenders, &flags).await?);
    }
    if flags.scale {
        print!("{}", scale::measure(&binary, flags.most).await?);
    }
    if flags.commands {
        print!("{}", commands::measure(&project()?, flags.rounds, flags.first_build)?);
    }
    Ok(())
}

/// The project whose operator is measured.
fn project() -> Result<Project> {
    let api = Api {
        group: "test",
        kind: "FooBar",
        flags: &["--finalizer"],
        ..Api::default()
    };
    Project::generate("bench-operator", &[api])
}

fn flags(mut arguments: impl Iterator<Item = String>) -> Result<Flags> {
    let amount = Amount {
        objects: 3000,
        single: 200,
        workers: 8,
    };
    let mut flags = Flags {
        rounds: 5,
        only: Vec::new(),
        operator: None,
        amount,
        operators: true,
        commands: true,
        scale: true,
        most: 100_000,
        first_build: false,
    };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => flags.rounds = number(arguments.next())?.max(1),
            "--objects" => flags.amount.objects = number(arguments.next())?,
            "--single" => flags.amount.single = number(arguments.next())?,
            "--workers" => flags.amount.workers = number(arguments.next())?,
            "--only" => flags.only.push(arguments.next().context("`--only` needs a name")?),
            "--operator" => flags.operator = Some(arguments.next().context("`--operator` needs a file")?.into()),
            "--most" => flags.most = number(arguments.next())?.max(10),
            "--only-operators" => (flags.commands, flags.scale) = (false, false),
            "--only-commands" => (flags.operators, flags.scale) = (false, false),
            "--only-scale" => (flags.operators, flags.commands) = (false, false),
            "--first-build" => flags.first_build = true,
            other => bail!(
                "`{other}` is not known\n\nhint: --rounds N, --objects N, --single N, --workers N, --only OPERATOR…, \
                 --operator FILE, \
                 --only-operators, --only-commands, --only-scale, --most N, --first-build"
            ),
        }
    }
    Ok(flags)
}

fn number(argument: Option<String>) -> Result<usize> {
    let value = argument.context("a number is missing")?;
    value.parse().with_context(|| format!("`{value}` is not a number"))
}

fn contenders(ours: &Path, only: &[String]) -> Result<Vec<Contender>> {
    let built = root().join("target/bench");
    let mut contenders = Vec::new();
    for name in ["kubewright", REFERENCE, "kube-rs"] {
        if !only.is_empty() && !only.iter().any(|only| only == name) {
            continue;
        }
        let binary = match name {
            "kubewright" => ours.to_owned(),
            "kube-rs" => built.join("kube-rs/release/kube-rs-operator"),
            name => built.join(name),
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

/// Measures all contenders in turn, round by round, in a different order each time, so that other load affects all of
/// them equally.
async fn operators(ours: &Path, contenders: &[Contender], flags: &Flags) -> Result<Table> {
    let plane = ControlPlane::start(&Assets::find()?, Settings::default()).await?;
    // All contenders use the same kind.
    let mut operator = Operator::start(ours, &["--install-crds"], &plane.kubeconfig(), plane.folder())?;
    operator.ready(load::PATIENCE).await?;
    operator.terminate(load::PATIENCE).await?;
    let mut samples: Vec<Vec<Sample>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..flags.rounds {
        for turn in 0..contenders.len() {
            // No contender always runs after the same other one.
            let at = (round / 2 + turn) % contenders.len();
            let at = if round % 2 == 0 { at } else { contenders.len() - 1 - at };
            eprintln!("round {} of {}: {}", round + 1, flags.rounds, contenders[at].name);
            let namespace = format!("bench-{round}-{turn}");
            plane.calm().await?;
            let sample = load::measure(&plane, &contenders[at].binary, &namespace, flags.amount).await;
            samples[at].push(sample.with_context(|| contenders[at].name)?);
        }
    }
    let amount = flags.amount;
    let of = |what: &str, value: fn(&Sample) -> f64| {
        Row::new(what, samples.iter().map(|all| all.iter().map(value).collect()))
    };
    let sizes = contenders
        .iter()
        .map(|it| Ok(vec![it.binary.metadata()?.len() as f64 / 1e6]))
        .collect::<Result<Vec<_>>>()?;
    Ok(Table {
        title: format!(
            "{} FooBars, {} workers, {} rounds",
            amount.objects, amount.workers, flags.rounds
        ),
        columns: contenders.iter().map(|contender| contender.name.to_owned()).collect(),
        reference: contenders.iter().position(|contender| contender.name == REFERENCE),
        rows: vec![
            of("all Ready, s", |sample| sample.wall),
            of("all Ready and all events written, s", |sample| sample.events_written),
            of("create → Ready, p50, s", |sample| sample.p50),
            of("create → Ready, p99, s", |sample| sample.p99),
            of("one at a time, min, ms", |sample| sample.single[0]),
            of("one at a time, median, ms", |sample| sample.single[1]),
            of("one at a time, max, ms", |sample| sample.single[2]),
            of("CPU, s", |sample| sample.cpu),
            of("memory idle, MiB", |sample| sample.idle),
            of("memory loaded (peak), MiB", |sample| sample.peak),
            of("requests per FooBar", |sample| sample.requests),
            Row::new("binary, MB", sizes.into_iter()),
        ],
    })
}
