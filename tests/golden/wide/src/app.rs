//! What all controllers share: your own flags, and whatever is made once at start.

use clap::Args;
use kubewright_runtime::{Manager, Result};

/// Your flags, beside those of the runtime; `--help` lists both.
#[derive(Args)]
pub struct Flags {}

/// Given to each controller when it is registered: the place for clients of other systems, and for settings.
pub struct App {}

impl App {
    /// Called once, before any controller runs.
    pub async fn new(_manager: &Manager, _flags: Flags) -> Result<Self> {
        Ok(Self {})
    }
}
