//! The `kubewright` binary: parse, run, report, exit.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match kubewright::run(kubewright::cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => kubewright::cli::report::failure(&error),
    }
}
