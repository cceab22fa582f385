//! `fidelity record`: sends the probes to the real server and stores the answers in `recorded/`.
//! `fidelity compare [--from SEED] [--count N] [--probes]`: runs programs on both servers, and prints every difference,
//! shrunk.
//! The real server is the one in KUBECONFIG, or one started from KUBEBUILDER_ASSETS or target/control-plane.

use anyhow::{Context, Result, bail};
use control_plane::{Assets, ControlPlane, Settings};
use fidelity::{
    Program, Target,
    comparison::{Comparison, namespace},
    normal, probes, random,
    recorded::{self, Recording},
};
use std::{collections::BTreeSet, env, fs, path::PathBuf, process::ExitCode};

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let mut arguments = env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let (mut from, mut count, mut with_probes, mut whole) = (1, 200, false, false);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            arguments
                .next()
                .and_then(|it| it.parse().ok())
                .context("a number is missing")
        };
        match argument.as_str() {
            "--from" => from = number()?,
            "--count" => count = number()?,
            "--probes" => with_probes = true,
            "--whole" => whole = true,
            other => bail!("`{other}` is not known\n\nhint: --from SEED, --count N, --probes, --whole (do not shrink)"),
        }
    }
    let (real, _running) = real().await?;
    match command.as_str() {
        "record" => record(&real).await.map(|()| ExitCode::SUCCESS),
        "compare" => {
            let mut programs: Vec<Program> = (from..from + count).map(random::program).collect();
            if with_probes {
                programs.extend(probes()?.into_values().flatten());
            }
            differences(real, programs, whole).await
        }
        other => bail!("`{other}` is not known\n\nhint: record, compare"),
    }
}

async fn real() -> Result<(Target, Option<ControlPlane>)> {
    if let Some(kubeconfig) = env::var_os("KUBECONFIG").map(PathBuf::from) {
        return Ok((Target::of_kubeconfig(&kubeconfig).await?, None));
    }
    let plane = ControlPlane::start(&Assets::find()?, Settings::default()).await?;
    Ok((Target::of_kubeconfig(&plane.kubeconfig()).await?, Some(plane)))
}

async fn record(real: &Target) -> Result<()> {
    let run = fastrand::u32(..1 << 24);
    let mut at = 0;
    for (file, programs) in probes()? {
        let mut recordings = Vec::new();
        for program in programs {
            at += 1;
            let namespace = namespace(run, at);
            let answers = normal::form(&real.run(&program, &namespace).await?, &namespace);
            recordings.push(Recording { program, answers });
        }
        println!("{file}: {} programs", recordings.len());
        recorded::write(&file, &recordings)?;
    }
    Ok(())
}

/// The seeds whose differences the ledger explains: `seed 7`, one per line.
fn known() -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/known-seeds"))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

async fn differences(real: Target, programs: Vec<Program>, whole: bool) -> Result<ExitCode> {
    let comparison = Comparison {
        real,
        ours: Target::in_process(),
        known: known()?,
        whole,
    };
    Ok(match comparison.of(programs).await {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
