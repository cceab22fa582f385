//! The operator as a child process.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

use tokio::time::sleep;

use super::NAMESPACE;

/// The interval at which the operator's process is polled.
const PERIOD: Duration = Duration::from_millis(50);

/// The operator's program, and its last flags.
pub(super) struct Program {
    pub path: PathBuf,
    pub flags: Vec<String>,
}

/// A running operator, killed on drop.
pub(super) struct Operator {
    child: Child,
}

impl Operator {
    /// Starts the program on the cluster of `kubeconfig`, and for one namespace only if its role applies to no other.
    /// It inherits the standard output and error.
    pub(super) fn start(program: Program, kubeconfig: &Path, is_namespaced: bool) -> Result<Self, String> {
        let Program { path, flags } = program;
        let mut command = Command::new(&path);
        command.arg("--kubeconfig").arg(kubeconfig);
        // Another operator, for example of `make run`, may use the default port.
        command.arg("--health-probe-bind-address=0");
        // Last, because the last occurrence of a flag wins.
        command.args(flags).env("POD_NAMESPACE", NAMESPACE).stdin(Stdio::null());
        // The operator names objects that its caches do not contain.
        command.env("KUBEWRIGHT_DEVELOPMENT", "1");
        if is_namespaced {
            command.env("WATCH_NAMESPACE", NAMESPACE);
        }
        let child = command.spawn().map_err(|error| {
            let name = path.display();
            match error.kind() {
                io::ErrorKind::NotFound => format!("`{name}` is not there\n\nhint: `make dev` builds it first"),
                _ => format!("cannot run `{name}`: {error}"),
            }
        })?;
        Ok(Self { child })
    }

    /// Waits until the operator exits, and returns its exit code. On Ctrl-C the terminal also signals the operator,
    /// which drains; the server runs until it has finished.
    pub(super) async fn ended(&mut self) -> ExitCode {
        let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
        let mut heard = false;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let code = status.code().and_then(|code| u8::try_from(code).ok());
                    return ExitCode::from(code.unwrap_or(1));
                }
                Err(_) => return ExitCode::FAILURE,
                Ok(None) => {}
            }
            tokio::select! {
                _ = &mut interrupted, if !heard => heard = true,
                () = sleep(PERIOD) => {}
            }
        }
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // Both fail only if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
