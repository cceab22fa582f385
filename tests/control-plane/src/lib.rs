//! A real Kubernetes control plane on loopback, and utilities for tests and benchmarks of operators.
//!
//! The programs come from the folder `KUBEBUILDER_ASSETS`, or from `target/control-plane`, where
//! `tests/control-plane/build` writes them. All started programs end with the process that started them, even if it is
//! killed.

mod assets;
mod audit;
mod credentials;
pub mod foobar;
mod guardian;
mod namespace;
mod operator;
mod plane;
mod program;
mod project;
mod proxy;
mod stored;

pub use assets::Assets;
pub use audit::{Audit, Mark, Request};
pub use namespace::make_namespace;
pub use operator::{Operator, Usage, free_ports, get};
pub use plane::{ControlPlane, Settings};
pub use project::{Api, Project, root, run};
pub use proxy::{Fault, IDLE, Proxy};
pub use stored::Stored;

use std::{io::Write, time::Duration};

use anyhow::{Result, bail};
use tokio::time::{Instant, sleep};

/// Prints a line even while a test passes: the test harness captures the output of `println` and `eprintln`.
pub fn say(line: &str) {
    _ = writeln!(std::io::stderr(), "{line}");
}

/// The interval between two calls of [`eventually`]'s function.
const PERIOD: Duration = Duration::from_millis(50);

/// Calls `look` every 50 ms until it returns a value, and returns that. An error of `look` does not end the wait.
///
/// # Errors
///
/// When `patience` is over: with `what` and the last error of `look`.
pub async fn eventually<T>(
    what: &str,
    patience: Duration,
    mut look: impl AsyncFnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        let last = match look().await {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => String::new(),
            Err(error) => format!("; last: {error:#}"),
        };
        if Instant::now() >= deadline {
            bail!("waited {} s in vain for {what}{last}", patience.as_secs());
        }
        sleep(PERIOD).await;
    }
}
