//! Commands that are not implemented yet: each says so, and names an alternative.

use crate::project::file;
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

/// `upgrade`.
pub fn upgrade() -> Result<()> {
    bail!(
        "`upgrade` is not built yet\n\n\
         hint: this kubewright is {0}; a project of another release works on with `{1}`",
        env!("CARGO_PKG_VERSION"),
        file::install("<its version>")
    )
}
