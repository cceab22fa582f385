//! The API server of the tests of `kit`, as projects have it.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubewright_apiserver::dev::run("kit")
}
