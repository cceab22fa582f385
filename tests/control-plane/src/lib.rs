//! A real Kubernetes control plane on loopback, and what tests and benchmarks of operators need around it.
//!
//! The programs come from the folder `KUBEBUILDER_ASSETS`, or from `target/control-plane`, where `tests/control-plane/build`
//! puts them. Nothing here outlives the process that started it, however that process ends.

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

pub use assets::Assets;
pub use audit::{Audit, Mark, Request};
pub use namespace::make_namespace;
pub use operator::{Operator, Usage, free_ports, get};
pub use plane::{ControlPlane, Settings};
pub use project::{Api, Project, root, run};
pub use proxy::{Fault, Proxy};

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::{Instant, sleep};

/// How often [`eventually`] looks.
const PERIOD: Duration = Duration::from_millis(50);

/// Looks every 50 ms until `look` finds something, and returns it. An error of `look` is no reason to stop looking.
///
/// # Errors
///
/// When `patience` is over: names `what` it waited for, and what `look` said last.
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
