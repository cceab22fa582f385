//! `make dev`: runs the operator on an API server in this process, which kubectl can use too. `make test` uses the same server.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubewright_apiserver::dev::run("foobar-operator")
}
