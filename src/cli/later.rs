//! Commands that are not implemented yet: each says so, and names an alternative.

use anyhow::{Result, bail};

/// Any arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<String>,
}

/// `create webhook`.
pub fn webhook() -> Result<()> {
    bail!(
        "`create webhook` is not built yet\n\nhint: validate with the schema and its rules on the type; see `kubewright create api --help`"
    )
}
