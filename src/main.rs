//! The `kubewright` binary: parse, run, report, exit.

use clap::Parser;
use kubewright::cli::{Cli, envtest::Role, report};
use std::env;
use std::path::Path;
use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let role = arguments.next().and_then(|first| Role::called(Path::new(&first)));
    let done = match role {
        Some(role) => role.run(arguments.map(|it| it.to_string_lossy().into_owned()).collect()),
        None => match Cli::try_parse() {
            Ok(cli) => kubewright::run(cli),
            Err(answer) => return report::parsed(&answer),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::failure(&error),
    }
}
