//! Programs in Go that recorders ask: those of `tests/control-plane`, and controller-gen.

use std::{
    env,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Result, ensure};
use control_plane::root;
use tokio::process::Command;

/// The releases of what is compared.
const PEERS: &str = include_str!("../../../peers.env");

/// Whether Go is installed.
pub(super) async fn is_installed() -> bool {
    let mut go = Command::new("go");
    go.arg("version").stdout(Stdio::null()).stderr(Stdio::null());
    go.status().await.is_ok_and(|status| status.success())
}

/// The output of a program in `tests/control-plane`.
pub(super) async fn run(folder: &str) -> Result<Vec<u8>> {
    run_with(folder, []).await
}

/// The output of a program in `tests/control-plane` that has arguments.
pub(super) async fn run_with<'a>(folder: &str, arguments: impl IntoIterator<Item = &'a str>) -> Result<Vec<u8>> {
    let mut go = Command::new("go");
    // As `build` does, so that what it has compiled need not be compiled again.
    go.args(["run", "-trimpath"]).arg(format!("./{folder}")).args(arguments);
    go.env("CGO_ENABLED", "0")
        .current_dir(root().join("tests/control-plane"));
    output(go).await
}

/// controller-gen: the program that CONTROLLER_GEN names, or one that Go installs into `target`. `None` without both, or where
/// Go cannot download it.
pub(super) async fn controller_gen() -> Result<Option<PathBuf>> {
    if let Some(program) = env::var_os("CONTROLLER_GEN") {
        return Ok(Some(program.into()));
    }
    if !is_installed().await {
        return Ok(None);
    }
    let folder = root().join("target/controller-gen");
    let version = PEERS.lines().find_map(|line| line.strip_prefix("CONTROLLER_TOOLS="));
    let version = version.expect("the release of controller-gen in tests/peers.env");
    let mut go = Command::new("go");
    go.arg("install")
        .arg(format!("sigs.k8s.io/controller-tools/cmd/controller-gen@{version}"))
        .env("GOBIN", &folder);
    if let Err(error) = output(go).await {
        eprintln!("warning: controller-gen cannot be installed: {error:#}");
        return Ok(None);
    }
    Ok(Some(folder.join("controller-gen")))
}

/// Controller-gen's output for the Go sources of a folder.
pub(super) async fn generate(controller_gen: &Path, arguments: &[&str], folder: &Path) -> Result<Vec<u8>> {
    let mut command = Command::new(controller_gen);
    command.args(arguments).current_dir(folder);
    output(command).await
}

async fn output(mut command: Command) -> Result<Vec<u8>> {
    let output = command.output().await?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {error}");
    Ok(output.stdout)
}
