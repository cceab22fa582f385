//! The real server's answers to the probes, for machines without a real server: `recorded/<file>.jsonl`, a line for each probe.

use anyhow::{Context, Result};
use control_plane::Settings;
use futures::{StreamExt, TryStreamExt, stream};
use recordings::Exchange;

use super::{Lines, Pick, Real, Recorder, Recording, line_of};
use crate::{Answer, Program, comparison::namespace, normal, probes};

/// Programs at a time: watches wait for a second.
const AT_ONCE: usize = 8;

/// A probe as recorded, and kube-apiserver's answer to each step, in the form of [`crate::normal::form`]; empty if it is not
/// compared. A changed probe must be recorded again.
pub type Recorded = Exchange<Program, Vec<Answer>>;

/// The recording of a file of probes.
pub(super) fn recording(file: &str) -> Recording {
    Recording {
        name: format!("probes/{file}"),
        file: format!("tests/fidelity/recorded/{file}.jsonl"),
        recorder: Recorder::Probes(file.to_owned()),
    }
}

/// Reads the recordings of a file of probes.
///
/// # Errors
/// If there is no such file; the message has the command that records it.
pub fn read(file: &str) -> Result<Vec<Recorded>> {
    Ok(recordings::read(&recording(file).committed()?.join("\n")))
}

/// A line for each probe, so that a diff shows which answers changed.
pub(super) async fn lines(real: &Real, file: &str, pick: &Pick<'_>) -> Result<Lines> {
    let programs = probes()?.remove(file).context("no such probes")?;
    let run = fastrand::u32(..1 << 24);
    let at_once = match programs.iter().any(Program::sets_defaults) {
        true => 1,
        false => AT_ONCE,
    };
    // Policies with parameters need a new server, and all of them before the first one is deleted.
    let own = match programs.iter().any(Program::has_parameters) {
        true => Some(Real::with(Settings::default()).await?),
        false => None,
    };
    let target = &own.as_ref().unwrap_or(real).target;
    let mut positions = pick.of(programs.len());
    positions.sort_by_key(|position| !programs[*position].has_parameters());
    let asked = positions.into_iter().map(|position| {
        let program = programs[position].clone();
        async move {
            let namespace = namespace(run, position);
            let answers = target.run(&program, &namespace).await?;
            let mut answers = normal::form(&program, &answers, &namespace);
            for (answer, step) in answers.iter_mut().zip(&program.steps) {
                if step.unlike.is_some() {
                    *answer = Answer::default();
                }
            }
            anyhow::Ok((position, line_of(program, answers)?))
        }
    });
    stream::iter(asked).buffer_unordered(at_once).try_collect().await
}
