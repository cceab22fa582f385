//! Compares a new recording with the committed one, and writes only the lines that differ.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
};

use anyhow::Result;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::{Lines, Pick, Real, Recorder, Recording};
use crate::normal;

/// The number of differences of a line before it is reported: some parts of answers are in the random order of a Go map.
const TIMES: usize = 3;

/// The differences between a recording and the server's answers now.
pub struct Differences {
    /// The lines that are committed.
    pub lines: Vec<String>,
    /// The positions of committed lines that the server no longer answers so, and of lines that are new.
    pub different: Vec<usize>,
    /// A unified diff of them; empty if there are none.
    pub text: String,
}

/// The differences between the server's answers now and the committed ones; `None` if a program is missing that the recorder
/// needs.
///
/// # Errors
/// When the server cannot be asked, or the recording not be read.
pub async fn differences(recording: &Recording, real: &Real, pick: &Pick<'_>) -> Result<Option<Differences>> {
    let committed = recording.committed()?;
    if !recording.recorder.is_sampled() {
        let Some(now) = recording.recorder.lines(real, pick).await? else {
            return Ok(None);
        };
        let [was, is]: [Vec<String>; 2] = [
            committed.iter().map(|line| normal::line(line)).collect(),
            now.values().map(|line| normal::line(line)).collect(),
        ];
        let changes = TextDiff::from_slices(
            &was.iter().map(String::as_str).collect::<Vec<_>>(),
            &is.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let changed = changes.iter_all_changes();
        let changed = changed.filter_map(|change| match change.tag() {
            ChangeTag::Equal => None,
            ChangeTag::Delete => change.old_index(),
            ChangeTag::Insert => change.new_index(),
        });
        return Ok(Some(Differences {
            different: changed.collect::<BTreeSet<_>>().into_iter().collect(),
            text: diff(&was.join("\n"), &is.join("\n")),
            lines: committed,
        }));
    }
    let Some(mut now) = recording.recorder.lines(real, pick).await? else {
        return Ok(None);
    };
    let all = matches!(pick, Pick::All).then_some(committed.len()).unwrap_or_default();
    let mut different = differing(&committed, &now, (0..all).chain(now.keys().copied()).collect());
    for _ in 1..TIMES {
        if different.is_empty() {
            break;
        }
        now = recording
            .recorder
            .lines(real, &Pick::These(&different))
            .await?
            .unwrap_or_default();
        different = differing(&committed, &now, different.into_iter().collect());
    }
    Ok(Some(Differences {
        text: shown(&committed, &now, &different),
        lines: committed,
        different,
    }))
}

/// The positions of lines that differ.
fn differing(committed: &[String], now: &Lines, positions: BTreeSet<usize>) -> Vec<usize> {
    let form = |line: Option<&String>| line.map(|line| normal::line(line));
    let is_other = |position: &usize| form(committed.get(*position)) != form(now.get(position));
    positions.into_iter().filter(is_other).collect()
}

fn shown(committed: &[String], now: &Lines, positions: &[usize]) -> String {
    let one = |position: &usize| {
        let was = committed.get(*position).map(String::as_str).unwrap_or_default();
        let is = now.get(position).map(String::as_str).unwrap_or_default();
        format!("line {}\n{}", position + 1, diff(&pretty(was), &pretty(is)))
    };
    positions.iter().map(one).collect()
}

/// A line in its comparable form; JSON is indented.
fn pretty(line: &str) -> String {
    let line = normal::line(line);
    let value = serde_json::from_str::<Value>(&line);
    value
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or(line)
}

fn diff(was: &str, is: &str) -> String {
    let diff = TextDiff::from_lines(was, is);
    diff.unified_diff()
        .context_radius(4)
        .header("committed", "recorded now")
        .to_string()
}

/// Records the file anew. Lines with requests and answers stay as they are if their comparable form is the same. Returns whether
/// anything changed, or `None` if a program is missing that the recorder needs.
///
/// # Errors
/// When the server cannot be asked, or the file not be written.
pub async fn write(recording: &Recording, real: &Real) -> Result<Option<bool>> {
    let Some(now) = recording.recorder.lines(real, &Pick::All).await? else {
        return Ok(None);
    };
    let before = fs::read_to_string(recording.path()).unwrap_or_default();
    let kept: HashMap<String, &str> = before.lines().map(|line| (normal::line(line), line)).collect();
    // The requests of other recordings contain what the server has given before.
    let is_verbatim = matches!(recording.recorder, Recorder::Probes(_));
    let keep = |line: &'_ String| match recording.recorder.is_sampled() {
        true => kept
            .get(&normal::line(line))
            .filter(|kept| !is_verbatim || asked(kept) == asked(line))
            .map_or_else(|| line.clone(), |kept| (*kept).to_owned()),
        false => line.clone(),
    };
    let text: String = now.values().map(|line| keep(line) + "\n").collect();
    if text != before {
        fs::write(recording.path(), &text)?;
    }
    Ok(Some(text != before))
}

/// The request of a line.
fn asked(line: &str) -> Option<Value> {
    let mut line: Value = serde_json::from_str(line).ok()?;
    Some(line["asked"].take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_differs_if_it_says_something_else_or_is_missing() {
        let line = |code: u16, time: &str| format!(r#"{{"code":{code},"time":"{time}"}}"#);
        let committed = [line(200, "2026-01-02T03:04:05Z"), line(200, "2026-01-02T03:04:05Z")];
        let now = |second| Lines::from([(0, line(200, "2026-11-12T13:14:15Z")), (1, second)]);
        let differing = |now: &Lines, count| differing(&committed, now, (0..count).collect());
        assert!(differing(&now(line(200, "2027-01-02T03:04:05Z")), 2).is_empty());
        assert_eq!(differing(&now(line(404, "2026-01-02T03:04:05Z")), 2), [1]);
        assert_eq!(differing(&Lines::new(), 2), [0, 1]);
        assert!(shown(&committed, &now(line(404, "2026-01-02T03:04:05Z")), &[1]).contains("+  \"code\": 404"));
    }
}
