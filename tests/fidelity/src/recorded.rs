//! The real server's answers to the probes, for machines without Go: `recorded/<file>.json`, in comparable form.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::{fs, path::PathBuf};

use crate::{Answer, Program};

/// A probe with the answers of kube-apiserver.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Recording {
    /// The probe as it was recorded: if it changes, it must be recorded again.
    pub program: Program,
    /// One answer for each step, in the form of [`crate::normal::form`].
    pub answers: Vec<Answer>,
}

/// The path of the recordings for a file of probes.
pub fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("recorded")
        .join(format!("{file}.json"))
}

/// Reads the recordings for a file of probes.
///
/// # Errors
/// Names the command that records them.
pub fn read(file: &str) -> Result<Vec<Recording>> {
    let path = path(file);
    let hint = "record the real answers: `cargo run -p fidelity -- record`";
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read `{}`\n\nhint: {hint}", path.display()))?;
    text.lines()
        .map(|line| {
            serde_json::from_str(line).with_context(|| format!("`{}` is broken\n\nhint: {hint}", path.display()))
        })
        .collect()
}

/// Writes the recordings, one per line, so that a diff shows which probes have new answers.
///
/// # Errors
/// When the file cannot be written.
pub fn write(file: &str, recordings: &[Recording]) -> Result<()> {
    let lines: Result<Vec<_>, _> = recordings.iter().map(serde_json::to_string).collect();
    let path = path(file);
    fs::create_dir_all(path.parent().context("the folder of recordings")?)?;
    Ok(fs::write(path, lines?.join("\n") + "\n")?)
}
