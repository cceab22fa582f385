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
    /// Builds the program if necessary, starts it, with the controllers of workloads if asked for, and waits until it is
    /// ready.
    pub(super) async fn start(workloads: bool) -> Result<Self> {
        let started = tokio::task::spawn_blocking(move || {
            // Built once: tests of one program run at the same time, and two cargo processes would wait for each other.
            static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
            let program = PROGRAM.get_or_init(build);
            program
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|program| spawn(program, workloads))
        });
        let started = started.await.map_err(|error| Error::Setup(error.to_string()))?;
        started.map_err(Error::Setup)
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The file with the messages of all requests that were refused, one a line.
    pub(super) fn refusals(&self) -> PathBuf {
        self.kubeconfig.with_file_name("refusals")
    }
}

impl Drop for DevServer {
    fn drop(&mut self) {
        // It ends when its standard input ends, and removes its files. Waiting fails only if it has ended already.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The program `dev`, built if necessary, and no other: cargo would build the operator once more, without the features of
/// its tests. With the whole workspace, it uses dependencies with the features that are compiled already. The program's
/// path is in cargo's messages: it cannot be derived from this test's path if `build.build-dir` is set.
fn build() -> Result<PathBuf, String> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    if !root.join("dev/Cargo.toml").is_file() {
        return Err("no API server to test on: the project has no `dev` program\n\nhint: set KUBEBUILDER_ASSETS to a folder with \
                    `kube-apiserver` and `etcd`, or USE_EXISTING_CLUSTER=true to use the cluster of your kubeconfig"
            .to_owned());
    }
    let cannot = |error: io::Error| format!("cannot build the API server of `dev`: {error}");
    let profile = profile(&env::current_exe().map_err(cannot)?);
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--workspace", "--bin", "dev", "--profile", &profile]);
    command.arg("--message-format=json-render-diagnostics");
    // Cargo sets these variables for this test; build scripts that depend on them (ring's does) would run again.
    for (name, _) in env::vars_os() {
        let variable = name.to_string_lossy();
        if ["CARGO_MANIFEST_", "CARGO_PKG_"]
            .iter()
            .any(|prefix| variable.starts_with(prefix))
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
    executable(&output.stdout).ok_or_else(|| "cargo built no program `dev`".to_owned())
}

/// The profile that a test was built with. Its file is `<target or build folder>/<profile>/deps/<name>`.
fn profile(test: &Path) -> String {
    let folder = test.ancestors().nth(2).and_then(Path::file_name);
    match folder.and_then(|name| name.to_str()) {
        Some("debug") | None => "dev".to_owned(),
        Some(other) => other.to_owned(),
    }
}

/// The path of the program `dev`, from cargo's messages: one JSON object per line.
fn executable(messages: &[u8]) -> Option<PathBuf> {
    let messages = messages.split(|byte| *byte == b'\n');
    let mut messages = messages.filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    messages.find_map(|message| {
        let is_dev = message["target"]["name"] == "dev" && message["target"]["kind"][0] == "bin";
        message["executable"].as_str().filter(|_| is_dev).map(PathBuf::from)
    })
}

/// The program prints the path of its kubeconfig once it is ready.
fn spawn(program: &Path, workloads: bool) -> Result<DevServer, String> {
    let cannot = |error: io::Error| format!("cannot start `{}`: {error}", program.display());
    let mut command = Command::new(program);
    command
        .arg("--only-server")
        .args(workloads.then_some("--workloads"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_in_cargos_messages_and_has_the_profile_of_the_test() {
        let messages = br#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"dev"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"operator"},"executable":"/t/debug/operator"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"dev"},"executable":"/t/debug/dev"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(executable(messages), Some(PathBuf::from("/t/debug/dev")));
        assert_eq!(executable(b"error: no such thing\n"), None);
        assert_eq!(profile(Path::new("/t/debug/deps/foobar-0123")), "dev");
        assert_eq!(profile(Path::new("/t/release/deps/foobar-0123")), "release");
    }
}
