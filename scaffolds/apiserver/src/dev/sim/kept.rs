//! Failures that are kept in the project, one line each: the seed, the kind if not all samples take part, the faults, and the rule that was broken. `make test` runs
//! them again.

use std::{fs, io::ErrorKind, path::Path};

use super::{fault::Schedule, report::FailedRun};

/// The file, below the project's folder.
pub(super) const FILE: &str = "dev/sim.kept";
const HEAD: &str = "\
# Failures that `make sim SIM_SAVE=1` kept: a seed, a kind, and faults. `make test` runs them again; delete the lines that are no longer of use.
";

/// A failure that was kept.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct KeptFailure {
    pub seed: u64,
    /// The kind of the samples; all samples without one.
    pub kind: Option<String>,
    pub schedule: Schedule,
}

/// The failures in this folder's file; none without the file.
///
/// # Errors
/// A line is invalid, or the file cannot be read.
pub(super) fn read(folder: &Path) -> Result<Vec<KeptFailure>, String> {
    failures(&text(folder)?)
}

/// The text of this folder's file; only its head without the file.
fn text(folder: &Path) -> Result<String, String> {
    match fs::read_to_string(folder.join(FILE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(HEAD.to_owned()),
        text => text.map_err(|error| format!("cannot read `{FILE}`: {error}")),
    }
}

fn failures(text: &str) -> Result<Vec<KeptFailure>, String> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(kept).collect()
}

fn kept(line: &str) -> Result<KeptFailure, String> {
    let words: Vec<_> = line.split_whitespace().collect();
    let (seed, kind, faults) = match words[..] {
        [seed, faults] => (seed, None, faults),
        [seed, kind, faults] => (seed, Some(kind.to_owned()), faults),
        _ => return Err(format!("`{line}` in `{FILE}` is not a seed, a kind and faults")),
    };
    let seed = seed
        .parse()
        .map_err(|_| format!("`{seed}` in `{FILE}` is not a seed"))?;
    let schedule = faults.parse().map_err(|error| format!("{error} (in `{FILE}`)"))?;
    Ok(KeptFailure { seed, kind, schedule })
}

/// Adds a failure to this folder's file, unless it is there.
///
/// # Errors
/// The file cannot be read or written.
pub(super) fn keep(folder: &Path, failure: &FailedRun) -> Result<(), String> {
    let mut text = text(folder)?;
    let kept = KeptFailure {
        seed: failure.seed,
        kind: failure.kind.clone(),
        schedule: failure.schedule.clone(),
    };
    if failures(&text)?.contains(&kept) {
        return Ok(());
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let kind = kept.kind.map(|kind| format!("{kind} ")).unwrap_or_default();
    text += &format!(
        "{} {kind}{} # {}\n",
        failure.seed, failure.schedule, failure.finding.oracle
    );
    fs::write(folder.join(FILE), text).map_err(|error| format!("cannot write `{FILE}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dev::sim::oracle::{Finding, Oracle};

    #[test]
    fn a_failure_is_kept_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("dev")).unwrap();
        assert_eq!(read(folder.path()).unwrap(), []);
        let finding = Finding {
            oracle: Oracle::State,
            phase: 0,
            lines: Vec::new(),
        };
        let mut failure = FailedRun {
            seed: 7,
            kind: None,
            schedule: "w1:500+p2:events-late".parse().unwrap(),
            finding,
            steps: Vec::new(),
        };
        for _ in 0..2 {
            keep(folder.path(), &failure).unwrap();
        }
        failure.kind = Some("FooBar".to_owned());
        keep(folder.path(), &failure).unwrap();
        let kept = |kind| KeptFailure {
            seed: 7,
            kind,
            schedule: failure.schedule.clone(),
        };
        let both = [None, failure.kind.clone()].map(kept);
        assert_eq!(read(folder.path()).unwrap(), both);
        for wrong in ["7", "x w1:500", "7 w1:501", "7 FooBar w1:500 w2:500"] {
            fs::write(folder.path().join(FILE), wrong).unwrap();
            assert!(read(folder.path()).unwrap_err().contains(FILE), "{wrong}");
        }
    }
}
