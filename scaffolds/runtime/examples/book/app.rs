//! What controllers share: a flag, and a client made from it.

use clap::Args;
use kubewright_runtime::{Manager, Result};

use crate::bucket::Buckets;

// ANCHOR: app
/// Your flags, beside those of the runtime; `--help` lists both.
#[derive(Args)]
pub struct Flags {
    /// Where the buckets are
    #[arg(long, value_name = "URL", default_value = "https://buckets.example.com")]
    buckets_url: String,
}

/// Given to each controller when it is registered: the place for clients of other systems, and for settings.
pub struct App {
    /// The store of buckets.
    pub buckets: Buckets,
}

impl App {
    /// Called once, before any controller runs.
    ///
    /// # Errors
    ///
    /// None here.
    pub async fn new(_manager: &Manager, flags: Flags) -> Result<Self> {
        Ok(Self {
            buckets: Buckets { url: flags.buckets_url },
        })
    }
}
// ANCHOR_END: app
