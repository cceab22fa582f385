//! Output of programs, a line for each request: bodies in Protobuf that kubectl sends, which a script reads from its log, arbitrary
//! objects that Go's types write, and decisions of the autoscaler.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use control_plane::{Assets, root};
use serde_json::{Value, json};

use super::{Real, go, line_of};

/// A line for each command.
pub(super) async fn kubectl(real: &Real) -> Result<String> {
    let mut script = Command::new(root().join("tests/fidelity/kubectl/protobuf"));
    script.arg(&real.kubeconfig).env("KUBECTL", Assets::find()?.kubectl());
    let output = tokio::task::spawn_blocking(move || script.output()).await??;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "kubectl/protobuf: {said}");
    let line = |line: &str| {
        let [command, path, body, object] = *line.split('\t').collect::<Vec<_>>() else {
            bail!("kubectl/protobuf: {line}")
        };
        let mut answered = json!({"path": path, "protobuf": body});
        // A review has none.
        if object != "-" {
            answered["json"] = serde_json::from_str(object)?;
        }
        line_of(command, answered)
    };
    lines(&output.stdout, line)
}

/// The lines of a program's output, each in the form of recordings.
fn lines(output: &[u8], line: impl Fn(&str) -> Result<String>) -> Result<String> {
    let lines = str::from_utf8(output)?.lines();
    Ok(lines.map(line).collect::<Result<Vec<_>>>()?.join("\n"))
}

/// Objects of every kind whose shape is recorded, in both encodings.
pub(super) async fn forms() -> Result<String> {
    let shapes = std::fs::read_to_string(root().join("scaffolds/apiserver/src/kinds/shapes.txt"))?;
    let kinds = shapes
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("k="))
        .map(|kind| kind.trim_start_matches('/'));
    let line = |line: &str| {
        let [kind, body, object] = *line.split('\t').collect::<Vec<_>>() else {
            bail!("forms: {line}")
        };
        let object: Value = serde_json::from_str(object)?;
        line_of(kind, json!({"protobuf": body, "json": object}))
    };
    lines(&go::run_with("forms", kinds).await?, line)
}

/// Autoscalers, and for each step their sizes and reasons.
pub(super) async fn autoscalers() -> Result<String> {
    let line = |line: &str| {
        let mut recorded: Value = serde_json::from_str(line)?;
        let mut answered = Vec::new();
        for step in recorded["steps"].as_array_mut().context("no steps")? {
            let step = step.as_array_mut().context("a step is no list")?;
            answered.push(step.split_off(2));
        }
        line_of(recorded, answered)
    };
    lines(&go::run("autoscalers").await?, line)
}
