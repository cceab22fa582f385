//! The shared state of controllers: a flag, and a client created from it.

use clap::Args;
use kubewright_runtime::{Manager, Result};

use crate::bucket::Buckets;

// ANCHOR: app
/// Your flags, in addition to those of the runtime; `--help` lists both.
#[derive(Args)]
pub struct Flags {
    /// The URL of the bucket store
    #[arg(long, value_name = "URL", default_value = "https://buckets.example.com")]
    buckets_url: String,
}

/// Passed to each controller when it is registered: for clients of other systems, and for settings.
pub struct App {
    /// The store of buckets.
    pub buckets: Buckets,
}

impl App {
    /// Called once, before any controller runs.
    ///
    /// # Errors
    ///
    /// None in this example.
    pub async fn new(_manager: &Manager, flags: Flags) -> Result<Self> {
        Ok(Self {
            buckets: Buckets { url: flags.buckets_url },
        })
    }
}
// ANCHOR_END: app
