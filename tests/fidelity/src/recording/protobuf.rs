//! Bodies in Protobuf: those that kubectl sends, which a script reads from its log, and arbitrary objects that Go's types
//! write.

use std::process::Command;

use anyhow::{Result, ensure};
use control_plane::{Assets, root};

use super::{Real, go};

/// A line for each command.
pub(super) async fn text(real: &Real) -> Result<String> {
    let mut script = Command::new(root().join("tests/fidelity/kubectl/protobuf"));
    script.arg(&real.kubeconfig).env("KUBECTL", Assets::find()?.kubectl());
    let output = tokio::task::spawn_blocking(move || script.output()).await??;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "kubectl/protobuf: {said}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Objects of every kind whose shape is recorded, in both encodings.
pub(super) async fn forms() -> Result<String> {
    let shapes = std::fs::read_to_string(root().join("scaffolds/apiserver/src/kinds/shapes.txt"))?;
    let kinds = shapes
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("k="))
        .map(|kind| kind.trim_start_matches('/'));
    Ok(String::from_utf8(go::run_with("forms", kinds).await?)?)
}
