//! The API server of the project's own `dev` program, as a child process that ends with the test.

use std::{
    env, io,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use crate::error::{Error, Result};

/// A running server, killed on drop.
pub(super) struct DevServer {
    child: Child,
    kubeconfig: PathBuf,
}

impl DevServer {
    /// Builds the program where it is not up to date, starts it, and waits until it is ready.
    pub(super) async fn start() -> Result<Self> {
        let started = tokio::task::spawn_blocking(|| {
            // Cargo would wait for itself: tests of one program run at the same time.
            static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
            let program = PROGRAM.get_or_init(build);
            program
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|program| spawn(program))
        });
        let started = started.await.map_err(|error| Error::Setup(error.to_string()))?;
        started.map_err(Error::Setup)
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

impl Drop for DevServer {
    fn drop(&mut self) {
        // It ends when its standard input does, and removes its files then. Waiting fails only when it is gone already.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// `target/debug/dev`, fresh. The whole workspace is built, because cargo then compiles the dependencies with the features
/// that they have already.
fn build() -> Result<PathBuf, String> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    if !root.join("dev/Cargo.toml").is_file() {
        return Err("no API server to test on: the project has no `dev` program\n\nhint: set KUBEBUILDER_ASSETS to a folder with \
                    `kube-apiserver` and `etcd`, or USE_EXISTING_CLUSTER=true to use the cluster of your kubeconfig"
            .to_owned());
    }
    let cannot = |error: io::Error| format!("cannot build the API server of `dev`: {error}");
    // target/debug/deps/<this program>
    let this = env::current_exe().map_err(cannot)?;
    let folder = this.ancestors().nth(2).unwrap_or(Path::new("")).to_owned();
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(other) => other,
    };
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--workspace", "--bins", "--profile", profile]);
    // What cargo tells this test of itself; build scripts that look at it (ring's does) would be run anew.
    for (name, _) in env::vars_os() {
        let told = name.to_string_lossy();
        if ["CARGO_MANIFEST_", "CARGO_PKG_"]
            .iter()
            .any(|prefix| told.starts_with(prefix))
        {
            command.env_remove(name);
        }
    }
    let output = command
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .map_err(cannot)?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the API server of `dev` does not compile:\n{errors}"));
    }
    Ok(folder.join(format!("dev{}", env::consts::EXE_SUFFIX)))
}

/// It prints the path of its kubeconfig once it is ready.
fn spawn(program: &Path) -> Result<DevServer, String> {
    let cannot = |error: io::Error| format!("cannot start `{}`: {error}", program.display());
    let mut command = Command::new(program);
    command
        .arg("--only-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut server = DevServer {
        child: command.spawn().map_err(cannot)?,
        kubeconfig: PathBuf::new(),
    };
    let mut line = String::new();
    if let Some(output) = server.child.stdout.take() {
        BufReader::new(output).read_line(&mut line).map_err(cannot)?;
    }
    if line.trim().is_empty() {
        return Err(format!("`{}` ended before it was ready; see above", program.display()));
    }
    server.kubeconfig = PathBuf::from(line.trim());
    Ok(server)
}
