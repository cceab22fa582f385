//! The command line: one file per command. Each parses its flags, changes the project, and writes the files.

mod apiserver;
mod ask;
mod cluster;
mod completion;
#[path = "../../scaffolds/runtime/src/connection/mod.rs"]
mod connection;
mod crates;
mod crd;
mod create_api;
mod create_webhook;
mod delete_api;
mod delete_webhook;
mod deployed;
mod doctor;
mod edit;
mod edit_controller;
mod eject;
pub mod envtest;
mod extensions;
mod external;
mod given;
mod host;
mod init;
mod kubebuilder;
mod pattern;
mod plan;
pub mod report;
mod session;
mod sync;
mod templates;
mod transition;
mod upgrade;
mod version;
mod webhook;

use crate::project::file;
use crate::write::around;
use anyhow::Result;
use ask::Usage;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The columns of a help at most.
const WIDTH: usize = 100;

/// Kubernetes operators in Rust: projects, kinds, controllers and their manifests
#[derive(Debug, Parser)]
#[command(name = "kubewright", version, max_term_width = WIDTH, arg_required_else_help = true)]
#[command(after_help = "Start with `kubewright init --domain example.com`, then `kubewright create api`.")]
pub struct Cli {
    /// The folder of the project [default: the nearest one]
    #[arg(long, global = true, value_name = "PATH")]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create an operator project
    Init(init::Args),
    /// Add a kind with its controller, or webhooks
    #[command(subcommand)]
    Create(Create),
    /// Delete a kind, a version of it, or webhooks
    #[command(subcommand)]
    Delete(Delete),
    /// Change the scope or the licence of the project, or the version of a controller
    Edit(edit::Args),
    /// Rewrite the managed files from PROJECT, for example after a merge
    Sync(sync::Args),
    /// List the files of the project, with their kinds and states
    Plan(plan::Args),
    /// Own a vendored crate: kubewright no longer checks or replaces it
    Eject(eject::Args),
    /// Run a Kubernetes API server on this machine, for development and tests
    Apiserver(apiserver::Args),
    /// Write `etcd` and `kube-apiserver` for envtest: copies of this program
    Envtest(envtest::Args),
    /// Check the toolchain, the project and the cluster
    Doctor(doctor::Args),
    /// Print the version
    Version(version::Args),
    /// Print a completion script for a shell
    Completion(completion::Args),
    /// Upgrade the project to this release
    Upgrade(upgrade::Args),
    #[command(hide = true)]
    Alpha(kubebuilder::Alpha),
}

/// `--dir` of a command without a project, which refuses it: its help leaves the option out.
#[derive(Debug, clap::Args)]
struct NoProject {
    #[arg(id = "dir", long = "dir", value_name = "PATH", hide = true)]
    _dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Create {
    /// Add a kind: its type, its controller, its sample and its tests
    Api(Box<create_api::Args>),
    /// Add webhooks of a kind: for admission, or for conversion between its versions
    Webhook(create_webhook::Args),
}

#[derive(Debug, Subcommand)]
enum Delete {
    /// Delete a kind, or one version of it
    Api(delete_api::Args),
    /// Delete webhooks of a kind
    Webhook(delete_webhook::Args),
}

/// The format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    #[default]
    Text,
    Json,
}

impl Command {
    /// The name of a command that works without a project, and the replacement of `--dir`.
    fn without_project(&self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Apiserver(_) => ("apiserver", "`--data-dir` names the folder of its objects"),
            Self::Envtest(_) => ("envtest", "`--bin-dir` names the folder to write"),
            Self::Version(_) => ("version", "leave it out"),
            Self::Completion(_) => ("completion", "leave it out"),
            _ => return None,
        })
    }
}

/// The current folder, or the nearest one around it that is a project's.
fn nearest() -> PathBuf {
    let around = std::env::current_dir().ok().and_then(|here| around(&here, file::NAME));
    around.unwrap_or_else(|| PathBuf::from("."))
}

/// Runs one command.
pub fn run(cli: Cli) -> Result<()> {
    let dir = &match (&cli.command, cli.dir) {
        (command, Some(_)) if let Some((name, instead)) = command.without_project() => {
            return Err(Usage::error(format!(
                "`--dir` has no effect on `{name}`, which has no project\n\nhint: {instead}"
            )));
        }
        (_, Some(dir)) => dir,
        (Command::Init(_), None) => PathBuf::from("."),
        (_, None) => nearest(),
    };
    match cli.command {
        Command::Init(args) => init::run(dir, args),
        Command::Create(Create::Api(args)) => create_api::run(dir, *args),
        Command::Create(Create::Webhook(args)) => create_webhook::run(dir, args),
        Command::Delete(Delete::Api(args)) => delete_api::run(dir, args),
        Command::Delete(Delete::Webhook(args)) => delete_webhook::run(dir, args),
        Command::Edit(args) => edit::run(dir, args),
        Command::Sync(args) => sync::run(dir, args),
        Command::Plan(args) => plan::run(dir, args),
        Command::Eject(args) => eject::run(dir, args),
        Command::Apiserver(args) => apiserver::run(args),
        Command::Envtest(args) => envtest::run(args),
        Command::Doctor(args) => doctor::run(dir, args),
        Command::Version(args) => version::run(args),
        Command::Completion(args) => completion::run(dir, args),
        Command::Upgrade(args) => upgrade::run(dir, args),
        Command::Alpha(args) => kubebuilder::alpha(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{Command, CommandFactory};

    /// The columns of a usual terminal; clap breaks longer lines in two.
    const TERMINAL: usize = 80;

    /// Lines of the texts below the options that are longer than a help may be, each with its command.
    fn too_long(command: &Command) -> Vec<String> {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = text.lines().filter(|line| line.chars().count() > TERMINAL);
        let own = lines.map(|line| format!("{}: {line}", command.get_name()));
        own.chain(command.get_subcommands().flat_map(too_long)).collect()
    }

    #[test]
    fn no_line_of_a_help_is_broken_in_two() {
        assert_eq!(too_long(&Cli::command()), Vec::<String>::new());
        let long = Command::new("long").after_help(format!("short\n{}", "x".repeat(TERMINAL + 1)));
        assert_eq!(too_long(&Command::new("all").subcommand(long)).len(), 1);
    }
}
