//! `kubewright completion`.

use super::{Cli, report};
use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

/// Flags of `completion`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  source <(kubewright completion bash)
  kubewright completion zsh > ~/.zfunc/_kubewright
  kubewright completion fish > ~/.config/fish/completions/kubewright.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints a completion script.
pub fn run(args: Args) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "kubewright", &mut script);
    report::result(&String::from_utf8(script)?);
    Ok(())
}
