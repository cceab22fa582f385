//! `fidelity record [--keep-going] [NAME…]`: writes recordings, all or those whose names begin so; with `--keep-going` the others too
//! when one fails, as with a release that answers in a form that a recorder does not know.
//! `fidelity record --check [--sample N] [--seed S] [NAME…]`: records anew and prints what differs from what is committed.
//! `fidelity list`: prints all recordings.
//! `fidelity compare [--from SEED] [--count N] [--valid] [--probes]`: asks both servers, prints every difference, shrunk.
//! The real server is that of KUBECONFIG, or one that is started from KUBEBUILDER_ASSETS or target/control-plane.

use anyhow::{Context, Result, bail, ensure};
use fidelity::{
    Program, Target,
    comparison::Comparison,
    probes, random,
    recording::{self, Pick, Real, Recording},
};
use futures::{StreamExt, TryStreamExt, stream};
use std::{collections::BTreeSet, env, fs, process::ExitCode, time::Instant};

/// Recordings that are compared at a time: most of them wait for the server.
const AT_ONCE: usize = 8;

/// The parsed command line.
#[derive(Default)]
struct Options {
    from: u64,
    count: Option<u64>,
    with_probes: bool,
    is_valid: bool,
    whole: bool,
    check: bool,
    keep_going: bool,
    sample: Option<usize>,
    seed: u64,
    names: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let mut arguments = env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let options = Options::read(arguments)?;
    match command.as_str() {
        "list" => list(),
        "record" if options.check => check(&options).await,
        "record" => record(&options).await,
        "compare" => compare(&options).await,
        other => bail!("`{other}` is not known\n\nhint: record, list, compare"),
    }
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self {
            from: 1,
            ..Self::default()
        };
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let number = arguments.next().and_then(|it| it.parse().ok());
                number.with_context(|| format!("`{argument}` needs a number"))
            };
            match argument.as_str() {
                "--from" => options.from = number()?,
                "--count" => options.count = Some(number()?),
                "--probes" => options.with_probes = true,
                "--valid" => options.is_valid = true,
                "--whole" => options.whole = true,
                "--check" => options.check = true,
                "--keep-going" => options.keep_going = true,
                "--sample" => options.sample = Some(usize::try_from(number()?)?),
                "--seed" => options.seed = number()?,
                other if other.starts_with('-') => bail!(
                    "`{other}` is not known\n\nhint: --check, --sample N, --seed S, --keep-going; --from SEED, --count N, --valid, --probes, \
                     --whole (do not shrink)"
                ),
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    /// The recordings that are named; all if none is.
    fn recordings(&self) -> Result<Vec<Recording>> {
        let mut all = recording::all()?;
        for name in &self.names {
            ensure!(
                all.iter().any(|it| it.name.starts_with(name)),
                "there is no recording `{name}`\n\nhint: `fidelity list` lists them"
            );
        }
        all.retain(|it| self.names.is_empty() || self.names.iter().any(|name| it.name.starts_with(name)));
        Ok(all)
    }
}

fn list() -> Result<ExitCode> {
    for Recording { name, file, recorder } in recording::all()? {
        println!("{name:20} {file:60} {}", recorder.source());
    }
    Ok(ExitCode::SUCCESS)
}

async fn record(options: &Options) -> Result<ExitCode> {
    let real = Real::start().await?;
    let mut code = ExitCode::SUCCESS;
    for recording in options.recordings()? {
        let outcome = match recording::write(&recording, &real).await {
            Ok(Some(true)) => "changed".to_owned(),
            Ok(Some(false)) => "as it was".to_owned(),
            Ok(None) => "not recorded: a program is missing".to_owned(),
            Err(error) if options.keep_going => {
                code = ExitCode::FAILURE;
                format!("not recorded: {error:#}")
            }
            Err(error) => return Err(error.context(recording.name)),
        };
        println!("{:20} {outcome}", recording.name);
    }
    Ok(code)
}

async fn check(options: &Options) -> Result<ExitCode> {
    let real = Real::start().await?;
    let pick = match options.sample {
        Some(count) => Pick::Sample {
            count,
            seed: options.seed,
        },
        None => Pick::All,
    };
    let compared = options.recordings()?.into_iter().map(|recording| async {
        let started = Instant::now();
        let found = recording::differences(&recording, &real, &pick).await;
        let found = found.with_context(|| recording.name.clone());
        (recording, found, started.elapsed().as_secs_f64())
    });
    let mut compared = stream::iter(compared).buffered(AT_ONCE);
    let (mut different, mut skipped) = (0, Vec::new());
    while let Some((recording, found, seconds)) = compared.next().await {
        let found = found?;
        let found = found.map(|found| found.text);
        let outcome = match found.as_deref() {
            None => "not compared: a program is missing",
            Some("") => "as recorded",
            Some(_) => "differs",
        };
        println!("{:20} {outcome}, {seconds:.1} s", recording.name);
        if found.is_none() {
            skipped.push(format!("{}: {}", recording.name, recording.recorder.source()));
        }
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            different += 1;
            let Recording { name, file, .. } = &recording;
            println!("{file}\n{found}\nhint: `cargo run -p fidelity -- record {name}` records it anew");
        }
    }
    if !skipped.is_empty() {
        let line = "*".repeat(76);
        let list = skipped.join("\n  ");
        eprintln!("\n{line}\nSKIPPED: these recordings were NOT compared:\n  {list}\n{line}\n");
    }
    Ok(match different {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// The seeds whose differences the ledger explains: `seed 7`, one per line.
fn known() -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/known-seeds"))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

async fn compare(options: &Options) -> Result<ExitCode> {
    let seeds = options.from..options.from + options.count.unwrap_or(200);
    let mut programs: Vec<Program> = match options.is_valid {
        true => stream::iter(seeds).then(random::valid::program).try_collect().await?,
        false => seeds.map(random::program).collect(),
    };
    if options.with_probes {
        // Those with parameters are compared by their recordings, which come first on a server.
        let all = probes()?.into_values().flatten();
        programs.extend(all.filter(|program| !program.has_parameters()));
    }
    let real = Real::start().await?;
    let comparison = Comparison {
        real: real.target.clone(),
        ours: Target::in_process(),
        known: known()?,
        whole: options.whole,
    };
    Ok(match comparison.of(programs).await {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
