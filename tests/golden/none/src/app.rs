//! The shared state of all controllers: your own flags, and values that are created once at start.

use clap::Args;
use kubewright_runtime::{Manager, Result};

/// Your flags, in addition to those of the runtime; `--help` lists both.
#[derive(Args)]
pub struct Flags {}

/// Clients of other systems, and settings. Each controller gets the `App` when it is registered.
pub struct App {}

impl App {
    /// Runs once, before any controller.
    pub async fn new(_manager: &Manager, _flags: Flags) -> Result<Self> {
        Ok(Self {})
    }
}
