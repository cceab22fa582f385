//! The bodies that kubectl sends in Protobuf. A script reads them from its log.

use std::process::Command;

use anyhow::{Result, ensure};
use control_plane::{Assets, root};

use super::Real;

/// A line for each command.
pub(super) async fn text(real: &Real) -> Result<String> {
    let mut script = Command::new(root().join("tests/fidelity/kubectl/protobuf"));
    script.arg(&real.kubeconfig).env("KUBECTL", Assets::find()?.kubectl());
    let output = tokio::task::spawn_blocking(move || script.output()).await??;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "kubectl/protobuf: {said}");
    Ok(String::from_utf8(output.stdout)?)
}
