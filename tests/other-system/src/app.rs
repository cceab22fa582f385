//! The shared state of all controllers: your own flags, and values that are created once at start.

use clap::Args;
use kubewright_runtime::{Manager, Result};

use crate::dns::Dns;

/// Your flags, in addition to those of the runtime; `--help` lists both.
#[derive(Args)]
pub struct Flags {
    /// The URL of the DNS service
    #[arg(long, default_value = "http://localhost:8053")]
    pub dns_url: String,
}

/// Clients of other systems, and settings. Each controller gets the `App` when it is registered.
pub struct App {
    /// The DNS service.
    pub dns: Dns,
}

impl App {
    /// Runs once, before any controller.
    pub async fn new(_manager: &Manager, flags: Flags) -> Result<Self> {
        let dns = Dns::at(&flags.dns_url)?;
        Ok(Self { dns })
    }
}
