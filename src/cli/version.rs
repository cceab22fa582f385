//! `kubewright version`.

use super::{NoProject, Output, report};
use anyhow::Result;

/// Flags of `version`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    _no: NoProject,
    /// Output format
    #[arg(long, short, value_enum, default_value = "text")]
    output: Output,
}

/// Prints the version of this binary and the oldest Rust that builds its projects.
pub fn run(args: Args) -> Result<()> {
    let (version, rust) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_RUST_VERSION"));
    match args.output {
        Output::Text => report::result(&format!("kubewright {version}\n")),
        Output::Json => report::result(&format!(
            "{}\n",
            serde_json::json!({ "version": version, "rust": rust })
        )),
    }
}
