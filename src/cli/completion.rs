//! `kubewright completion`.

use super::session::project_path;
use super::{Cli, NoProject, report};
use crate::project::file;
use crate::write::Beneath;
use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::Shell;
use std::path::Path;

/// Flags of `completion`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "kubewright completion <SHELL>",
    after_help = "\
Examples:
  source <(kubewright completion bash)
  kubewright completion zsh > ~/.zfunc/_kubewright
  kubewright completion fish > ~/.config/fish/completions/kubewright.fish"
)]
pub struct Args {
    #[command(flatten)]
    _no: NoProject,
    /// The shell
    #[arg(required_unless_present = "kinds")]
    shell: Option<Shell>,
    /// Print the kinds of the project, for the scripts
    #[arg(long, hide = true, conflicts_with = "shell")]
    kinds: bool,
}

/// Stands for the kinds of the project in a script.
const KINDS: &str = "kinds-of-the-project";

/// The command that prints the kinds.
const PRINT: &str = "kubewright completion --kinds 2>/dev/null";

/// Prints a completion script, or the kinds of the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    match args.shell {
        Some(shell) => report::result(&script(shell)?),
        None => {
            // Without the lock: a command that asks something in another terminal would keep the shell waiting.
            let text = Beneath::open(dir)?
                .read(&project_path())?
                .context("there is no project")?;
            let project = file::parse(&String::from_utf8_lossy(&text))?;
            let kinds = project.kind_names(None).into_iter();
            report::result(&kinds.map(|kind| format!("{kind}\n")).collect::<String>())
        }
    }
}

fn script(shell: Shell) -> Result<String> {
    let mut script = Vec::new();
    let has_kinds = matches!(shell, Shell::Bash | Shell::Fish | Shell::Zsh);
    let mut command = hinted(Cli::command(), has_kinds);
    clap_complete::generate(shell, &mut command, "kubewright", &mut script);
    let script = String::from_utf8(script).context("the script is not text")?;
    Ok(match shell {
        Shell::Fish => script.replace(&format!("\"{KINDS}\\t''\""), &format!("\"({PRINT})\"")),
        Shell::Zsh => script.replace(&format!("({KINDS})"), &format!("{{compadd - $({PRINT})}}")),
        _ => script.replace(KINDS, &format!("$({PRINT})")),
    })
}

/// The command in which values that are no paths complete to no files, and `--kind` to a name that stands for the kinds.
fn hinted(command: Command, has_kinds: bool) -> Command {
    let hint = |arg: Arg| match arg.get_id().as_str() {
        "kind" if has_kinds => arg.value_parser(PossibleValuesParser::new([KINDS])),
        _ if arg.get_value_hint() == ValueHint::Unknown && arg.get_action().takes_values() => {
            arg.value_hint(ValueHint::Other)
        }
        _ => arg,
    };
    let command = command.mut_args(hint);
    command.mut_subcommands(|inner| hinted(inner, has_kinds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_complete_to_those_of_the_project() {
        for (shell, kinds) in [
            (Shell::Bash, format!("compgen -W \"$({PRINT})\"")),
            (Shell::Fish, format!("-l kind -d 'The kind' -r -f -a \"({PRINT})\"")),
            (Shell::Zsh, format!("KIND:{{compadd - $({PRINT})}}")),
        ] {
            let script = script(shell).unwrap();
            assert!(script.contains(&kinds), "{shell}: {script}");
            assert!(!script.contains(KINDS), "{shell}");
        }
        for shell in [Shell::Elvish, Shell::PowerShell] {
            assert!(!script(shell).unwrap().contains(KINDS), "{shell}");
        }
    }
}
