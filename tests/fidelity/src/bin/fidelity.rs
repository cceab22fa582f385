//! `fidelity record`: asks the real server the probes and keeps the answers in `recorded/`.
//! `fidelity compare [--from SEED] [--count N] [--probes]`: asks both servers, prints every difference, shrunk.
//! The real server is that of KUBECONFIG, or one that is started from KUBEBUILDER_ASSETS or target/control-plane.

use anyhow::{Context, Result, bail};
use control_plane::{Assets, ControlPlane, Settings};
use fidelity::{
    Program, Target,
    compare::compare,
    normal, probes, random,
    recorded::{self, Recording},
    shrink::shrink,
};
use futures::{StreamExt, stream};
use std::{collections::BTreeSet, env, fs, path::PathBuf, process::ExitCode};

/// Programs at a time: watches wait for a second, and two servers share the machine.
const AT_ONCE: usize = 8;

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
            differences(&real, programs, whole).await
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

/// A namespace that no other run on this server has.
fn namespace(run: u32, at: usize) -> String {
    format!("f{run:06x}-{at}")
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

/// The seeds whose difference the ledger explains: `seed 7`, a line each.
fn known() -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/known-seeds"))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

async fn differences(real: &Target, programs: Vec<Program>, whole: bool) -> Result<ExitCode> {
    let run = fastrand::u32(..1 << 24);
    let ours = Target::in_process();
    let total = programs.len();
    let known = known()?;
    let compared = stream::iter(programs.into_iter().enumerate()).map(|(at, program)| {
        let (real, ours, namespace) = (real.clone(), ours.clone(), namespace(run, at));
        async move { compare(&program, &real, &ours, &namespace).await }
    });
    let mut compared = compared.buffer_unordered(AT_ONCE);
    let mut found = 0;
    while let Some(outcome) = compared.next().await {
        let Some(difference) = outcome? else { continue };
        if known.contains(difference.program.name.split(':').next().unwrap_or_default()) {
            println!("{}: differs as the ledger says", difference.program.name);
            continue;
        }
        found += 1;
        let smallest = if whole {
            difference
        } else {
            shrink(difference, real, &ours, &namespace(run, total + found)).await?
        };
        println!("{smallest}");
    }
    println!("{total} programs, {found} differ");
    Ok(if found == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
